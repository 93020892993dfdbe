"""What is kept beside an output that another program was run for."""

from __future__ import annotations

from nclue_build.records.base import Record, Sha256


class MadeOutput(Record):
    """``.made.json`` in the folder of a document's output: what it was made from, and by what.

    An output is as asked for while the PDF's digest, the arguments and the files are these; the version is for people.
    """

    pdf_sha256: Sha256
    program: str
    version: str
    arguments: tuple[str, ...]
    files: dict[str, Sha256]
