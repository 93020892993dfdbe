"""Made-up MinerU files, small pieces at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.corpus.mineru.detect import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.mineru.pages import MineruDocument


@pytest.fixture
def parse() -> Callable[[object], MineruDocument]:
    """Read any file; its pages are 600 x 800 pt where the file does not say."""

    def parse(data: object) -> MineruDocument:
        return read(data, lambda _: (60000, 80000))

    return parse


@pytest.fixture
def block() -> Callable[..., dict[str, Any]]:
    """A block of a middle file up to 3.x: a line of one span for each text given."""

    def make(block_type: str | None, *lines: str, **fields: Any) -> dict[str, Any]:
        made: dict[str, Any] = {
            "bbox": [50, 100, 300, 120],
            "lines": [
                {"bbox": [50, 100, 300, 120], "spans": [{"type": "text", "content": line, "bbox": [50, 100, 300, 120]}]}
                for line in lines
            ],
        }
        if block_type is not None:
            made["type"] = block_type
        return made | fields

    return make


@pytest.fixture
def shown() -> Callable[[MineruDocument], list[list[tuple[str, str]]]]:
    """Roles and texts of every page."""

    def show(document: MineruDocument) -> list[list[tuple[str, str]]]:
        return [[(b.role, b.text) for b in document.pages[index].blocks] for index in sorted(document.pages)]

    return show
