"""Where the reader process puts what it has read: memory that both processes hold, and that outlives either."""

from __future__ import annotations

import os
import tempfile


class Spool:
    """A file without a name that one process appends to and another looks into.

    Unlike a pipe it wakes nobody for each page, and what was written before a process dies is all there.
    """

    def __init__(self) -> None:
        """Make it, empty: in memory where the system can, or else in the folder for temporary files."""
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("nclue-build pages")
        else:
            self.descriptor, path = tempfile.mkstemp()
            os.unlink(path)  # noqa: PTH108 - a path is made of it nowhere else

    def size(self) -> int:
        """How much was written, in bytes."""
        return os.fstat(self.descriptor).st_size

    def lines(self) -> list[bytes]:
        """The whole lines, without their ends; what a process was at when it died is left out."""
        data = b""
        while chunk := os.pread(self.descriptor, self.size() - len(data), len(data)):
            data += chunk
        return data.split(b"\n")[:-1]

    def clear(self) -> None:
        """Forget all; only while nobody writes."""
        os.ftruncate(self.descriptor, 0)
        os.lseek(self.descriptor, 0, os.SEEK_SET)  # the place to write at is shared

    def close(self) -> None:
        """Give the memory back."""
        os.close(self.descriptor)
