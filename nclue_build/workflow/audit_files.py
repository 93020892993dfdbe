"""The files of an audit's folder, and the build it is of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from nclue_build.audit.policy import Round, by_place, make_queue
from nclue_build.audit.pool import pool, routes
from nclue_build.audit.responses import check_response, collapse
from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.findings import Findings
from nclue_build.core.printable import escaped, printable_problem
from nclue_build.inventory.page_text import page_readings
from nclue_build.records.audit import Key, Packet, Queue, Response
from nclue_build.records.benchmark import Query
from nclue_build.records.inventory import Condition, InventoryVersion
from nclue_build.store import layout
from nclue_build.store.jsonl import read_json, read_jsonl, run_first
from nclue_build.store.pages import read_pages
from nclue_build.store.workspace import find_build
from nclue_build.workflow.outdated import outdated_benchmark
from nclue_build.workflow.receipts import Digests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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


class Material:
    """The build that is audited; page texts are read once a document."""

    def __init__(self, build: Build) -> None:
        """Read what is small.

        Raises:
            UsageError: the build knows no pages, or its benchmark does not follow from the inventory beside it.
            DataError: there is no benchmark yet.
        """
        self.build = build
        benchmark, newest = build.benchmark, build.version(max(build.versions(), default=0))
        advice = run_first("run")
        version = read_json(newest / layout.VERSION, InventoryVersion, advice=advice)
        if version.level == "document":
            raise UsageError(f"build {build.name!r} knows no pages: there is nothing to show to people")
        if (outdated := outdated_benchmark(build, Digests())) is not None:
            raise UsageError(outdated.message)
        self.queries = {row.query_id: row for row in read_jsonl(benchmark / layout.QUERIES, Query, advice=advice)}
        self.conditions = {row.condition_id: row for row in read_jsonl(newest / layout.CONDITIONS, Condition)}
        self.roles = version.allowed_roles
        self._texts: dict[str, dict[int, tuple[str, ...]]] = {}

    def texts(self, doc_id: str) -> dict[int, tuple[str, ...]]:
        """The readings of every page of a document."""
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


@dataclass(frozen=True)
class Files:
    """An audit's folder and the build it is of; what several steps of a verb need is read once."""

    build: Build
    folder: Path

    @classmethod
    def find(cls, folder: Path, workspace: Workspace | Path | None, build: str | None) -> Files:
        """Find the build."""
        return cls(find_build(workspace, build), folder)

    @cached_property
    def material(self) -> Material:
        """The build that is audited."""
        return Material(self.build)

    @cached_property
    def drawn(self) -> tuple[Packet, Key]:
        """``packet.json`` and ``key.json``.

        Raises:
            DataError: one is missing or broken, they are of two draws, or the benchmark is no longer the one that was
                sampled.
        """
        advice, path = run_first("audit sample"), self.folder / KEY
        packet, key = read_json(self.folder / PACKET, Packet, advice=advice), read_json(path, Key, advice=advice)
        if sha256_file(self.build.benchmark / layout.QRELS) != key.qrels_sha256:
            message = "the benchmark is not the one this audit was drawn from"
            raise DataError.from_findings([Finding("digest-differs", message, str(path))])
        queries = {
            row.query_id: tuple(condition.condition_id for condition in row.conditions)
            for row in read_jsonl(self.build.benchmark / layout.QUERIES, Query)
        }
        asked = [(item.item_id, tuple(one.condition_id for one in item.conditions)) for item in packet.items]
        known = [(item.item_id, queries.get(item.query_id, ())) for item in key.items]
        if asked != known or any(len(item.pages) != len(own) for item, (_, own) in zip(key.items, known, strict=True)):
            message = f"{PACKET} beside it is of another draw: restore the two that belong together"
            raise DataError.from_findings([Finding("bad-record", message, str(path))])
        return packet, key

    def responses(self, folder: str, packet: Packet) -> tuple[list[Response], list[str], Findings]:
        """All responses of a folder: those that are no copies, the copies' evaluators, and what is wrong with them."""
        material, found = self.material, Findings()
        documents = {item.item_id: item.doc_id for item in self.drawn[1].items}
        rows: dict[str, Response] = {}
        for path in self._response_files(folder, found):
            try:
                row = read_json(path, Response, by_hand=True)
            except DataError as error:
                found.extend(error.findings)
                continue
            if row.evaluator in rows:
                message = (
                    f"{row.evaluator} has another file in {folder}: keep one of them, or name the second evaluator"
                )
                found.add("bad-response", message, path=str(path), id=row.evaluator)
                continue
            rows[row.evaluator] = row
            check_response(
                row, packet, lambda item, page: material.texts(documents[item]).get(page, ()), str(path), found
            )
        kept, left_out = collapse(list(rows.values()))
        return kept, left_out, found

    def _response_files(self, folder: str, found: Findings) -> Iterator[Path]:
        """Every JSON file of a folder; whatever else lies there is said, but for hidden files."""
        place = self.folder / folder
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.name.startswith("."):
                continue
            if (unprintable := printable_problem(path.name)) is not None:
                problem = f"its name {unprintable}"
            elif path.suffix.lower() != ".json" or not path.is_file():
                problem = "is no JSON file"
            else:
                yield path
                continue
            found.add("bad-response", f"{problem}: only responses belong here", path=escaped(str(path)))

    def first_round(self) -> Round:
        """Packet, key, and the answers of the two evaluators.

        Raises:
            DataError: a response is not whole.
            UsageError: there are fewer or more than two evaluators whose answers differ.
        """
        packet, key = self.drawn
        kept, left_out, found = self.responses(RESPONSES, packet)
        found.raise_any()
        need_two(kept, left_out)
        if len(kept) > 2:  # noqa: PLR2004 - the policy is about two
            names = ", ".join(row.evaluator for row in kept)
            raise UsageError(
                f"the policy is for two evaluators, and {self.folder / RESPONSES} has {len(kept)}: {names}. "
                "'nclue-build audit score' compares all; move the others out of the folder for the rest"
            )
        one, two = kept
        return Round(packet, key, by_place(one), by_place(two), (one.evaluator, two.evaluator))

    def queue(self, audit: Round) -> Queue:
        """``queue.json``.

        Raises:
            DataError: it is missing or broken, or the responses have changed since.
        """
        path = self.folder / QUEUE
        queue = read_json(path, Queue, advice=run_first("audit queue"))
        if queue != make_queue(audit):
            message = "the responses give another queue: run 'nclue-build audit queue' again, and what follows it"
            raise DataError.from_findings([Finding("stale-stage", message, str(path))])
        return queue

    def adjudicated(self, queue: Queue) -> Packet:
        """``adjudication.json``.

        Raises:
            DataError: it is missing or broken, or was made for another queue.
        """
        path = self.folder / ADJUDICATION_PACKET
        packet = read_json(path, Packet, advice=run_first("audit pool"))
        asked = [(item.item_id, tuple(one.condition_id for one in item.conditions)) for item in packet.items]
        if asked != [(item.item_id, item.open) for item in queue.queued]:
            message = f"it was made for another {QUEUE}: run 'nclue-build audit pool' again"
            raise DataError.from_findings([Finding("stale-stage", message, str(path))])
        return packet

    def asked_again(self) -> Packet:
        """``adjudication.json`` for steps that need no queue; where there is one, the packet has to be of it.

        Raises:
            DataError: it is broken, or was made for another queue or another audit.
        """
        path = self.folder / QUEUE
        if path.exists():
            packet = self.adjudicated(read_json(path, Queue))
        else:
            packet = read_json(self.folder / ADJUDICATION_PACKET, Packet)
        first = {
            (item.item_id, item.query, one.condition_id) for item in self.drawn[0].items for one in item.conditions
        }
        if not first.issuperset(
            (item.item_id, item.query, one.condition_id) for item in packet.items for one in item.conditions
        ):
            message = f"{PACKET} does not ask what it asks again: run 'nclue-build audit queue', then 'audit pool'"
            raise DataError.from_findings([Finding("stale-stage", message, str(self.folder / ADJUDICATION_PACKET))])
        return packet


def need_two(kept: Sequence[Response], left_out: Sequence[str]) -> None:
    """Refuse fewer than two evaluators whose answers differ.

    Raises:
        UsageError: as said.
    """
    if len(kept) < 2:  # noqa: PLR2004 - agreement takes two
        copies = f" ({', '.join(left_out)} only repeat another)" if left_out else ""
        raise UsageError(f"an audit takes the responses of two evaluators, there are {len(kept)}{copies}")
