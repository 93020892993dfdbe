"""A build as it is on disk: everything but pages, TREC and BEIR files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.core.findings import Findings
from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DocumentQuality
from nclue_build.records.inventory import Condition, InventoryVersion
from nclue_build.rederive.decisions_check import LaterVersion
from nclue_build.rederive.version_check import check_documents, check_order
from nclue_build.store import layout
from nclue_build.store.evidence import read_evidence
from nclue_build.store.jsonl import read_json, read_jsonl, read_numbered, run_first

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.records.base import Level
    from nclue_build.rederive.query_check import DocumentFacts
    from nclue_build.store.evidence import EvidenceColumns
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class Stored:
    """A build as it is on disk; rows come with their lines.

    ``version``, ``conditions`` and ``evidence`` are those of P0; ``composed`` are the queries as composed, where a
    repair has made a later version.
    """

    version: InventoryVersion
    documents: dict[str, DocumentFacts]
    conditions: list[tuple[int, Condition]]
    evidence: EvidenceColumns
    queries: list[tuple[int, Query]]
    qrels: list[tuple[int, Qrel]]
    meta: QrelsMeta
    later: list[LaterVersion]
    composed: list[Query]

    @property
    def level(self) -> Level:
        """Of the inventory, every version alike."""
        return self.version.level

    @property
    def newest(self) -> InventoryVersion:
        """version.json of the version that the benchmark follows from."""
        return self.later[-1].version if self.later else self.version

    @property
    def n_evidence(self) -> int:
        """Rows of that version."""
        return self.later[-1].evidence.n_rows if self.later else self.evidence.n_rows


def read_stored(build: Build, out: Findings) -> Stored:
    """Read everything but pages, TREC and BEIR files, and check order and digests on the way."""
    folder, benchmark = build.version(0), build.benchmark
    mine, compose = run_first("mine"), run_first("compose")
    version = read_json(folder / layout.VERSION, InventoryVersion, advice=mine)
    meta = read_json(benchmark / layout.META, QrelsMeta, advice=compose)
    unreadable = Findings()
    stored = Stored(
        version=version,
        documents=_read_documents(build, unreadable, out),
        conditions=list(read_numbered(folder / layout.CONDITIONS, Condition, found=unreadable, advice=mine)),
        evidence=read_evidence(folder / layout.EVIDENCE, unreadable, advice=mine),
        queries=list(read_numbered(benchmark / layout.QUERIES, Query, found=unreadable, advice=compose)),
        qrels=list(read_numbered(benchmark / layout.QRELS, Qrel, found=unreadable, advice=compose)),
        meta=meta,
        later=[LaterVersion.read(build, number, unreadable) for number in range(1, meta.inventory_version + 1)],
        composed=list(read_jsonl(build.older(0) / layout.QUERIES, Query)) if meta.inventory_version else [],
    )
    unreadable.raise_any()
    for path, keys in (
        (folder / layout.CONDITIONS, ((line, (row.condition_id,)) for line, row in stored.conditions)),
        (folder / layout.EVIDENCE, ((row.line, (row.condition_id, row.doc_id)) for row in stored.evidence.items())),
        (benchmark / layout.QUERIES, ((line, (row.query_id,)) for line, row in stored.queries)),
        (benchmark / layout.QRELS, ((line, (row.query_id, row.doc_id)) for line, row in stored.qrels)),
    ):
        check_order(keys, build.relative(path), out)
    for one in stored.later:
        folder = build.version(one.number)
        check_order(
            ((row.line, (row.condition_id, row.doc_id)) for row in one.evidence.items()),
            build.relative(folder / layout.EVIDENCE),
            out,
        )
    _check_digests(build, [version, *(one.version for one in stored.later)], meta, out)
    return stored


def _check_digests(build: Build, versions: Sequence[InventoryVersion], meta: QrelsMeta, out: Findings) -> None:
    """Compare every file with the digests that version.json and qrels.meta.json record; each must record its own."""
    benchmark = build.benchmark
    recorded: list[tuple[Path, str | None, Path]] = []
    for number, version in enumerate(versions):
        folder = build.version(number)
        own = {name: version.digests.get(name) for name in (layout.CONDITIONS, layout.EVIDENCE)}
        if number:
            own[layout.DECISIONS] = version.digests.get(layout.DECISIONS)
        recorded += [
            (folder / name, digest, folder / layout.VERSION) for name, digest in sorted((own | version.digests).items())
        ]
    folder = build.version(meta.inventory_version)
    recorded += [(folder / name, digest, benchmark / layout.META) for name, digest in meta.inventory_digests.items()]
    recorded.append((benchmark / layout.QRELS, meta.qrels_sha256, benchmark / layout.META))
    for path, digest, recorder in recorded:
        if not path.is_file():
            out.add("file-missing", f"{build.relative(recorder)} records its digest", path=build.relative(path))
        elif (now := sha256_file(path)) != digest:
            message = f"{build.relative(recorder)} records {digest or 'no digest'}, the file has {now}"
            out.add("digest-differs", message, path=build.relative(path))


def _read_documents(build: Build, unreadable: Findings, out: Findings) -> dict[str, DocumentFacts]:
    """The documents of the benchmark's corpus, sorted by id; the corpus rows and the outcomes must agree on them."""
    advice = run_first("extract")
    rows = list(read_numbered(build.documents, CorpusRow, found=unreadable, advice=advice))
    outcomes = [
        (line, row)
        for line, row in read_numbered(build.quality, QUALITY_ROW, found=unreadable, advice=advice)
        if isinstance(row, DocumentQuality)
    ]
    return check_documents(rows, outcomes, build.relative(build.documents), build.relative(build.quality), out)
