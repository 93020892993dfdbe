"""Contents pages and lists of figures: what points at text instead of being text.

Decided line by line, because contents pages can hold body text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.headings import MAX_HEADING, may_have_heading
from nclue_build.corpus.segments import Segment, same_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.corpus.lines import Line

_LISTABLE: Final = (
    "figures", "tables", "exhibits", "appendices", "appendixes", "illustrations",
    "charts", "boxes", "maps", "algorithms",
)  # fmt: skip
_LISTED: Final = rf"\s+of\s+(?:{'|'.join(_LISTABLE)})(?:\s+and\s+(?:figures|tables))?"
_HEADINGS: Final = (
    r"table\s+of\s+contents",
    "contents",
    *(kind + _LISTED for kind in ("list", "table", "index")),
    "inhaltsverzeichnis",
    "sommaire",
    r"table\s+des\s+mati\u00e8res",
)
_CONTENTS: Final = re.compile(
    rf"(?:{'|'.join(_HEADINGS)})(?:\W*\(?(?:continued|cont[.'\u2019]?d?)\)?)?\W*(?:page)?",
    re.IGNORECASE,
)
_CONTENTS_STEMS: Final = (
    b"contents", b"inhalt", b"sommaire", b"tabledesmati", *(b"of" + listed.encode() for listed in _LISTABLE),
)  # fmt: skip
_ENDS_CONTENTS: Final = re.compile(
    r"(?:abbreviations|acronyms|abbreviations and acronyms|acronyms and abbreviations|glossary|foreword|preface)",
    re.IGNORECASE,
)
_LEADERS: Final = re.compile(r"(?:\.\s?){4,}|\u2026{2,}|_{6,}|(?:\u00b7\s?){4,}")
_NUMBER_AT_END: Final = re.compile(
    r"(?:\s|\.|\u2026|_)(?:\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}[-.\u2013]\d{1,3}|\d{1,2}[-\u2013]\d{1,3})\.?$"
)
_MAX_NUMBER_AT_END: Final = 9
"""Characters of the longest such end: what goes before the number, seven for the number, a full stop."""
_ONLY_NUMBER: Final = re.compile(
    r"(?:\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}[-\u2013]\d{1,3}|\d{1,2}[-\u2013]\d{1,3}|page)", re.IGNORECASE
)
_ONLY_LEADERS: Final = re.compile(r"[.\s\u2026\u00b7_]{8,}(?:\d{1,4}|[ivxlc]{1,7})?")
_SPACE: Final = re.compile(r"\s+")
_MIN_ENTRIES: Final = 2
_MIN_LEADERS: Final = 5
_MAX_ENTRY_LINES: Final = 3
_CONTINUES_PERCENT: Final = 40
_MIN_PARAGRAPH_CHARS: Final = 240


@dataclass(slots=True)
class Contents:
    """Walks the pages of a document in order and remembers whether it is in the contents."""

    inside: bool = False

    def mark(self, segments: list[Segment]) -> list[Segment]:
        """Mark the lines of contents pages and lists of figures ``toc``, cutting segments where needed.

        Args:
            segments: Segments of a page in reading order, furniture left out.

        Returns:
            The segments, mixed ones cut into their lines.
        """
        first_lines = [segment.lines[0].text for segment in segments]
        heading = None
        if may_have_heading(first_lines, _CONTENTS_STEMS):
            heading = next((i for i, line in enumerate(first_lines) if _is_contents_heading(line)), None)
        leaders: set[int] = set()
        if _may_have_leaders("\n".join([segment.text for segment in segments])):
            leaders = {id(line) for segment in segments for line in segment.lines if _ends_in_leaders(line)}
        if heading is None and not self.inside and len(leaders) < _MIN_LEADERS:
            return _cut_leader_lines(segments, leaders)
        ends = [
            line
            for segment in segments
            for line in segment.lines
            if (_ONLY_NUMBER.fullmatch(line.text) and len(segment.lines) == 1) or _ONLY_LEADERS.fullmatch(line.text)
        ]
        entries = {id(line) for s in segments for line in s.lines if _is_entry(line, ends)}
        is_full = _is_full_of(segments, entries, {id(end) for end in ends})
        continues = is_full and self.inside
        started = len(entries) >= _MIN_ENTRIES if heading is not None else is_full
        self.inside = continues or started
        if not self.inside:
            return _cut_leader_lines(segments, leaders)
        first = 0
        if not continues:
            is_start = [bool(_ends_in_leaders(s.lines[0])) for s in segments] if heading is None else []
            first = is_start.index(True) if True in is_start else heading or 0
        result = segments[:first]
        inside = True
        for segment in segments[first:]:
            if len(segment.lines) == 1 and _ENDS_CONTENTS.fullmatch(segment.text):
                inside = False
            if inside and not _is_paragraph(segment, entries):
                segment.role = "toc"
                result.append(segment)
            elif any(id(line) in entries and _has_leaders(line.text) for line in segment.lines):
                result += _cut_lines(segment, entries)
            else:
                result.append(segment)
        self.inside = inside
        return result


def _is_contents_heading(line: str) -> bool:
    if len(line) > MAX_HEADING:
        return False
    # Spaced type: "T a b l e  O f  C o n t e n t s".
    if _CONTENTS.fullmatch(line):
        return True
    return line[1:2].isspace() and _SPACE.sub("", line).lower() in {"contents", "tableofcontents"}


def _may_have_leaders(text: str) -> bool:
    """The plain search first: it is many times faster, and nearly every line has none."""
    if "..." in text or ". ." in text or "___" in text:
        return True
    return not text.isascii() and ("\u2026" in text or "\u00b7" in text)


def _has_leaders(text: str) -> bool:
    return _may_have_leaders(text) and bool(_LEADERS.search(text))


def _ends_in_leaders(line: Line) -> bool:
    return _has_leaders(line.text) and _ends_in_number(line.text)


def _ends_in_number(text: str) -> bool:
    # Dot leaders would be tried dot by dot.
    return _NUMBER_AT_END.search(text, max(0, len(text) - _MAX_NUMBER_AT_END)) is not None


def _is_entry(line: Line, ends: Sequence[Line]) -> bool:
    if _ends_in_number(line.text) or _has_leaders(line.text):
        return True
    return any(same_row(line, end) and 2 * end.x0 >= line.x0 + line.x1 for end in ends)


def _is_full_of(segments: Sequence[Segment], entries: set[int], ends: set[int]) -> bool:
    """Whether entries make up much of a page, up to a list of abbreviations.

    Only the last line of an entry has its number.
    """
    n_chars = n_entry_chars = n_entries = 0
    for segment in segments:
        if len(segment.lines) == 1 and _ENDS_CONTENTS.fullmatch(segment.text):
            break
        n_chars += segment.n_chars
        found = [line for line in segment.lines if id(line) in entries or id(line) in ends]
        n_entries += sum(id(line) in entries for line in found)
        is_whole = segment.lines[-1] in found and len(segment.lines) <= _MAX_ENTRY_LINES
        n_entry_chars += segment.n_chars if is_whole else sum(len(line.text) for line in found)
    return n_entry_chars * 100 >= _CONTINUES_PERCENT * n_chars and n_entries > 1


def _cut_leader_lines(segments: list[Segment], leaders: set[int]) -> list[Segment]:
    """Outside a contents section, only dot leaders that end in a page number count, and not alone."""
    if len(leaders) <= _MIN_ENTRIES:
        return segments
    return [part for segment in segments for part in _cut_lines(segment, leaders)]


def _is_paragraph(segment: Segment, entries: set[int]) -> bool:
    """Whether a segment on a contents page is running text: long, and few of its lines are entries."""
    n_entries = sum(1 for line in segment.lines if id(line) in entries)
    return (
        segment.n_chars >= _MIN_PARAGRAPH_CHARS and len(segment.lines) > 2 and 3 * n_entries < len(segment.lines)  # noqa: PLR2004 - a paragraph has lines
    )


def _cut_lines(segment: Segment, entries: set[int]) -> list[Segment]:
    """Cut a segment into runs of lines that are entries and runs that are not."""
    parts: list[Segment] = []
    run: list[Line] = []
    for line in segment.lines:
        if run and (id(line) in entries) != (id(run[-1]) in entries):
            parts.append(Segment.of(run))
            run = []
        run.append(line)
    parts.append(Segment.of(run))
    for part in parts:
        part.role = "toc" if id(part.lines[0]) in entries else segment.role
    return parts
