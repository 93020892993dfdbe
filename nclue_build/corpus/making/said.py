"""What a program said, as the one line that a message has room for."""

from __future__ import annotations

import re
from typing import Final

from nclue_build.core.printable import without_controls

_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_STAMP: Final = re.compile(r"^\W*\d{4}-\d\d-\d\d[ T][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?[\s|\]]*")
_PROGRESS: Final = re.compile(r"\d+%\s*\||\bit/s\b|\bs/it\b")
_ERROR: Final = re.compile(r"\b(?:error|failed|exception|cannot|critical|traceback)\b|Error\b", re.IGNORECASE)
_FRAME: Final = re.compile(r'^\s*(?:File ".*", line \d+|Traceback \(most recent call last\)|[\^~\s]+$)')
_MAX_LENGTH: Final = 300


def last_line(said: str, *folders: str) -> str:
    """The last line that tells of an error, else the last that tells anything; empty when there is none.

    Args:
        said: The end of what a program wrote.
        folders: Folders whose names are left out, for they differ from run to run.
    """
    for folder in folders:
        said = said.replace(f"{folder}/", "")
    lines = [_STAMP.sub("", without_controls(line)).strip() for line in re.split(r"[\r\n]+", _COLOUR.sub("", said))]
    telling = [line for line in lines if any(map(str.isalnum, line)) and not _PROGRESS.search(line)]
    telling = [line for line in telling if not _FRAME.match(line)]
    errors = [line for line in telling if _ERROR.search(line)]
    line = (errors or telling or [""])[-1].replace("\ufffd", "?")
    return line if len(line) <= _MAX_LENGTH else line[: _MAX_LENGTH - 3] + "..."
