"""What a mining worker does with one document: read its pages, and return a small result.

``roles`` are the allowed roles, ``tables`` the file of the tables a pass needs (:mod:`nclue_build.mine.exchange`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nclue_build.core.errors import about
from nclue_build.core.text import readings
from nclue_build.mine import acronyms, candidates, exchange, misread, tokens
from nclue_build.mine.page_facts import show_pages
from nclue_build.mine.profile import profile_document
from nclue_build.mine.sights import see_document
from nclue_build.store.pages import read_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from nclue_build.mine.occurrences import DocumentOccurrences
    from nclue_build.mine.page_facts import PageShown
    from nclue_build.mine.profile import DocumentProfile
    from nclue_build.mine.sights import DocumentSight
    from nclue_build.mine.tokens import TokenStream


ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Task:
    """A document as a worker gets it; ``contributes`` is false where it may not bring new forms in."""

    index: int
    path: Path
    contributes: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Distinct folded words of a document, the acronyms it defines, and its words on recognised pages alone."""

    words: list[str]
    definitions: list[tuple[str, str]]
    recognised: frozenset[str]


@dataclass(frozen=True, slots=True)
class Keys:
    """Distinct phrase keys and word-run keys of a document."""

    phrases: NDArray[np.uint64]
    runs: NDArray[np.uint64]


def about_document(function: Callable[[Task], ResultT], task: Task) -> ResultT:
    """What a function makes of a document; what it raises says which one."""
    with about(f"document {task.path.stem}"):
        return function(task)


def _stream(roles: frozenset[str], task: Task) -> TokenStream:
    return tokens.tokenize(read_pages(task.path), roles)


def read_words(roles: frozenset[str], task: Task) -> Words:
    """First pass: vocabulary and acronym definitions."""
    if not task.contributes:
        return Words([], [], frozenset())
    pages = list(read_pages(task.path))
    stream = tokens.tokenize(pages, roles)
    pairs: set[tuple[str, str]] = set()
    for page in pages:
        for block in page.blocks:
            if block.role in roles and "(" in block.text:
                pairs.update(pair for reading in readings(block.text) for pair in acronyms.definitions(reading))
    recognised = {page.page for page in pages if misread.is_recognised(page)}
    read = {word for word, page in zip(stream.folded, stream.pages.tolist(), strict=True) if page not in recognised}
    words = set(stream.folded)
    return Words(sorted(words), sorted(pairs), frozenset(words - read) if recognised else frozenset())


def read_keys(roles: frozenset[str], tables: Path, task: Task) -> Keys:
    """Second pass: which noun phrases and word runs the document holds."""
    lexicon = exchange.load_lexicon(tables)
    if not task.contributes:
        return Keys(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64))
    stream = _stream(roles, task)
    ids = tokens.word_ids(stream.folded, lexicon.vocabulary)
    return Keys(*candidates.document_keys(stream, ids, lexicon.classes, lexicon.named_keys))


def profile(roles: frozenset[str], tables: Path, task: Task) -> DocumentProfile:
    """Third pass: how the candidate forms are used."""
    lexicon = exchange.load_lexicon(tables)
    stream = _stream(roles, task) if task.contributes else tokens.tokenize((), roles)
    return profile_document(stream, lexicon, task.index)


def see_forms(roles: frozenset[str], tables: Path, task: Task) -> list[DocumentSight]:
    """For a judge that sees no corpus: how forms stand in the document."""
    return see_document(read_pages(task.path), roles, exchange.load_matcher(tables))


def read_facts_pages(roles: frozenset[str], task: Task) -> list[PageShown]:
    """For the miner that asks a model: the pages of the document as they are shown."""
    return show_pages(read_pages(task.path), roles) if task.contributes else []


def find_aliases(roles: frozenset[str], tables: Path, task: Task) -> DocumentOccurrences:
    """Fourth pass: every alias on every page."""
    matcher = exchange.load_matcher(tables)
    return matcher.scan(read_pages(task.path), roles)
