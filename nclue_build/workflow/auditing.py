"""The steps of an audit up to its decisions: packet and key, what came back, agreement, queue, pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import numpy as np
from pydantic import Field, TypeAdapter

from nclue_build.audit.agreement import agreement, from_confusion, second_round
from nclue_build.audit.policy import make_queue
from nclue_build.audit.pool import pool, routes
from nclue_build.audit.sampling import Candidate, draw
from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.findings import Findings
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.records.audit import (
    AskedCondition,
    ConditionRubric,
    Key,
    KeyItem,
    Packet,
    PacketItem,
    PoolReport,
    PoolRow,
)
from nclue_build.records.base import MAX_INT32
from nclue_build.records.benchmark import Qrel
from nclue_build.records.inventory import Rubric
from nclue_build.store import layout
from nclue_build.store.jsonl import read_json_as, read_jsonl, read_numbered, write_json
from nclue_build.workflow.audit_files import (
    ADJUDICATION,
    ADJUDICATION_PACKET,
    KEY,
    PACKET,
    POOL,
    QUEUE,
    RESPONSES,
    Files,
    need_two,
)

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.records.audit import Agreement, Queue
    from nclue_build.store.workspace import Workspace
    from nclue_build.workflow.audit_files import Material

_AT_6, _AT_9 = 6, 9
_TABLE: Final = TypeAdapter(list[list[Annotated[int, Field(strict=True, ge=0, le=MAX_INT32)]]])


def draw_audit(  # noqa: PLR0913 - the options of `nclue-build audit sample`
    folder: Path,
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    size: int = 300,
    zero: int = 0,
    seed: int = 11,
    rubrics: Path | None = None,
) -> tuple[Packet, Key]:
    """Draw pairs and write ``packet.json`` and ``key.json``.

    Judged pairs are stratified by source, n and gold or subset; zero pairs, drawn apart, are of documents that have no
    condition of their query.

    Args:
        folder: Of the audit.
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        size: Judged pairs, at most.
        zero: Pairs of grade 0, at most.
        seed: Of the draw.
        rubrics: What counts for conditions and what does not, instead of what their judge wrote.

    Raises:
        UsageError: the folder has a packet already, or the build knows no pages.
        DataError: there is no benchmark yet, or the file of rubrics has bad rows.
    """
    files = Files.find(folder, workspace, build)
    if (folder / PACKET).exists():
        raise UsageError(f"{folder} holds an audit already: name another folder")
    material = files.material
    written = {key: row.rubric for key, row in material.conditions.items()} | _rubrics(rubrics, material)
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
                rubric=written[one.condition_id],
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
    packet = Packet(items=tuple(items))
    # The packet says that an audit is here, so it comes last: a draw that was cut short can be made again.
    write_json(folder / KEY, key)
    write_json(folder / PACKET, packet)
    return packet, key


def _rubrics(path: Path | None, material: Material) -> dict[str, Rubric]:
    """A file of rubrics, by condition."""
    found, rows = Findings(), {}
    for line, row in read_numbered(path, ConditionRubric, found=found, by_hand=True) if path is not None else ():
        if row.condition_id not in material.conditions:
            message = f"the inventory has no condition {row.condition_id!r}"
            found.add("unknown-condition", message, path=str(path), line=line, id=row.condition_id)
        elif row.condition_id in rows:
            message = f"{row.condition_id} has a rubric already"
            found.add("duplicate-condition", message, path=str(path), line=line, id=row.condition_id)
        else:
            rows[row.condition_id] = Rubric.model_validate(row.model_dump(exclude={"condition_id"}))
    found.raise_any()
    return rows


class Imported(NamedTuple):
    """What is to be said of the responses of both rounds."""

    evaluators: dict[str, list[str]]
    collapsed: list[str]
    answers: int
    quotes: int
    findings: tuple[Finding, ...]


def check_responses(folder: Path, workspace: Workspace | Path | None = None, build: str | None = None) -> Imported:
    """Check every response that lies in the folder against its packet and the pages.

    Raises:
        DataError: there is no packet, or one of another audit, draw or queue.
    """
    files = Files.find(folder, workspace, build)
    evaluators: dict[str, list[str]] = {}
    collapsed: list[str] = []
    found = Findings()
    answers = quotes = 0
    rounds = {RESPONSES: files.drawn[0]}
    if (folder / ADJUDICATION_PACKET).is_file():
        rounds[ADJUDICATION] = files.asked_again()
    for name, packet in rounds.items():
        kept, left_out, wrong = files.responses(name, packet)
        evaluators[name], collapsed = [row.evaluator for row in kept], [*collapsed, *left_out]
        answers += sum(len(row.answers) for row in kept)
        quotes += sum(len(answer.quotes) for row in kept for answer in row.answers)
        found.merge(wrong)
    return Imported(evaluators, collapsed, answers, quotes, tuple(found.kept))


class Scored(NamedTuple):
    """Agreement, and what keeps the second round from being counted."""

    agreement: Agreement
    unfinished: tuple[Finding, ...]


def score_audit(
    folder: Path, workspace: Workspace | Path | None = None, build: str | None = None, *, seed: int = 11
) -> Scored:
    """Agreement of the first round, and of the second where its responses are whole.

    Raises:
        DataError: a response of the first round is not whole, or a packet is of another audit, draw or queue.
        UsageError: fewer than two evaluators whose answers differ.
    """
    files = Files.find(folder, workspace, build)
    packet, key = files.drawn
    kept, left_out, found = files.responses(RESPONSES, packet)
    found.raise_any()
    need_two(kept, left_out)
    scored = agreement(kept, {item.item_id: item.stratum for item in key.items}, left_out, seed)
    if not (folder / ADJUDICATION_PACKET).is_file():
        return Scored(scored, ())
    asked = files.asked_again()
    again, copies, wrong = files.responses(ADJUDICATION, asked)
    if asked.items and again and not wrong.total:
        second = second_round(again, copies, [*scored.evaluators, *left_out])
        scored = scored.model_copy(update={"adjudication": second})
    return Scored(scored, tuple(wrong.kept))


def score_confusion(path: Path, seed: int = 11) -> Agreement:
    """Agreement of a confusion table alone: a JSON list of rows, square.

    Raises:
        DataError: it is no square table of counts, or holds none.
    """
    rows = read_json_as(path, _TABLE)
    if not rows or any(len(row) != len(rows) for row in rows) or not any(map(sum, rows)):
        message = f"expected a square table of counts: {len(rows)} rows need {len(rows)} counts each, not all 0"
        raise DataError.from_findings([Finding("bad-record", message, str(path))])
    return from_confusion(np.array(rows, dtype=np.int64), seed)


def queue_audit(folder: Path, workspace: Workspace | Path | None = None, build: str | None = None) -> Queue:
    """Apply the policy to the first round and write ``queue.json``."""
    queue = make_queue(Files.find(folder, workspace, build).first_round())
    write_json(folder / QUEUE, queue)
    return queue


def pool_audit(folder: Path, workspace: Workspace | Path | None = None, build: str | None = None) -> PoolReport:
    """Make the pools of all open conditions; write ``adjudication.json`` and ``pool.json``."""
    files = Files.find(folder, workspace, build)
    audit, material = files.first_round(), files.material
    queue = files.queue(audit)
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
