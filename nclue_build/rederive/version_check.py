"""What the files of a build say of each other: order, counts and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.findings import shown
from nclue_build.core.text import TEXT_VERSION
from nclue_build.rederive.query_check import DocumentFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.benchmark import QrelsMeta
    from nclue_build.records.corpus import CorpusRow, DocumentQuality
    from nclue_build.records.inventory import InventoryVersion
    from nclue_build.rederive.qrels_check import Judged


class Order:
    """Reports the first row of a file that comes after a greater one; repeats are no matter of order.

    Args:
        path: Of the file, as shown.
        out: Takes what differs.
    """

    def __init__(self, path: str, out: Findings) -> None:
        self._path, self._out = path, out
        self._previous: tuple[str, ...] = ()
        self._sorted = True

    def next(self, line: int, key: tuple[str, ...]) -> None:
        """Take in the ids of the next row."""
        if self._sorted and key < self._previous:
            message = f"{' '.join(key)} comes after {' '.join(self._previous)}"
            self._out.add("not-sorted", message, path=self._path, line=line, id=key[0])
            self._sorted = False
        self._previous = key


def check_order(keys: Iterable[tuple[int, tuple[str, ...]]], path: str, out: Findings) -> None:
    """Report the first row of a file that is out of order.

    Args:
        keys: Line and ids of every row.
        path: Of the file, as shown.
        out: Takes what differs.
    """
    order = Order(path, out)
    for line, key in keys:
        order.next(line, key)


def check_documents(
    rows: Iterable[tuple[int, CorpusRow]],
    outcomes: Iterable[tuple[int, DocumentQuality]],
    rows_path: str,
    outcomes_path: str,
    out: Findings,
) -> dict[str, DocumentFacts]:
    """Check that documents.jsonl and documents_quality.jsonl agree on the documents of the benchmark's corpus.

    Args:
        rows: Of documents.jsonl, with their lines.
        outcomes: Rows on documents of documents_quality.jsonl, with their lines.
        rows_path: Of documents.jsonl, as shown.
        outcomes_path: Of documents_quality.jsonl, as shown.
        out: Takes what differs.

    Returns:
        What is said of every document of the benchmark's corpus, sorted by id.
    """
    rows, outcomes = list(rows), list(outcomes)
    check_order(((line, (row.doc_id,)) for line, row in rows), rows_path, out)
    check_order(((line, (row.doc_id,)) for line, row in outcomes), outcomes_path, out)
    corpus: dict[str, CorpusRow] = {}
    for line, row in rows:
        if row.doc_id in corpus:
            out.add("duplicate-document", "the id stands twice", path=rows_path, line=line, id=row.doc_id)
        corpus[row.doc_id] = row
    facts: dict[str, DocumentFacts] = {}
    seen: set[str] = set()
    for line, outcome in outcomes:
        doc_id = outcome.doc_id
        if doc_id in seen:
            out.add("duplicate-document", "the id stands twice", path=outcomes_path, line=line, id=doc_id)
        seen.add(doc_id)
        listed = corpus.get(doc_id)
        if listed is None:
            message = f"{rows_path} does not have it"
            out.add("unknown-document", message, path=outcomes_path, line=line, id=doc_id)
        elif outcome.n_pages and listed.n_pages not in (None, outcome.n_pages):
            message = f"{outcome.n_pages} pages here, {listed.n_pages} in {rows_path}"
            out.add("page-rows-differ", message, path=outcomes_path, line=line, id=doc_id)
        elif listed.source != outcome.source:
            message = f"source {outcome.source!r} here, {listed.source!r} in {rows_path}"
            out.add("document-rows-differ", message, path=outcomes_path, line=line, id=doc_id)
        if outcome.in_benchmark:
            title = (listed.title if listed else None) or ""
            facts[doc_id] = DocumentFacts(outcome.source, outcome.n_pages, outcome.gold_eligible, title)
    for doc_id in sorted(corpus.keys() - seen):
        out.add("unknown-document", f"{outcomes_path} does not have it", path=rows_path, id=doc_id)
    return dict(sorted(facts.items()))


def compare_version(
    version: InventoryVersion, allowed_roles: Sequence[str], counts: Mapping[str, int], path: str, out: Findings
) -> None:
    """Compare version.json with the configured roles, this program's text rules, and what the files hold."""
    if (version.version, version.parent) != (0, None):
        message = f"P0 is version 0 and has no parent, stored {version.version} and {version.parent}"
        out.add("version-counts-differ", message, path=path)
    if version.decisions:
        message = f"P0 is as mined, no decision is applied to it, stored {shown(version.decisions)}"
        out.add("version-counts-differ", message, path=path)
    if version.allowed_roles != tuple(allowed_roles):
        out.add("allowed-roles-differ", f"stored {version.allowed_roles}, configured {tuple(allowed_roles)}", path=path)
    if version.text_version != TEXT_VERSION:
        out.add("text-version-differs", f"stored {version.text_version}, here {TEXT_VERSION}", path=path)
    for name in sorted(version.counts.keys() - counts.keys()):
        out.add("version-counts-differ", f"{name}: nothing is counted under this name", path=path)
    for name, count in counts.items():
        if (kept := version.counts.get(name)) != count:
            out.add("version-counts-differ", f"{name}: stored {kept}, the files hold {count}", path=path)


def compare_meta(meta: QrelsMeta, version: InventoryVersion, judged: Judged, path: str, out: Findings) -> None:
    """Compare qrels.meta.json with the recomputed judgments and the inventory version."""
    judgments = [judgment for rows in judged.values() for judgment in rows.values()]
    expected: dict[str, object] = {
        "inventory_version": version.version,
        "inventory_digests": version.digests,
        "level": version.level,
        "n_queries": len(judged),
        "n_qrels": len(judgments),
        "n_golds": sum(1 for judgment in judgments if judgment.gold),
    }
    for name, value in expected.items():
        if (kept := getattr(meta, name)) != value:
            out.add("meta-differs", f"{name}: stored {kept}, recomputed {value}", path=path)
