"""Reference lists and indexes: what points at text instead of being text.

A heading is strong evidence by itself, so that a list without years or numbers is recognised, too; it is not taken
at its word when what follows reads like prose. Prose is told by its small words, forms of "to be" and pronouns
above all, which titles of works hardly have. A section ends with a heading of its rank, an appendix, or where
prose goes on behind the last entry.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from nclue_build.core.english import function_words
from nclue_build.corpus.headings import MAX_HEADING, may_have_heading
from nclue_build.corpus.lines import STARTS_WITH_MARK
from nclue_build.corpus.segments import Segment

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERING: Final = (
    r"(?:(?:appendix|annex|attachment|chapter|section|part)(?:\s+[\w.]{1,5})?\s*[:.\u2013\u2014-]?\s+"
    r"|(?:\d{1,2}(?:\.\d{1,2})*|[ivxl]{1,6}|[a-z])[.):]?\s+)?"
)
_CONTINUED: Final = (
    r"(?:\s+(?:for|to|of)\s+(?:chapter|section|part|appendix|annex)\s+\w{1,4})?"
    r"(?:\W*\(?(?:continued|cont[.'\u2019]?d?)\)?)?\W*"
)
_LIST_HEADING: Final = re.compile(
    _NUMBERING
    + r"(?:(?:selected|select|key|general|cited|annotated|chapter|full|list\s+of)\s+)*"
    + r"(?:references|references\s+(?:cited|consulted|list)"
    r"|references\s+and\s+(?:notes|bibliography|sources|(?:further\s+)?readings?)"
    r"|reference\s+(?:list|section|documents)|(?:notes|sources)\s+and\s+references|bibliograph(?:y|ies)"
    r"|bibliographic(?:al)?\s+references|works?\s+(?:cited|consulted)|literature|literature\s+(?:cited|references)"
    r"|literatur(?:verzeichnis)?|sources\s+(?:cited|consulted)|(?:further|suggested|recommended)\s+readings?)"
    + _CONTINUED,
    re.IGNORECASE,
)
_NOTES_HEADING: Final = re.compile(_NUMBERING + r"end\s?notes" + _CONTINUED, re.IGNORECASE)
_OTHER_HEADING: Final = re.compile(
    _NUMBERING
    + r"(?:index|notes|sources|citations|related\s+(?:gao\s+)?(?:products|publications|reports))"
    + _CONTINUED,
    re.IGNORECASE,
)
_SPACED: Final = frozenset({"references", "bibliography", "workscited", "literature"})
_STEMS: Final = (
    b"reference", b"bibliograph", b"cited", b"consulted", b"literatur", b"reading",
    b"notes", b"index", b"sources", b"citations", b"related",
)  # fmt: skip
"""Headings of all these kinds have one of these."""
_HEADED_ROLES: Final = frozenset({"title", "text", "list"})
"""Roles that such a heading can have, or what it is cut off from."""
_BACK_MATTER: Final = re.compile(
    r"(?:\d{1,2}\.?\s+)?(?:(?i:appendix|annexe?|attachment|exhibit|enclosure|schedule)"
    r"(?:\s+(?:[A-Z]|\d{1,2}|[IVXL]{1,5}))?(?:\s*[:.\u2013\u2014-].*|\s+[A-Z].*)?"
    r"|(?i:appendices|appendixes|annexes|glossary|acknowledge?ments?|about\s+the\s+authors?|contact(?:s|\s+information)"
    r"|(?:list\s+of\s+)?(?:abbreviations|acronyms|tables|figures)(?:\s+and\s+(?:abbreviations|acronyms|figures))?))\W*",
    re.DOTALL,
)
_STRONG: Final = re.compile(
    r"\b(?:19|20)\d\d\b|^\[\d{1,3}\]|https?://|\bwww\.|\bdoi\b|\bpp?\.\s*\d|\bvol\.|\bISBN\b|\bISSN\b|\bGAO[-/][A-Z0-9-]+"
    r"|\bet\s+al\b|\(eds?\.\)|\bn\.d\.",
    re.IGNORECASE,
)
_AUTHOR: Final = re.compile(
    r"(?:[^\W\d]\.[\s-]?){1,3}(?:(?:van|von|de|der|da|di|la|le)\s)*[A-Z][\w'\u2019-]+(?:,|\.|\s+and\b|\s+&)"
    r"|(?:(?:van|von|de|der|da|di|la|le|O'|O\u2019|Mc)\s?)*[A-Z][\w'\u2019-]+(?:\s[A-Z][\w'\u2019-]+)?,\s+(?:[A-Z]\.[\s-]?){1,3}"
)
_NUMBERED: Final = re.compile(r"(?:\[\d{1,3}\]|\(?\d{1,3}[.)]|\d{1,3}\s)\s*[^\W\d]")
_WEAK: Final = (
    re.compile(r"(?:^|[\s,(])[A-Z]\.(?=[\s,:;&)-]|[A-Z]\.)"),
    re.compile(r"\u201c[^\u201d]{6,}\u201d|\"[^\"]{6,}\"|\u2018[^\u2019]{10,}[.,]\u2019"),
    re.compile(
        r"\b(?:Press|Publish\w+|Publications?|Journal|Proceedings|Conference|Transactions|Quarterly|Bulletin|Gazette|Series"
        r"|University|Working\s+Papers?|Technical|Report|Thesis|Dissertation|Handbook|Manual|Edition|edition|Letters|Papers"
        r"|Review|Magazine|Monographs?|Ministry|Office|Institute|Printing|Retrieved|Accessed|Available|Forthcoming|forthcoming"
        r"|in\s+press|unpublished|Unpublished|No\.|Issue|issue|vols?|Vols?|eds?\.|trans\.|rev\.)(?!\w)"
    ),
    re.compile(r"[^\W\d]\w+:\s+[A-Z][\w'\u2019-]+[^:]*\.\W*$"),
    re.compile(r"\b\d{1,4}\s?[-\u2013]\s?\d{1,4}\b|\b\d{1,3}\s?\(\d{1,3}\)|\b\d{1,3}:\s?\d{1,4}\b"),
    re.compile(r"^[A-Z][\w'\u2019-]+,\s+[A-Z]"),
    re.compile(r"^[^.?!]{3,}[.?!][\u201d\"']?\s+[^.?!]{3,}[.?!]", re.DOTALL),
)
_INDEX_SHAPE: Final = re.compile(
    r"[^\W\d].*(?:,|\s)\s*\d{1,4}(?:[-\u2013]\d{1,4})?(?:\s*,\s*\d{1,4}(?:[-\u2013]\d{1,4})?)*\W*$"
)
_SPACE: Final = re.compile(r"\s+")
_MAX_BACK_MATTER: Final = 120
_LOWEST_LEVEL: Final = 6
_REFERENCES_PERCENT: Final = 40
"""Share of the characters of a section's page that must look like references."""
_MAX_PROSE_PERCENT: Final = 35
"""Share of prose below which a heading is taken at its word."""
_SENTENCE_WORDS_PERCENT: Final = 5
_SMALL_WORDS_PERCENT: Final = 30
_MIN_PROSE_WORDS: Final = 12
_MIN_TAIL_WORDS: Final = 25
"""Words of prose behind the last entry that show that the list has ended."""
_MIN_SIGNS: Final = 2
_MIN_SIGNS_IN_PROSE: Final = 3
_NOTE_PERCENT: Final = 93
"""A footnote at the foot of the page on which a list begins is smaller than this share of the entries' size."""


_Kind: TypeAlias = Literal["list", "notes", "other", "plain"]
_Look: TypeAlias = Literal["entry", "prose", "other", "title", "none"]


@dataclass(slots=True)
class References:
    """Walks the pages of a document in order and remembers the reference section it is in."""

    level: int | None = None
    """Rank of the section's heading, None outside a section."""
    kind: _Kind = "list"
    """``list``, ``notes``, ``other``, or ``plain`` for a list whose heading is set like text."""
    established: bool = False
    """Whether a part of the list has been seen since the heading."""
    needed_signs: int = _MIN_SIGNS
    """Signs that make an entry: fewer once a heading alone has shown a list to be one."""

    def mark(self, segments: Sequence[Segment]) -> list[Segment]:
        """Mark reference lists and indexes ``reference``, until a heading of their rank, an appendix, or prose.

        Args:
            segments: Segments of a page in reading order with their roles, furniture left out.

        Returns:
            The segments; a heading that is one with its list is cut off.
        """
        if self.level is None and not may_have_heading(_possible_headings(segments), _STEMS):
            return list(segments)
        result = _cut_headings(segments)
        run: list[Segment] = []
        for segment in result:
            kind = _heading_kind(segment)
            if kind is not None:
                self._close(run, result)
                run = [segment]
                self.level = segment.level or _LOWEST_LEVEL
                self.kind = kind
                self.established = False
                self.needed_signs = 1 if kind == "plain" else _MIN_SIGNS
            elif self.level is not None and _ends_section(segment, self.level):
                self._close(run, result)
                run = []
                self.level = None
            elif self.level is not None:
                run.append(segment)
        self._close(run, result)
        return result

    def _close(self, run: Sequence[Segment], page: Sequence[Segment]) -> None:
        """Mark a run of the section as far as it looks like references; else the section has ended."""
        if self.level is None or not run:
            return
        notes = _page_notes(run, page)
        run = [segment for segment in run if segment not in notes]
        looks = [self._look(segment) for segment in run]
        end = _end_of_list(run, looks)
        looks = looks[:end]
        if not self._is_list(run[:end], looks):
            self.level = None
            return
        self.established = self.established or any(look in {"entry", "other"} for look in looks)
        for segment in run[:end]:
            if segment.role != "toc":
                segment.role, segment.level = "reference", None
        if end < len(run):
            self.level = None

    def _look(self, segment: Segment) -> _Look:
        """What a segment looks like: ``entry``, ``prose``, ``other``, or ``none`` for what does not matter."""
        if segment.role == "toc" or _heading_kind(segment) is not None:
            return "none"
        if segment.role == "title" and not _AUTHOR.match(segment.text):
            return "title"
        if self.kind == "other" and 2 * sum(bool(_INDEX_SHAPE.match(line.text)) for line in segment.lines) >= len(
            segment.lines
        ):
            return "entry"
        text = _SPACE.sub(" ", segment.text)
        is_numbered = bool(segment.lines[0].style & STARTS_WITH_MARK or _NUMBERED.match(text))
        if self.kind == "notes" and is_numbered:
            return "entry"
        n_signs = _count_signs(segment, text) + is_numbered
        if _is_prose(text):
            return "entry" if n_signs >= _MIN_SIGNS_IN_PROSE and (is_numbered or _AUTHOR.match(text)) else "prose"
        return "entry" if n_signs >= self.needed_signs else "other"

    def _is_list(self, run: Sequence[Segment], looks: Sequence[_Look]) -> bool:
        n_chars: Counter[_Look] = Counter()
        for segment, look in zip(run, looks, strict=True):
            n_chars[look] += segment.n_chars
        entries, prose = n_chars["entry"], n_chars["prose"]
        total = entries + prose + n_chars["other"]
        if not total or (entries * 100 >= _REFERENCES_PERCENT * total and prose < entries):
            return True
        is_headed = self.kind == "list" and not self.established and _heading_kind(run[0]) is not None
        in_tables = sum(s.n_chars for s in run if s.role == "caption" or (s.role == "table" and s.row_cells))
        if not is_headed or prose * 100 >= _MAX_PROSE_PERCENT * total or 2 * in_tables >= total:
            return False
        self.needed_signs = 1
        return True


def _possible_headings(segments: Sequence[Segment]) -> list[str]:
    """What may be a heading by itself, or be cut off as one."""
    return [
        segment.text if segment.role == "title" else segment.lines[0].text
        for segment in segments
        if segment.role in _HEADED_ROLES
    ]


def _heading_kind(segment: Segment) -> _Kind | None:
    text = segment.text
    is_title = segment.role == "title"
    if len(text) > MAX_HEADING or not (is_title or (segment.role in {"text", "list"} and len(segment.lines) == 1)):
        return None
    if segment.row_cells > is_title:  # a number in the margin may stand beside a heading
        return None
    if _LIST_HEADING.fullmatch(text) or (text[1:2].isspace() and _SPACE.sub("", text).lower() in _SPACED):
        is_marked = is_title or text.isupper() or segment.bold or text[0].isdigit()
        return "list" if is_marked else "plain"
    if _NOTES_HEADING.fullmatch(text):
        return "notes"
    return "other" if _OTHER_HEADING.fullmatch(text) else None


def _cut_headings(segments: Sequence[Segment]) -> list[Segment]:
    """Cut off headings that are set like the list below them, without a gap."""
    result: list[Segment] = []
    for segment in segments:
        if len(segment.lines) > 1 and segment.role in {"text", "list"} and len(segment.lines[0].text) <= MAX_HEADING:
            head = Segment.of(segment.lines[:1])
            head.column = segment.column
            if _LIST_HEADING.fullmatch(head.text):
                rest = Segment.of(segment.lines[1:])
                rest.role, rest.column = segment.role, segment.column
                result += [head, rest]
                continue
        result.append(segment)
    return result


def _ends_section(segment: Segment, level: int) -> bool:
    """Whether a segment is a heading of the section's rank or a higher one, or that of an appendix."""
    if segment.role == "title" and _AUTHOR.match(segment.text):
        return False
    if segment.role == "title" and (segment.level or _LOWEST_LEVEL) <= level:
        return True
    text = segment.text
    if len(text) > _MAX_BACK_MATTER or segment.row_cells or not _BACK_MATTER.fullmatch(text):
        return False
    is_plain = segment.role in {"text", "caption", "list"} and len(segment.lines) == 1
    return segment.role == "title" or (is_plain and not text.endswith(".") and not _STRONG.search(text))


def _page_notes(run: Sequence[Segment], page: Sequence[Segment]) -> list[Segment]:
    """Footnotes of the text above a list that begins on their page: smaller than the entries, with a raised mark."""
    if run[0] is page[0] or _heading_kind(run[0]) is None:
        return []
    size = max((segment.size for segment in run[1:] if segment.role != "footnote"), default=0)
    notes: list[Segment] = []
    for segment in run[1:]:
        is_note = segment.role == "footnote" and segment.size * 100 <= _NOTE_PERCENT * size
        if is_note and (notes or segment.lines[0].style & STARTS_WITH_MARK):
            notes.append(segment)
    return notes


def _end_of_list(run: Sequence[Segment], looks: Sequence[_Look]) -> int:
    """Index in a run at which prose goes on: below a lesser heading, or behind the last entry."""
    starts = [index for index, look in enumerate(looks) if look == "title"]
    for start, end in pairwise([*starts, len(run)]):
        part = list(zip(run[start + 1 : end], looks[start + 1 : end], strict=True))
        prose = [segment for segment, look in part if look == "prose"]
        others = sum(segment.n_chars for segment, look in part if look != "prose")
        if sum(segment.n_chars for segment in prose) > others and _n_words(prose) >= _MIN_TAIL_WORDS:
            return start
    last = max((index for index, look in enumerate(looks) if look == "entry"), default=None)
    if last is None:
        return len(run)
    tail = [index for index in range(last + 1, len(run)) if looks[index] == "prose"]
    if _n_words([run[index] for index in tail]) < _MIN_TAIL_WORDS:
        return len(run)
    end = tail[0]
    while end > last + 1 and looks[end - 1] == "title":
        end -= 1
    return end


def _n_words(segments: Sequence[Segment]) -> int:
    return sum(len(segment.text.split()) for segment in segments)


def _count_signs(segment: Segment, text: str) -> int:
    """Signs of a reference: a strong one, or the start with an author's name, counts for two."""
    n_signs = 2 * bool(_STRONG.search(text) or _AUTHOR.match(text))
    n_signs += sum(bool(pattern.search(text)) for pattern in _WEAK)
    indent = min((line.x0 for line in segment.lines[1:]), default=0) - segment.lines[0].x0
    return n_signs + (10 * indent >= 6 * segment.size)


@cache
def _sentence_words() -> frozenset[str]:
    """Words that make sentences, and that titles of works hardly have."""
    return function_words("auxiliaries", "pronouns") | {"because", "but", "if", "not", "so", "than"}


def _is_prose(text: str) -> bool:
    words = [word.rstrip(".,;:)") for word in text.split()]
    if len(words) < _MIN_PROSE_WORDS:
        return False
    n_sentence = sum(word in _sentence_words() for word in words)
    if n_sentence * 100 >= _SENTENCE_WORDS_PERCENT * len(words) and n_sentence > 1:  # one may stand in a title
        return True
    n_small = sum(word in function_words() for word in words)
    return len(words) >= 2 * _MIN_PROSE_WORDS and n_small * 100 >= _SMALL_WORDS_PERCENT * len(words)
