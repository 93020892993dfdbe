"""The mining stage on a small corpus of pages."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from nclue_build.core.errors import OutcomeError
from nclue_build.core.progress import NullProgress
from nclue_build.mine.stage import Mine
from nclue_build.records.config import BuildConfig
from nclue_build.records.corpus import CorpusRow, DocumentQuality, PageRow
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.stage import StageContext
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from nclue_build.store.stage import Mapper, StageResult

    ItemT = TypeVar("ItemT")
    ResultT = TypeVar("ResultT")

TOPICS = ["groundwater monitoring", "sediment sampling", "procurement delays", "Asset Renewal Fund (ARF)"]
SENTENCES = [
    "Crews praised {topic} in spring. Then {topic} paused; a review of {topic} followed.",
    "Nobody doubted {topic} after the storm. Costs of {topic} fell, and {topic} spread.",
    "Villages asked about {topic} twice. Reports on {topic} differ, yet {topic} goes on.",
    "In the north {topic} began late. A contractor took {topic} over. Was {topic} worth it?",
    "The council debated {topic} for hours. It paid for {topic}. It will extend {topic}.",
    "Engineers wrote on {topic}. Their notes on {topic} were lost before {topic} resumed.",
]


class Threads:
    """A mapper that works in threads of this process."""

    n_workers = 2

    def map(self, function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(function, items)


def build_of(make_page_row: Callable[..., PageRow], root: Path, *, shuffled: bool = False) -> Build:
    build = Build(Workspace(root), "main")
    ids = [f"d{index}" for index in range(len(SENTENCES))]
    quality = [
        DocumentQuality(
            doc_id=doc_id,
            source="s",
            status="ok",
            n_pages=2,
            pages_ok=2,
            pages_empty=0,
            pages_failed=0,
            n_words=50,
            language="en",
            flags=(),
            in_benchmark=True,
            gold_eligible=doc_id != "d5",
            removed=None,
            message=None,
        )
        for doc_id in ids
    ]
    write_jsonl(build.quality, reversed(quality) if shuffled else quality)
    write_jsonl(build.documents, [CorpusRow(doc_id=doc_id, source="s", file_name=f"{doc_id}.pdf") for doc_id in ids])
    for index, doc_id in enumerate(ids):
        topics = [topic for number, topic in enumerate(TOPICS) if (index + number) % 6 < 4]
        pages = [
            make_page_row(*(("text", SENTENCES[index].format(topic=topic)) for topic in topics), doc_id=doc_id),
            make_page_row(
                ("header", "groundwater monitoring"),
                ("text", f"Only {topics[0]} appears here."),
                doc_id=doc_id,
                page=2,
            ),
        ]
        write_jsonl(build.page_file(doc_id), pages)
    return build


@pytest.fixture
def make_build(make_page_row: Callable[..., PageRow]) -> Callable[..., Build]:
    """A small corpus of pages below a folder."""
    return partial(build_of, make_page_row)


def result_of(build: Build, mapper: Mapper, **mine: object) -> StageResult:
    config = BuildConfig.model_validate_json(
        json.dumps({"schema": 1, "corpus": {"pdfs": "x"}, "mine": {"max_document_share": 1.0, **mine}})
    )
    return Mine().run(StageContext(build, config, mapper, NullProgress()))


def run(build: Build, mapper: Mapper, **mine: object) -> dict[str, Any]:
    result_of(build, mapper, **mine)
    rows = [json.loads(line) for line in (build.version(0) / "conditions.jsonl").read_bytes().splitlines()]
    return {condition["name"]: condition for condition in rows}


def files(build: Build) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(build.inventory.rglob("*.jsonl"))}


def test_planted_concepts_are_found_with_their_pages(tmp_path: Path, make_build: Callable[..., Build]) -> None:
    build = make_build(tmp_path)
    found = run(build, LocalMapper(1))
    assert {"groundwater monitoring", "procurement delays", "Asset Renewal Fund"} <= set(found)
    assert {alias["form"] for alias in found["Asset Renewal Fund"]["aliases"]} == {"asset renewal fund", "ARF"}
    evidence = [json.loads(line) for line in (build.version(0) / "evidence.jsonl").read_bytes().splitlines()]
    name = found["groundwater monitoring"]["condition_id"]
    pages = {item["doc_id"]: item["pages"] for item in evidence if item["condition_id"] == name}
    assert pages == {"d0": [1, 2], "d1": [1, 2], "d2": [1, 2], "d3": [1, 2]}
    assert all(condition["verdict"]["judge"] == "rules" for condition in found.values())


def test_outputs_do_not_depend_on_order_or_workers(tmp_path: Path, make_build: Callable[..., Build]) -> None:
    first, second = make_build(tmp_path / "a"), make_build(tmp_path / "b", shuffled=True)
    run(first, LocalMapper(1))
    run(second, Threads())
    assert files(first)["evidence.jsonl"] == files(second)["evidence.jsonl"]
    assert {name: data for name, data in files(first).items() if name != "documents_quality.jsonl"} == {
        name: data for name, data in files(second).items() if name != "documents_quality.jsonl"
    }


@pytest.mark.parametrize("order", [(3, 4), (4, 3)])
def test_runs_in_one_process_do_not_share_tables(
    tmp_path: Path, make_build: Callable[..., Build], order: tuple[int, int]
) -> None:
    alone = {}
    for number in order:
        build = make_build(tmp_path / f"alone-{number}")
        run(build, LocalMapper(1), min_documents=number)
        alone[number] = files(build)
    together = make_build(tmp_path / "together")
    for number in order:
        run(together, LocalMapper(1), min_documents=number)
        assert files(together) == alone[number]


def test_a_document_that_may_be_no_gold_brings_no_forms_in(
    tmp_path: Path, make_build: Callable[..., Build], make_page_row: Callable[..., PageRow]
) -> None:
    build = make_build(tmp_path)
    write_jsonl(build.page_file("d5"), [make_page_row(("text", "lorem ipsum dolor " * 5), doc_id="d5")])
    run(build, LocalMapper(1), min_documents=2)
    assert b"lorem" not in files(build)["surface_forms.jsonl"]


def test_nothing_to_find_says_which_window_binds(tmp_path: Path, make_build: Callable[..., Build]) -> None:
    with pytest.raises(OutcomeError, match="must occur in 5 to 5 of them"):
        run(make_build(tmp_path), LocalMapper(1), min_documents=5, max_document_share=0.01)


def test_too_few_documents_say_add_some(tmp_path: Path, make_build: Callable[..., Build]) -> None:
    with pytest.raises(OutcomeError, match="at least 6 documents, add some"):
        run(make_build(tmp_path), LocalMapper(1), min_documents=6)


def test_a_window_that_is_empty_is_named(tmp_path: Path, make_build: Callable[..., Build]) -> None:
    (named,) = result_of(make_build(tmp_path), LocalMapper(1), max_document_share=0.5, min_documents=4).shortfalls
    assert "fewer than min_documents = 4" in named


def test_every_cluster_has_a_verdict_and_every_rejection_a_reason(
    tmp_path: Path, make_build: Callable[..., Build]
) -> None:
    build = make_build(tmp_path)
    found = run(build, LocalMapper(1))
    clusters = [json.loads(line) for line in files(build)["clusters.jsonl"].splitlines()]
    rejected = [json.loads(line) for line in files(build)["rejected.jsonl"].splitlines()]
    kept = {cluster["cluster_id"] for cluster in clusters if cluster["decision"] == "KEEP"}
    dropped = {item["id"] for item in rejected if item["kind"] == "condition"}
    assert len(kept) == len(found) + len(dropped)
    assert {cluster["cluster_id"] for cluster in clusters} - kept == {
        item["id"] for item in rejected if item["kind"] == "cluster"
    }
    assert all(item["reason"] for item in rejected)


def misread_build(make_build: Callable[..., Build], root: Path, backend: str) -> Build:
    """The small corpus, where one document is a scan whose engine took an e for a c."""
    build = make_build(root)
    pages = [json.loads(line) for line in build.page_file("d0").read_bytes().splitlines()]
    for page in pages:
        page["backend"] = backend
        for block in page["blocks"]:
            block["text"] = block["text"].replace("groundwater", "groundwatcr")
    write_jsonl(build.page_file("d0"), [PageRow.model_validate_json(json.dumps(page)) for page in pages])
    return build


@pytest.mark.parametrize(
    ("backend", "fuzzy", "documents"), [("tesseract", True, 4), ("tesseract", False, 3), ("pymupdf", True, 3)]
)
def test_misread_words_count_where_text_was_recognised_and_it_is_asked_for(
    tmp_path: Path, make_build: Callable[..., Build], backend: str, documents: int, *, fuzzy: bool
) -> None:
    build = misread_build(make_build, tmp_path, backend)
    found = run(build, LocalMapper(1), fuzzy_aliases=fuzzy)["groundwater monitoring"]
    assert found["document_frequency"] == documents
    assert ("groundwatcr monitoring" in {alias["form"] for alias in found["aliases"]}) == (documents == 4)


def test_an_error_nobody_expected_says_which_document_it_is_about(
    tmp_path: Path, make_build: Callable[..., Build], monkeypatch: pytest.MonkeyPatch
) -> None:
    build = make_build(tmp_path)

    def fail(path: Path) -> Iterator[PageRow]:
        raise KeyError(path.stem)

    monkeypatch.setattr("nclue_build.mine.worker.read_pages", fail)
    with pytest.raises(KeyError) as caught, LocalMapper(1) as mapper:
        run(build, mapper)
    assert caught.value.__notes__ == ["document d0"]
