"""Stored P0 against the one derived from the pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nclue_build.core.findings import shown
from nclue_build.core.ids import condition_id as id_of_condition
from nclue_build.core.text import fold
from nclue_build.rederive.windows import AliasKey, compared_form, is_matchable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.base import Level
    from nclue_build.records.inventory import Alias, Condition
    from nclue_build.rederive.documents import DerivedRow, DocumentScan
    from nclue_build.rederive.matching import Evidence
    from nclue_build.store.evidence import EvidenceItem


@dataclass(slots=True)
class DerivedInventory:
    """P0 as the pages give it, by condition position in conditions.jsonl.

    Args:
        rows: Evidence by condition position and document.
        alias_documents: Documents each alias occurs in.
        alias_pages: Pages each alias occurs on.
    """

    rows: dict[int, dict[str, DerivedRow]] = field(default_factory=dict)
    alias_documents: dict[AliasKey, int] = field(default_factory=dict)
    alias_pages: dict[AliasKey, int] = field(default_factory=dict)

    def add(self, scan: DocumentScan) -> None:
        """Take one document in."""
        for condition, row in scan.rows.items():
            self.rows.setdefault(condition, {})[scan.doc_id] = row
        for key, n_pages in scan.alias_pages.items():
            self.alias_documents[key] = self.alias_documents.get(key, 0) + 1
            self.alias_pages[key] = self.alias_pages.get(key, 0) + n_pages

    def evidence(self, conditions: Sequence[Condition]) -> Evidence:
        """P(d, c) by condition id; the first of two conditions with one id counts."""
        found: Evidence = {}
        for position, condition in enumerate(conditions):
            documents = self.rows.get(position, {})
            found.setdefault(condition.condition_id, {doc_id: row.pages for doc_id, row in documents.items()})
        return found


def check_conditions(conditions: Sequence[tuple[int, Condition]], path: str, out: Findings) -> None:
    """Check ids and aliases for themselves: unique, and such that an occurrence is well defined.

    Args:
        conditions: With their lines.
        path: Of the file, as shown.
        out: Takes what differs.
    """
    seen: set[str] = set()
    owner_of_form: dict[tuple[str, str], str] = {}
    for line, condition in conditions:
        key = condition.condition_id
        if key in seen:
            out.add("duplicate-condition", "the id stands twice", path=path, line=line, id=key)
            continue
        seen.add(key)
        if key != (expected := id_of_condition(condition.name)):
            out.add("condition-id-differs", f"its name gives {expected}", path=path, line=line, id=key)
        if fold(condition.name) not in {fold(alias.form) for alias in condition.aliases}:
            message = f"{condition.name!r} is none of its aliases"
            out.add("condition-name-differs", message, path=path, line=line, id=key)
        for alias in condition.aliases:
            if not is_matchable(alias):
                out.add("bad-alias-form", f"{alias.form!r} cannot be matched", path=path, line=line, id=key)
            owner = owner_of_form.setdefault((alias.match, compared_form(alias)), key)
            if owner != key:
                out.add("shared-alias", f"{alias.form!r} is also an alias of {owner}", path=path, line=line, id=key)
        order = [(-alias.page_frequency, alias.form, alias.match) for alias in condition.aliases]
        if order != sorted(order):
            message = "aliases must stand by falling page_frequency, then by form"
            out.add("not-sorted", message, path=path, line=line, id=key)
        forms = [(alias.match, compared_form(alias)) for alias in condition.aliases]
        if len(set(forms)) < len(forms):
            out.add("duplicate-alias", f"aliases repeat: {shown(forms)}", path=path, line=line, id=key)


def compare_frequencies(
    conditions: Sequence[tuple[int, Condition]], derived: DerivedInventory, path: str, out: Findings
) -> None:
    """Compare document and page frequencies of conditions and aliases with the derived ones."""
    for position, (line, condition) in enumerate(conditions):
        documents = derived.rows.get(position, {})
        expected = (len(documents), sum(len(row.pages) for row in documents.values()))
        stored = (condition.document_frequency, condition.page_frequency)
        if stored != expected:
            message = f"documents, pages: stored {stored}, recomputed {expected}"
            out.add("condition-frequency-differs", message, path=path, line=line, id=condition.condition_id)
        for number, alias in enumerate(condition.aliases):
            key = AliasKey(position, number)
            expected = (derived.alias_documents.get(key, 0), derived.alias_pages.get(key, 0))
            if (alias.document_frequency, alias.page_frequency) != expected:
                message = f"{alias.form!r}: documents, pages: stored {_frequencies(alias)}, recomputed {expected}"
                out.add("alias-frequency-differs", message, path=path, line=line, id=condition.condition_id)


def _frequencies(alias: Alias) -> tuple[int, int]:
    return (alias.document_frequency, alias.page_frequency)


def compare_evidence(
    stored: Iterable[EvidenceItem],
    derived: DerivedInventory,
    conditions: Sequence[Condition],
    path: str,
    out: Findings,
) -> None:
    """Compare every stored evidence row of a page-level build with the derived one, and find the missing ones.

    Args:
        stored: Rows whose ids resolve (:func:`resolved_evidence`).
        derived: The derived inventory.
        conditions: In file order.
        path: Of evidence.jsonl, as shown.
        out: Takes what differs.
    """
    position_of: dict[str, int] = {}
    for position, condition in enumerate(conditions):
        position_of.setdefault(condition.condition_id, position)
    seen: set[tuple[str, str]] = set()
    for row in stored:
        line = row.line
        seen.add((row.condition_id, row.doc_id))
        expected = derived.rows.get(position_of[row.condition_id], {}).get(row.doc_id)
        if expected is None:
            message = f"document {row.doc_id}: no alias occurs on any of its pages, stored pages {shown(row.pages)}"
            out.add("extra-evidence", message, path=path, line=line, id=row.condition_id)
            continue
        for code, what, kept, wanted in (
            ("evidence-pages-differ", "pages", row.pages, expected.pages),
            ("evidence-mentions-differ", "mentions", row.mentions, expected.mentions),
            ("evidence-headings-differ", "in_heading", row.in_heading, expected.in_heading),
        ):
            if kept != wanted:
                message = f"document {row.doc_id}: {what} stored {shown(kept)}, recomputed {shown(wanted)}"
                out.add(code, message, path=path, line=line, id=row.condition_id)
    for condition_id, position in sorted(position_of.items()):
        for doc_id, expected in sorted(derived.rows.get(position, {}).items()):
            if (condition_id, doc_id) not in seen:
                message = f"document {doc_id}: no row stored, recomputed pages {shown(expected.pages)}"
                out.add("missing-evidence", message, path=path, id=condition_id)


def resolved_evidence(
    rows: Iterable[EvidenceItem],
    condition_ids: Collection[str],
    documents: Collection[str],
    level: Level,
    path: str,
    out: Findings,
) -> Iterator[EvidenceItem]:
    """Yield the rows that name a known condition and document once and fit the level; the others are differences."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        line, key = row.line, (row.condition_id, row.doc_id)
        if row.condition_id not in condition_ids:
            out.add("unknown-condition", "conditions.jsonl does not have it", path=path, line=line, id=row.condition_id)
        elif row.doc_id not in documents:
            out.add("unknown-document", "not in the benchmark's corpus", path=path, line=line, id=row.doc_id)
        elif key in seen:
            message = f"document {row.doc_id}: a row stands twice"
            out.add("duplicate-evidence", message, path=path, line=line, id=row.condition_id)
        elif (row.pages is None) != (level == "document"):
            message = f"document {row.doc_id}: pages {shown(row.pages)} do not fit a {level}-level build"
            out.add("wrong-level", message, path=path, line=line, id=row.condition_id)
        else:
            seen.add(key)
            yield row
