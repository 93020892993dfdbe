"""The steps of an audit over a folder of files: packet, key, responses, queue, pools, decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import orjson

from nclue_build.audit.agreement import agreement, from_confusion
from nclue_build.audit.policy import Adjudicated, Round, by_place, decide, make_queue
from nclue_build.audit.pool import pool, routes
from nclue_build.audit.responses import check_response, collapse
from nclue_build.audit.sampling import Candidate, draw
from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.findings import Findings
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.inventory.page_text import page_readings
from nclue_build.records.audit import (
    AskedCondition,
    Key,
    KeyItem,
    Override,
    Packet,
    PacketItem,
    PoolReport,
    PoolRow,
    Queue,
    Response,
)
from nclue_build.records.benchmark import Qrel, Query
from nclue_build.records.inventory import Condition, InventoryVersion
from nclue_build.store import layout
from nclue_build.store.jsonl import read_json, read_jsonl, run_first, write_json, write_jsonl
from nclue_build.store.pages import read_pages
from nclue_build.store.workspace import find_build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.records.audit import Agreement
    from nclue_build.records.repair import Decision
    from nclue_build.store.workspace import Build, Workspace

PACKET: Final = "packet.json"
KEY: Final = "key.json"
RESPONSES: Final = "responses"
QUEUE: Final = "queue.json"
ADJUDICATION_PACKET: Final = "adjudication.json"
ADJUDICATION: Final = "adjudication"
POOL: Final = "pool.json"
OVERRIDES: Final = "overrides.jsonl"
SHOWN_PAGES: Final = 3
_AT_6, _AT_9 = 6, 9


class _Material:
    """The build that is audited; page texts are read once a document."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.queries = {
            row.query_id: row for row in read_jsonl(build.benchmark / layout.QUERIES, Query, advice=run_first("run"))
        }
        newest = build.version(build.versions()[-1])
        self.conditions = {row.condition_id: row for row in read_jsonl(newest / layout.CONDITIONS, Condition)}
        self.roles = read_json(newest / layout.VERSION, InventoryVersion).allowed_roles
        self._texts: dict[str, dict[int, tuple[str, ...]]] = {}

    def texts(self, doc_id: str) -> dict[int, tuple[str, ...]]:
        if doc_id not in self._texts:
            pages = read_pages(self.build.page_file(doc_id))
            self._texts[doc_id] = {page.page: page_readings(page, self.roles) for page in pages}
        return self._texts[doc_id]

    def shown(self, condition_id: str, doc_id: str, pages: Sequence[int]) -> tuple[int, ...]:
        """The pages of the first round: of the construction and of the other routes, in the order of their numbers."""
        texts = self.texts(doc_id)
        found = routes(self.conditions[condition_id], texts, construction=pages)
        ranked = list(dict.fromkeys([*pages[:2], *pool(found, texts), *sorted(texts)]))
        return tuple(sorted(ranked[:SHOWN_PAGES]))


class Files(NamedTuple):
    """An audit's folder and the build it is of."""

    build: Build
    folder: Path

    @classmethod
    def find(cls, folder: Path, workspace: Workspace | Path | None, build: str | None) -> Files:
        """Find the build."""
        return cls(find_build(workspace, build), folder)

    def key(self) -> Key:
        """``key.json``.

        Raises:
            DataError: it is missing or broken, or the benchmark is no longer the one that was sampled.
        """
        key = read_json(self.folder / KEY, Key, advice=run_first("audit sample"))
        if sha256_file(self.build.benchmark / layout.QRELS) != key.qrels_sha256:
            message = "the benchmark is not the one this audit was drawn from"
            raise DataError.from_findings([Finding("digest-differs", message, str(self.folder / KEY))])
        return key

    def responses(self, folder: str, packet: Packet) -> tuple[list[Response], list[str], Findings]:
        """All responses of a folder: those that are no copies, the copies' evaluators, and what is wrong with them."""
        paths = sorted((self.folder / folder).glob("*.json"))
        rows = [(path, read_json(path, Response)) for path in paths]
        material, found = _Material(self.build), Findings()
        documents = {item.item_id: item.doc_id for item in self.key().items}
        for path, row in rows:
            check_response(
                row, packet, lambda item, page: material.texts(documents[item]).get(page, ()), str(path), found
            )
        kept, left_out = collapse([row for _, row in rows])
        return kept, left_out, found


def draw_audit(
    folder: Path,
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    size: int = 300,
    zero: int = 0,
    seed: int = 11,
) -> Key:
    """Draw pairs and write ``packet.json`` and ``key.json``.

    Judged pairs are stratified by source, n and gold or subset; zero pairs, drawn apart, are of documents that have no
    condition of their query.

    Raises:
        UsageError: the folder has a packet already.
    """
    files = Files.find(folder, workspace, build)
    if (folder / PACKET).exists():
        raise UsageError(f"{folder} holds an audit already: name another folder")
    material = _Material(files.build)
    sources = {row.doc_id: row.source for row in benchmark_documents(files.build.quality)}
    qrels = {(row.query_id, row.doc_id): row for row in read_jsonl(files.build.benchmark / layout.QRELS, Qrel)}
    judged = [
        Candidate(query_id, doc_id, f"{sources[doc_id]} n{len(row.pages)} {'gold' if row.gold else 'subset'}")
        for (query_id, doc_id), row in qrels.items()
    ]
    drawn = draw(judged, size, seed)
    if zero:
        absent = [
            Candidate(query_id, doc_id, f"{sources[doc_id]} n{query.n} zero")
            for query_id, query in material.queries.items()
            for doc_id in sources
            if (query_id, doc_id) not in qrels
        ]
        drawn += draw(absent, zero, seed)
    items: list[PacketItem] = []
    keys: list[KeyItem] = []
    for number, ((query_id, doc_id, stratum), count, available) in enumerate(drawn, start=1):
        item_id, query, row = f"A{number:04}", material.queries[query_id], qrels.get((query_id, doc_id))
        pages = tuple(() for _ in query.conditions) if row is None else row.pages
        asked = tuple(
            AskedCondition(
                condition_id=one.condition_id,
                name=one.name,
                pages=material.shown(one.condition_id, doc_id, known),
            )
            for one, known in zip(query.conditions, pages, strict=True)
        )
        items.append(PacketItem(item_id=item_id, query=query.forms.clean_v2, conditions=asked))
        keys.append(
            KeyItem(
                item_id=item_id, query_id=query_id, doc_id=doc_id, grade=0 if row is None else row.grade,
                gold=row is not None and row.gold, stratum=stratum, drawn=count, available=available, pages=pages,
            )
        )  # fmt: skip
    key = Key(seed=seed, qrels_sha256=sha256_file(files.build.benchmark / layout.QRELS), items=tuple(keys))
    write_json(folder / PACKET, Packet(items=tuple(items)))
    write_json(folder / KEY, key)
    return key


class Imported(NamedTuple):
    """What is to be said of the responses of both rounds."""

    evaluators: dict[str, list[str]]
    collapsed: list[str]
    answers: int
    quotes: int
    findings: tuple[Finding, ...]


def check_responses(folder: Path, workspace: Workspace | Path | None = None, build: str | None = None) -> Imported:
    """Check every response that lies in the folder against its packet and the pages."""
    files = Files.find(folder, workspace, build)
    evaluators: dict[str, list[str]] = {}
    collapsed: list[str] = []
    found = Findings()
    answers = quotes = 0
    for name, packet in ((RESPONSES, PACKET), (ADJUDICATION, ADJUDICATION_PACKET)):
        if (folder / packet).is_file():
            kept, left_out, wrong = files.responses(name, read_json(folder / packet, Packet))
            evaluators[name], collapsed = [row.evaluator for row in kept], [*collapsed, *left_out]
            answers += sum(len(row.answers) for row in kept)
            quotes += sum(len(answer.quotes) for row in kept for answer in row.answers)
            found.merge(wrong)
    return Imported(evaluators, collapsed, answers, quotes, tuple(found.kept))


def score_audit(
    folder: Path, workspace: Workspace | Path | None = None, build: str | None = None, *, seed: int = 11
) -> Agreement:
    """Agreement of the first round.

    Raises:
        DataError: a response is not whole.
        UsageError: fewer than two evaluators whose answers differ.
    """
    files = Files.find(folder, workspace, build)
    key = files.key()
    kept, left_out, found = files.responses(RESPONSES, read_json(folder / PACKET, Packet))
    found.raise_any()
    _need_two(kept, left_out)
    return agreement(kept, {item.item_id: item.stratum for item in key.items}, left_out, seed)


def score_confusion(path: Path, seed: int = 11) -> Agreement:
    """Agreement of a confusion table alone: a JSON list of rows.

    Raises:
        UsageError: it is no square table of counts.
    """
    try:
        rows = orjson.loads(path.read_bytes())
        table = np.array(rows, dtype=np.int64)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path}: {error}") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (table < 0).any() or not table.sum():  # noqa: PLR2004
        raise UsageError(f"{path}: expected a square list of lists of counts")
    return from_confusion(table, seed)


def _need_two(kept: Sequence[Response], left_out: Sequence[str]) -> None:
    if len(kept) < 2:  # noqa: PLR2004 - agreement takes two
        copies = f" ({', '.join(left_out)} only repeat another)" if left_out else ""
        raise UsageError(f"an audit takes the responses of two evaluators, there are {len(kept)}{copies}")


def _first_round(files: Files) -> Round:
    packet = read_json(files.folder / PACKET, Packet, advice=run_first("audit sample"))
    kept, left_out, found = files.responses(RESPONSES, packet)
    found.raise_any()
    _need_two(kept, left_out)
    one, two = kept[:2]
    return Round(packet, files.key(), by_place(one), by_place(two), (one.evaluator, two.evaluator))


def queue_audit(folder: Path, workspace: Workspace | Path | None = None, build: str | None = None) -> Queue:
    """Apply the policy to the first round and write ``queue.json``."""
    queue = make_queue(_first_round(Files.find(folder, workspace, build)))
    write_json(folder / QUEUE, queue)
    return queue


def pool_audit(folder: Path, workspace: Workspace | Path | None = None, build: str | None = None) -> PoolReport:
    """Make the pools of all open conditions; write ``adjudication.json`` and ``pool.json``."""
    files = Files.find(folder, workspace, build)
    audit, material = _first_round(files), _Material(files.build)
    queue = read_json(folder / QUEUE, Queue, advice=run_first("audit queue"))
    keys = {item.item_id: item for item in audit.key.items}
    items = {item.item_id: item for item in audit.packet.items}
    asked: list[PacketItem] = []
    pools: list[PoolRow] = []
    members: dict[str, int] = {}
    locked: list[tuple[int | None, ...]] = []
    for entry in queue.queued:
        item, known = items[entry.item_id], keys[entry.item_id]
        texts = material.texts(known.doc_id)
        conditions: list[AskedCondition] = []
        for index, one in enumerate(item.conditions):
            place = (item.item_id, one.condition_id)
            selected = sorted({*audit.first[place].pages, *audit.second[place].pages})
            condition = material.conditions[one.condition_id]
            if one.condition_id in entry.locked:
                held_out = pool(routes(condition, texts, construction=known.pages[index]), texts)
                ranks = [held_out.index(page) + 1 for page in selected if page in held_out]
                locked.append((min(ranks, default=None),))
                continue
            found = routes(condition, texts, original=one.pages, selected=selected, construction=known.pages[index])
            pages = pool(found, texts)
            inside = {name: tuple(page for page in ranked if page in pages) for name, ranked in found.items()}
            for name, ranked in inside.items():
                members[name] = members.get(name, 0) + len(ranked)
            pools.append(
                PoolRow(
                    item_id=item.item_id,
                    condition_id=one.condition_id,
                    pages=pages,
                    routes={str(name): ranked for name, ranked in inside.items()},
                )
            )
            conditions.append(one.model_copy(update={"pages": pages}))
        asked.append(item.model_copy(update={"conditions": tuple(conditions)}))
    ranks_found = [rank for (rank,) in locked if rank is not None]
    report = PoolReport(
        pools=tuple(pools),
        members=dict(sorted(members.items())),
        contexts=sum(len(row.pages) for row in pools),
        locked=len(locked),
        recalled_at_6=sum(rank <= _AT_6 for rank in ranks_found),
        recalled_at_9=sum(rank <= _AT_9 for rank in ranks_found),
    )
    write_json(folder / ADJUDICATION_PACKET, Packet(items=tuple(asked)))
    write_json(folder / POOL, report)
    return report


def decide_audit(
    folder: Path, out: Path, workspace: Workspace | Path | None = None, build: str | None = None
) -> list[Decision]:
    """Turn the answers of both rounds into ``decisions.jsonl``.

    Raises:
        UsageError: pairs are queued, and nobody has answered the adjudication packet.
        DataError: a response is not whole, or an override names nothing that was asked.
    """
    files = Files.find(folder, workspace, build)
    audit = _first_round(files)
    queue = read_json(folder / QUEUE, Queue, advice=run_first("audit queue"))
    second: Adjudicated | None = None
    if queue.queued:
        packet = read_json(folder / ADJUDICATION_PACKET, Packet, advice=run_first("audit pool"))
        kept, _, found = files.responses(ADJUDICATION, packet)
        found.raise_any()
        if not kept:
            raise UsageError(f"{len(queue.queued)} pairs are queued, and {folder / ADJUDICATION} holds no responses")
        overrides = _overrides(files, packet)
        second = Adjudicated(packet, [by_place(row) for row in kept], [row.evaluator for row in kept], overrides)
    decisions = sorted(decide(audit, queue, second), key=lambda row: row.decision_id)
    write_jsonl(out, decisions)
    return decisions


def _overrides(files: Files, packet: Packet) -> Mapping[tuple[str, str], Override]:
    path = files.folder / OVERRIDES
    if not path.is_file():
        return {}
    rows = list(read_jsonl(path, Override))
    asked = {(item.item_id, one.condition_id) for item in packet.items for one in item.conditions}
    found = Findings()
    for row in rows:
        if (row.item_id, row.condition_id) not in asked:
            found.add(
                "bad-response", f"{row.item_id}, {row.condition_id}: was not asked", path=str(path), id=row.item_id
            )
        if row.present != bool(row.quotes):
            found.add(
                "bad-response",
                "an override to present needs quotes, to absent has none",
                path=str(path),
                id=row.item_id,
            )
    found.raise_any()
    return {(row.item_id, row.condition_id): row for row in rows}
