"""What becomes of each document, decided again from page counts, and compared with what extraction wrote.

Nothing here believes ``documents_quality.jsonl``: which documents there are is what ``documents.jsonl`` says, and what
is left of them follows from their pages, their sources' rates and the copies among them. Only two things are taken as
told: a document's language, and that documents are near-duplicates, which is held against their words.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.records.corpus import DocumentQuality, SourceQuality
from nclue_build.rederive.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.corpus import CorpusRow, DuplicateGroup

Removal = Literal["unreadable", "no_text", "source_below_rate", "duplicate"]

_UNREAD: Final = Tally()
_MOSTLY: Final = 2
"""One page in so many makes "mostly"."""
_MIN_NEAR_PERCENT: Final = 70
_MIN_SHARED_PERCENT: Final = 50
"""The resemblance written of near-duplicates is an estimate, with a standard error of 4 points: less than this is no
error of estimating."""


@dataclass(frozen=True, slots=True)
class SourceRate:
    """What could be read of one source, in documents and pages."""

    source: str
    n_documents: int
    n_in_benchmark: int
    n_pages: int
    pages_passed: int
    passed: bool

    @property
    def percent(self) -> str:
        """The rate in per cent, rounded down to two digits, so that 98.00 is never less than 98."""
        hundredths = self.pages_passed * 10_000 // self.n_pages
        return f"{hundredths // 100}.{hundredths % 100:02d}"


@dataclass(frozen=True, slots=True)
class WrittenOutcome:
    """What extraction wrote, each row with its line, and the files as findings name them."""

    rows: list[tuple[int, CorpusRow]]
    quality: list[tuple[int, DocumentQuality | SourceQuality]]
    groups: list[tuple[int, DuplicateGroup]]
    quality_path: str
    groups_path: str

    @property
    def by_id(self) -> dict[str, CorpusRow]:
        """The rows of documents.jsonl; of a repeated id the first, as the repeat is a finding of its own."""
        return {row.doc_id: row for _, row in reversed(self.rows)}


def rate_sources(
    rows: Iterable[CorpusRow], tallies: Mapping[str, Tally], needed: Fraction, removed: Mapping[str, Removal]
) -> list[SourceRate]:
    """The rate of every source, by name; what cannot be opened counts as one page."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        tally = tallies.get(row.doc_id, _UNREAD)
        counts = (1, row.doc_id not in removed, tally.n_pages or 1, tally.pages_passed)
        sums[row.source] = [old + new for old, new in zip(sums.get(row.source, [0] * 4), counts, strict=True)]
    return [
        SourceRate(source, n_documents, n_kept, n_pages, n_passed, Fraction(n_passed, n_pages) >= needed)
        for source, (n_documents, n_kept, n_pages, n_passed) in sorted(sums.items())
    ]


def check_outcomes(
    written: WrittenOutcome, tallies: Mapping[str, Tally], needed: Fraction, *, remove: bool, out: Findings
) -> list[SourceRate]:
    """Decide what becomes of every document, and report what extraction says otherwise.

    Args:
        written: What extraction wrote.
        tallies: By doc_id; documents without one have no page that can be read. Members of near-duplicate groups
            have their shingles.
        needed: The share of a source's pages that must have been read.
        remove: Whether copies are removed.
        out: Takes what differs.

    Returns:
        A rate per source, by name.
    """
    rows = written.by_id
    removed: dict[str, Removal] = {}
    for doc_id in rows:
        tally = tallies.get(doc_id, _UNREAD)
        if not tally.pages_ok:
            removed[doc_id] = "no_text" if tally.is_blank else "unreadable"
    rates = rate_sources(rows.values(), tallies, needed, removed)
    failing = {rate.source for rate in rates if not rate.passed} if len(rates) > 1 else set[str]()
    for doc_id, row in rows.items():
        if row.source in failing:
            removed.setdefault(doc_id, "source_below_rate")
    for doc_id in _copies(written, [rows[key] for key in sorted(rows.keys() - removed.keys())], tallies, remove, out):
        removed[doc_id] = "duplicate"
    rates = rate_sources(rows.values(), tallies, needed, removed)
    _compare_sources(rates, written, out)
    for line, told in written.quality:
        # Of pages that cannot be read there is a finding already.
        if isinstance(told, DocumentQuality) and told.doc_id in rows and told.doc_id in tallies:
            _compare_document(told, tallies[told.doc_id], removed.get(told.doc_id), (written, line), out)
    return rates


def _compare_document(
    told: DocumentQuality, tally: Tally, removed: Removal | None, where: tuple[WrittenOutcome, int], out: Findings
) -> None:
    path, line = where[0].quality_path, where[1]

    def differs(code: str, what: str, here: object, counted: object) -> None:
        out.add(
            code, f"{told.doc_id}: {what}: {here} here, {counted} by its pages", path=path, line=line, id=told.doc_id
        )

    here = (told.n_pages, told.pages_ok, told.pages_empty, told.pages_failed)
    if here != tally[:4]:
        differs("quality-counts-differ", "pages, ok, empty, failed", here, tuple(tally[:4]))
    elif told.n_words != tally.n_words:
        differs("quality-counts-differ", "words", told.n_words, tally.n_words)
    if told.status != (status := _status(tally)):
        differs("outcome-differs", "status", told.status, status)
    if told.removed != removed:
        reason = "its pages, its source's rate and the duplicate groups give"
        message = f"{told.doc_id}: removed is {told.removed or 'null'}, {reason} {removed or 'null'}"
        out.add("removal-differs", message, path=path, line=line, id=told.doc_id)
    flags = _flags(tally, told.language)
    for flag, expected in flags.items():
        if (flag in told.flags) != expected:
            differs("outcome-differs", f"flag {flag}", flag in told.flags, expected)
    eligible = removed is None and told.language == "en" and not flags["placeholder_text"]
    if told.removed == removed and told.gold_eligible != eligible:
        differs("outcome-differs", "gold_eligible", told.gold_eligible, eligible)


def _status(tally: Tally) -> str:
    if not tally.pages_ok and not tally.is_blank:
        return "failed"
    return "ok" if tally.pages_passed == tally.n_pages else "partial"


def _flags(tally: Tally, language: str | None) -> dict[str, bool]:
    """The flags of a document that follow from its pages and its language."""
    mostly = max(tally.pages_ok, 1)
    is_unknown = bool(tally.pages_ok) and language is None and tally.n_foreign * _MOSTLY < mostly
    return {
        "placeholder_text": tally.n_placeholder * _MOSTLY >= mostly,
        "language_unknown": is_unknown,
        "non_english": bool(tally.pages_ok) and language != "en" and not is_unknown,
        "no_text_layer": tally.no_text_layer,
    }


def _compare_sources(rates: Sequence[SourceRate], written: WrittenOutcome, out: Findings) -> None:
    """Every source has one row, and that says what was counted."""
    path = written.quality_path
    told: dict[str, tuple[int, SourceQuality]] = {}
    for line, row in written.quality:
        if not isinstance(row, SourceQuality):
            continue
        if row.source in told:
            message = f"source {row.source!r} has a row before this one"
            out.add("quality-counts-differ", message, path=path, line=line)
        told.setdefault(row.source, (line, row))
    for rate in rates:
        counted = (rate.n_documents, rate.n_pages, rate.pages_passed, rate.passed)
        said, at = "has no row", None
        if rate.source in told:
            at, source = told.pop(rate.source)
            here = (source.n_documents, source.n_pages, source.pages_passed, source.passed)
            if here == counted:
                continue
            said = f"has {here} here"
        message = f"source {rate.source!r}: documents, pages, passed, verdict are {counted}; it {said}"
        out.add("quality-counts-differ", message, path=path, line=at)
    for name, (line, _) in told.items():
        out.add("quality-counts-differ", f"source {name!r} has a row, and no document", path=path, line=line)


def _copies(
    written: WrittenOutcome,
    candidates: Sequence[CorpusRow],
    tallies: Mapping[str, Tally],
    remove: bool,  # noqa: FBT001 - a setting handed on
    out: Findings,
) -> set[str]:
    """The documents that are removed as copies, after comparing the groups."""
    ranked = sorted(candidates, key=lambda row: (-tallies[row.doc_id].n_chars, row.doc_id))
    expected: dict[str, list[str]] = {}
    ranked = _group(ranked, "exact", lambda row: row.sha256, expected)
    ranked = _group(ranked, "same_text", lambda row: tallies[row.doc_id].text_sha256, expected)
    removed = {doc_id for members in expected.values() for doc_id in members[1:]} if remove else set[str]()
    rank = {row.doc_id: number for number, row in enumerate(ranked)}
    taken: set[str] = set()
    for line, group in written.groups:
        if group.kind == "near":
            problem = _near_problem(group, rank, taken, tallies)
            members = sorted(group.doc_ids, key=lambda doc_id: rank.get(doc_id, len(rank)))
        else:
            members = expected.pop(group.group_id, [])
            problem = None if members else "its documents are not the same, or it stands here twice"
        wanted = (sorted(members), members[:1], sorted(members[1:]) if remove else [])
        if problem is None and wanted != ([*group.doc_ids], [group.representative], [*group.removed]):
            problem = f"its documents, the one that stays and those removed are {wanted}"
        if problem is None and group.group_id != (name := f"{group.kind}_{group.representative}"):
            problem = f"its id must be {name}"
        if problem is not None:
            message = f"group {group.group_id}: {problem}"
            out.add("duplicates-differ", message, path=written.groups_path, line=line, id=group.group_id)
        if group.kind == "near" and remove and problem is None:
            taken.update(group.doc_ids)
            removed.update(members[1:])
    for group_id, members in expected.items():
        message = f"group {group_id} of {', '.join(sorted(members))} is missing"
        out.add("duplicates-differ", message, path=written.groups_path, id=group_id)
    return removed


def _group(
    ranked: Sequence[CorpusRow], kind: str, key: Callable[[CorpusRow], str | None], groups: dict[str, list[str]]
) -> list[CorpusRow]:
    """Group documents with the same key, the one that stays first; returns those that stay."""
    members: dict[str, list[str]] = {}
    kept: list[CorpusRow] = []
    for row in ranked:
        value = key(row)
        if value is None or value not in members:
            kept.append(row)
        if value is not None:
            members.setdefault(value, []).append(row.doc_id)
    groups |= {f"{kind}_{ids[0]}": ids for ids in members.values() if len(ids) > 1}
    return kept


def _near_problem(
    group: DuplicateGroup, rank: Mapping[str, int], taken: set[str], tallies: Mapping[str, Tally]
) -> str | None:
    """What is wrong with a group of near-duplicates; that documents are in none is not looked into."""
    for doc_id in group.doc_ids:
        if doc_id not in rank:
            return f"{doc_id} is no document that is left when it comes to near-duplicates"
        if doc_id in taken:
            return f"{doc_id} is in another group"
    if (group.similarity_percent or 0) < _MIN_NEAR_PERCENT:
        return f"its similarity is less than {_MIN_NEAR_PERCENT} percent"
    if group.representative not in group.doc_ids or len(group.doc_ids) < 2:  # noqa: PLR2004 - two are a group
        return "it has no other document than the one that stays"
    first = tallies[group.representative].shingles
    for doc_id in group.doc_ids:
        other = tallies[doc_id].shingles
        if 100 * len(first & other) < _MIN_SHARED_PERCENT * len(first | other):
            percent = 100 * len(first & other) // max(len(first | other), 1)
            return f"{doc_id} shares {percent} percent of its runs of words with {group.representative}"
    return None
