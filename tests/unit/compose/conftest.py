"""Seeded synthetic inventories, and a workspace whose pages agree with its inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest

from nclue_build.compose.candidates import Corpus
from nclue_build.core.progress import NullProgress
from nclue_build.core.text import TEXT_VERSION
from nclue_build.gate.check import row_bitsets
from nclue_build.inventory.files import write_version
from nclue_build.inventory.table import Inventory
from nclue_build.records.config import BuildConfig, ExtractSection
from nclue_build.records.corpus import Block, CorpusRow, DocumentQuality
from nclue_build.records.inventory import Alias, Condition, EvidenceRow, Verdict
from nclue_build.store.atomic import write_text
from nclue_build.store.config_file import load_config
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.stage import StageContext
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from nclue_build.records.base import Level
    from nclue_build.records.corpus import PageRow

Pages = "Mapping[tuple[str, str], tuple[int, ...]]"
SYLLABLES = [left + right for left in "bdfgklmnprstvz" for right in "aeiou"]


def word(index: int) -> str:
    """A made-up word, different in its first six letters from every other index below 343,000."""
    parts = []
    for _ in range(3):
        index, rest = divmod(index, len(SYLLABLES))
        parts.append(SYLLABLES[rest])
    return "".join(parts)


def condition(condition_id: str, *forms: str) -> Condition:
    aliases = tuple(Alias(form=form, match="folded", document_frequency=1, page_frequency=1) for form in forms)
    verdict = Verdict(judge="rules", reason="kept")
    return Condition(
        condition_id=condition_id,
        name=forms[0],
        aliases=aliases,
        document_frequency=1,
        page_frequency=1,
        verdict=verdict,
    )


@pytest.fixture
def make_condition() -> Callable[..., Condition]:
    return condition


def inventory_of(
    pages: Mapping[tuple[str, str], tuple[int, ...]], level: Level = "page", mentions: int = 3
) -> Inventory:
    by_page = level == "page"
    return Inventory.from_rows(
        (
            EvidenceRow(
                condition_id=condition_id,
                doc_id=doc_id,
                pages=found if by_page else None,
                mentions=(mentions,) * len(found) if by_page else (),
                in_heading=(False,) * len(found) if by_page else (),
            )
            for (condition_id, doc_id), found in pages.items()
        ),
        sorted({key[0] for key in pages}),
        sorted({key[1] for key in pages}),
        level,
    )


@pytest.fixture
def make_inventory() -> Callable[..., Inventory]:
    """Build an inventory from {(condition, document): pages}; three mentions a page, so all of it is strong."""
    return inventory_of


def corpus_of(inventory: Inventory, n_pages: int = 40, n_sources: int = 1) -> Corpus:
    n = len(inventory.document_ids)
    return Corpus(
        inventory=inventory,
        bitsets=row_bitsets(inventory),
        n_pages=np.full(n, n_pages, dtype=np.int32),
        gold_eligible=np.ones(n, dtype=np.bool_),
        source=(np.arange(n) % n_sources).astype(np.int32),
        sources=tuple(f"source{index}" for index in range(n_sources)),
    )


@pytest.fixture
def make_corpus() -> Callable[..., Corpus]:
    return corpus_of


class Synthetic(Protocol):
    def __call__(self, seed: int, n_documents: int, n_conditions: int, n_topics: int = ...) -> Corpus: ...


@pytest.fixture(scope="session")
def synthetic() -> Synthetic:
    """A corpus with topics: conditions of a topic stand in its documents, and near each other."""

    def build(seed: int, n_documents: int, n_conditions: int, n_topics: int = 8) -> Corpus:
        random = np.random.Generator(np.random.PCG64(seed))
        n_pages = np.minimum(4 + random.geometric(1 / 20, size=n_documents), 300)
        document_topic = random.integers(0, n_topics, size=n_documents)
        pages: dict[tuple[str, str], tuple[int, ...]] = {}
        most = max(4, min(80, n_documents // 3))
        for number in range(n_conditions):
            topic = number % n_topics
            weight = n_pages * np.where(document_topic == topic, 10.0, 1.0)
            size = min(most, 3 + int(random.geometric(1 / max(2, most // 4))))
            for document in random.choice(n_documents, size=size, replace=False, p=weight / weight.sum()):
                length = int(n_pages[document])
                centre = (topic * 37 + int(document) * 11) % length
                found = centre + np.rint(random.normal(0, max(length / 6, 1), size=int(random.geometric(0.4))))
                pages[f"c{number:05d}", f"d{document:05d}"] = tuple(
                    np.unique(np.clip(found, 0, length - 1) + 1).astype(int).tolist()
                )
        rows = (
            EvidenceRow(
                condition_id=key[0],
                doc_id=key[1],
                pages=found,
                mentions=tuple(random.integers(1, 5, size=len(found)).tolist()),
                in_heading=tuple((random.random(len(found)) < 0.1).tolist()),
            )
            for key, found in pages.items()
        )
        documents = [f"d{document:05d}" for document in range(n_documents)]
        inventory = Inventory.from_rows(rows, sorted({key[0] for key in pages}), documents)
        return Corpus(
            inventory=inventory,
            bitsets=row_bitsets(inventory),
            n_pages=n_pages.astype(np.int32),
            gold_eligible=random.random(n_documents) < 0.95,
            source=(np.arange(n_documents) % 3).astype(np.int32),
            sources=("a", "b", "c"),
        )

    return build


@pytest.fixture(scope="session")
def make_conditions() -> Callable[[Corpus], list[Condition]]:
    """Conditions with made-up names that share no word."""

    def build(corpus: Corpus) -> list[Condition]:
        return [
            condition(condition_id, f"{word(2 * number)} {word(2 * number + 1)}")
            for number, condition_id in enumerate(corpus.inventory.condition_ids)
        ]

    return build


class MakeBuild(Protocol):
    def __call__(self, root: Path, *, level: str = ..., compose: str = ..., reverse: bool = ...) -> Build: ...


def _page_text(names: list[str]) -> tuple[Block, ...]:
    sentences = [
        f"The office reviewed {name} in some detail during the year. Later\nwork on {name} was put off, and the plan "
        f"for {name} stayed open."
        for name in names
    ]
    filler = "Nothing else was decided in this part of the report, which closes here."
    return tuple(Block(role="text", text=text) for text in (*sentences, filler))


@pytest.fixture(scope="session")
def make_build(
    synthetic: Synthetic,
    make_conditions: Callable[[Corpus], list[Condition]],
    make_page_row: Callable[..., PageRow],
) -> MakeBuild:
    """A workspace with an extracted and mined build of 30 documents, each page holding what P0 says."""

    def build(root: Path, *, level: str = "page", compose: str = "", reverse: bool = False) -> Build:
        corpus = synthetic(5, 30, 120)
        conditions = make_conditions(corpus)
        inventory = corpus.inventory
        write_text(root / "configs" / "workspace.toml", "schema = 1\n")
        write_text(
            root / "configs" / "main.toml", f'schema = 1\n[corpus]\nfile = "corpus.jsonl"\n[compose]\n{compose}\n'
        )
        made = Workspace.find(root).choose_build("main")
        names: dict[tuple[int, int], list[str]] = {}
        for row in range(inventory.n_rows):
            for page in inventory.pages_of(row):
                name = conditions[inventory.condition_of[row]].name
                names.setdefault((int(inventory.document_of[row]), page), []).append(name)
        rows = []
        quality = []
        for index, doc_id in enumerate(inventory.document_ids):
            n_pages = int(corpus.n_pages[index])
            source = corpus.sources[corpus.source[index]]
            rows.append(CorpusRow(doc_id=doc_id, source=source, title=f"Report {index}", file_name=f"{doc_id}.pdf"))
            quality.append(
                DocumentQuality(
                    doc_id=doc_id, source=source, status="ok", n_pages=n_pages, pages_ok=n_pages, pages_empty=0,
                    pages_failed=0, n_words=9, language="en", flags=(), in_benchmark=True,
                    gold_eligible=bool(corpus.gold_eligible[index]), removed=None, message=None,
                )
            )  # fmt: skip
            if level == "page":
                write_jsonl(
                    made.page_file(doc_id),
                    (
                        make_page_row(*_page_text(names.get((index, page), [])), doc_id=doc_id, page=page)
                        for page in range(1, n_pages + 1)
                    ),
                )
        step = -1 if reverse else 1
        write_jsonl(made.documents, rows[::step])
        write_jsonl(made.quality, quality[::step])
        if level == "document":
            pages = {(row.condition_id, row.doc_id): row.pages or () for row in inventory.rows()}
            inventory = inventory_of(pages, "document")
        roles = ExtractSection().allowed_roles
        write_version(
            made.version(0), conditions[::step], inventory, number=0, allowed_roles=roles, text_version=TEXT_VERSION
        )
        return made

    return build


@pytest.fixture(scope="session")
def make_context() -> Callable[[Build], StageContext]:
    def build(made: Build) -> StageContext:
        config: BuildConfig = load_config(made.config_path)
        return StageContext(made, config, LocalMapper(1), NullProgress())

    return build
