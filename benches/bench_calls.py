"""Recorded calls at size: opening, looking up, verifying, appending, and a replay of item calls from end to end.

python benches/bench_calls.py [RECORDS] [ITEM_CALLS]
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ != "__mp_main__":  # workers begin with this file, as they begin with the program, which imports little
    import numpy as np

    from nclue_build.calls.answering import Answer
    from nclue_build.calls.cache import CallCache
    from nclue_build.calls.key import call_key
    from nclue_build.calls.line import encode_line
    from nclue_build.calls.places import CallPlaces
    from nclue_build.calls.segment import Segment
    from nclue_build.calls.session import Calls
    from nclue_build.calls.verify import verify_calls
    from nclue_build.compose.item_calls import ItemCalls
    from nclue_build.compose.needs import Need
    from nclue_build.core.canonical import sha256_bytes
    from nclue_build.core.progress import NullProgress
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.calls import CallRequest, Message, Provenance
    from nclue_build.records.config import BuildConfig
    from nclue_build.records.corpus import Block, PageRow
    from nclue_build.records.inventory import Alias, Condition, EvidenceRow, Verdict
    from nclue_build.store.jsonl import write_jsonl
    from nclue_build.store.prompts import ITEM_PROMPT, read_prompt
    from nclue_build.store.stage import StageContext
    from nclue_build.store.workspace import Build, Workspace
    from nclue_build.workflow.executors import LocalMapper

    BY = Provenance(answered_by="a bench: no model and no person")

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPOSITORY = Path(__file__).parent.parent
RANDOM = random.Random(5)  # noqa: S311 - made-up text
WORDS = ["wetland", "budget", "river", "office", "programme", "safety", "report", "energy", "council", "annual", "and"]
REPLY = '{"verdict": "REJECT", "reason": "made up", "rubric": null}'


def words(count: int) -> str:
    """So many words."""
    return " ".join(RANDOM.choices(WORDS, k=count))


def request(number: int) -> CallRequest:
    """A cluster call of about 4 KB."""
    return CallRequest(
        profile="anthropic-compatible", model="glm-5.2", prompt_id="cluster", prompt_version=1, prompt_sha256="ab" * 32,
        system=words(250), messages=(Message(role="user", content=f"Name: number {number}\n{words(250)}"),),
        max_tokens=700, thinking="disabled", sampling={}, reply_schema="cluster/1", attempt=0,
    )  # fmt: skip


def response(text: str) -> bytes:
    """A message with one text."""
    content = [{"type": "text", "text": text}]
    return json.dumps({"type": "message", "content": content, "stop_reason": "end_turn"}).encode("utf-8")


def bench_store(places: CallPlaces, n_records: int) -> None:
    """Open, look up and verify so many records; append some."""
    shards: dict[Path, list[bytes]] = defaultdict(list)
    sample: list[CallRequest] = []
    for number in range(n_records):
        asked = request(number)
        line = encode_line(asked, "ok", response(REPLY), BY)
        shards[places.shard("cluster", line[8:72].decode("ascii"))].append(line)
        if number % max(1, n_records // 2000) == 0:
            sample.append(asked)
    for path, lines in shards.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in sorted(lines)))
    size_mb = sum(path.stat().st_size for path in shards) / 1e6
    keys = [call_key(asked) for asked in sample]
    began, began_cpu = time.perf_counter(), time.process_time()
    cache = CallCache(places)
    cache.find("cluster", "0" * 64)
    opened, opened_cpu = time.perf_counter(), time.process_time()
    times = []
    for key in keys:
        start = time.perf_counter()
        if cache.find("cluster", key) is None:
            raise SystemExit(f"{key} is gone")
        times.append(time.perf_counter() - start)
    looked, looked_cpu = time.perf_counter(), time.process_time()
    seen = verify_calls(places)
    verified, verified_cpu = time.perf_counter(), time.process_time()
    if seen.found.total or seen.records != n_records:
        raise SystemExit("verification failed")
    with Segment(CallPlaces(places.build, 2)) as segment:
        start = time.perf_counter()
        for asked in sample[:200]:
            segment.append(asked, "ok", response(REPLY), BY)
        appended_ms = 1000 * (time.perf_counter() - start) / 200
    synced_ms = disk_ms(places.build.workspace.root)
    print(f"{n_records} records, {size_mb:.0f} MB in {len(shards)} files")
    print(f"  open                {opened - began:8.2f} s, {opened_cpu - began_cpu:.2f} s of a processor")
    mean_ms, median_ms = 1000 * (looked - opened) / len(keys), 1000 * sorted(times)[len(times) // 2]
    cpu_ms = 1000 * (looked_cpu - opened_cpu) / len(keys)
    print(f"  verified lookup     {mean_ms:8.3f} ms mean, {median_ms:.3f} ms median, {cpu_ms:.3f} ms of a processor")
    print(f"  verify everything   {verified - looked:8.2f} s, {verified_cpu - looked_cpu:.2f} s of a processor")
    print(f"  fsynced append      {appended_ms:8.3f} ms, of which the disk takes about {synced_ms:.3f} ms by itself")


def disk_ms(folder: Path) -> float:
    """What appending so much and fsync take without anything of ours, in milliseconds."""
    file = os.open(folder / "disk", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    start = time.perf_counter()
    for _ in range(200):
        os.write(file, b"x" * 4500)
        os.fsync(file)
    took = time.perf_counter() - start
    os.close(file)
    return 1000 * took / 200


def processor_s() -> float:
    """Processor time of this process and of its ended children, in seconds."""
    return sum(os.times()[:4])


N_DOCUMENTS, N_PAGES, N_CONDITIONS = 400, 12, 60


def make_build(workspace: Path) -> tuple[Build, Inventory, list[Condition]]:
    """Documents with 60 conditions spread over their pages."""
    build = Build(Workspace(workspace), "items")
    names = [f"concept {chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(N_CONDITIONS)]
    ids = [f"d{number:04d}" for number in range(N_DOCUMENTS)]
    rows: list[EvidenceRow] = []
    for doc_id in ids:
        pages: list[PageRow] = []
        places: dict[int, list[int]] = defaultdict(list)
        for page in range(1, N_PAGES + 1):
            here = sorted(RANDOM.sample(range(N_CONDITIONS), 6))
            blocks = [Block(role="text", text=f"{words(40)} {names[index]} {words(40)}") for index in here]
            for index in here:
                places[index].append(page)
            text = "\n".join(block.text for block in blocks)
            pages.append(
                PageRow(
                    doc_id=doc_id, page=page, width=1, height=1, backend="made", backend_version="1", status="ok",
                    blocks=tuple(blocks), text_sha256=sha256_bytes(text.encode("utf-8")),
                )
            )  # fmt: skip
        write_jsonl(build.page_file(doc_id), pages)
        for index, found in sorted(places.items()):
            rows.append(
                EvidenceRow(
                    condition_id=f"c{index:02d}", doc_id=doc_id, pages=tuple(found), mentions=(1,) * len(found),
                    in_heading=(False,) * len(found),
                )
            )  # fmt: skip
    conditions = [
        Condition(
            condition_id=f"c{index:02d}", name=name, document_frequency=1, page_frequency=1,
            aliases=(Alias(form=name, match="folded", document_frequency=1, page_frequency=1),),
            verdict=Verdict(judge="none", reason="none"),
        )
        for index, name in enumerate(names)
    ]  # fmt: skip
    return build, Inventory.from_rows(rows, [row.condition_id for row in conditions], ids), conditions


def make_needs(inventory: Inventory, count: int) -> list[Need]:
    """Pairs of conditions of documents that have both."""
    needs: set[Need] = set()
    while len(needs) < count:
        document = RANDOM.randrange(N_DOCUMENTS)
        pair = sorted(RANDOM.sample(range(N_CONDITIONS), 2))
        found = inventory.find(np.array(pair), np.array(document)).tolist()
        if min(found) >= 0:
            needs.add(Need(document, tuple(pair), tuple(inventory.pages_of(row)[0] for row in found)))
    return sorted(needs, key=lambda need: (need.document, need.conditions))


class Answerer:
    """Finds the line with the form: a bench, no model and no person."""

    def answer(self, requests: Sequence[CallRequest]) -> Iterator[Answer]:
        """One answer per request."""
        for asked in requests:
            text = asked.messages[0].content
            head, _, body = text.partition("Pages of the document:")
            rows: list[dict[str, object]] = []
            for line in head.splitlines():
                if line.startswith("   surface forms: "):
                    form = line.removeprefix("   surface forms: ")
                    found = next(row for row in body.splitlines() if form in row)
                    place = found.index(form)
                    evidence = found[max(0, place - 60) : place + 100].partition(" ")[2].rpartition(" ")[0]
                    rows.append({"id": f"c{len(rows) + 1}", "present": True, "evidence": evidence})
            yield Answer(asked, response(json.dumps({"conditions": rows})), BY)


def bench_replay(workspace: Path, n_calls: int) -> None:
    """Record item calls, then replay them: pages read, prompts rendered, replies looked up and checked."""
    from nclue_build.calls import session  # noqa: PLC0415 - its seam is what is replaced here

    build, inventory, conditions = make_build(workspace)
    needs = make_needs(inventory, n_calls)
    prompt = read_prompt(REPOSITORY / "prompts" / ITEM_PROMPT)
    setattr(session, "live_answerer", lambda *_: Answerer())  # noqa: B010 - a name of another module is replaced
    for mode in ("record", "frozen", "frozen"):
        config = BuildConfig.model_validate(
            {"schema": 1, "corpus": {"pdfs": "none"}, "judge": {"kind": "model"}, "calls": {"mode": mode}}
        )
        began_cpu = processor_s()
        with LocalMapper(2) as mapper:
            context = StageContext(build, config, mapper, NullProgress())
            began = time.perf_counter()
            calls = Calls(build, config.calls, "compose", NullProgress())
            judged = ItemCalls(context, calls, prompt, conditions, inventory, ("text",)).judge(needs)
            took = time.perf_counter() - began
        refused = sum(item.refusal is not None for items in judged.values() for item in items)
        cpu_s = processor_s() - began_cpu
        digest = sha256_bytes(repr(sorted(judged.items(), key=repr)).encode("utf-8"))[:16]
        print(f"{n_calls} item calls, {mode:<7} {took:8.2f} s, {cpu_s:.2f} s of processors", end="   ")
        print(f"({refused} refused, results {digest})")


def main() -> None:
    """Say what it takes."""
    n_records = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    n_calls = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000  # noqa: PLR2004 - the second argument
    with tempfile.TemporaryDirectory() as folder:
        bench_store(CallPlaces(Build(Workspace(Path(folder)), "store"), 1), n_records)
    with tempfile.TemporaryDirectory() as folder:
        bench_replay(Path(folder), n_calls)


if __name__ == "__main__":
    main()
