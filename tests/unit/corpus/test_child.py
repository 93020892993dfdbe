"""The boundary of the reader process: whatever is raised becomes a record."""

from __future__ import annotations

import importlib
import io
import signal
import warnings
from typing import TYPE_CHECKING, Any

import orjson
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    child: Any = importlib.import_module("nclue_build.corpus.child")


@pytest.fixture
def read() -> Iterator[Callable[..., list[dict[str, Any]]]]:
    def read(path: Path, **command: Any) -> list[dict[str, Any]]:
        output = io.BytesIO()
        child._read_document(output, output, {"path": str(path), "start": 0, **command}, 60.0)
        return [orjson.loads(line) for line in output.getvalue().splitlines()]

    yield read
    signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.mark.parametrize("error", [SystemError, AssertionError, KeyError, child._mupdf.mupdf.FzErrorBase])
def test_whatever_a_page_raises_is_recorded_and_the_next_page_is_read(
    tmp_path: Path, text: Any, make_pdf: Any, read: Any, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    read_page = child._read_page

    def fail_first(document: Any, index: int, label: str | None, flags: set[str]) -> Any:
        if index == 0:
            raise error(7, "strange")
        return read_page(document, index, label, flags)

    monkeypatch.setattr(child, "_read_page", fail_first)
    _, first, second, end = read(make_pdf(tmp_path / "a.pdf", [[text(72, 200, "One")], [text(72, 200, "Two")]]))
    assert (first["page"], first["failed"]) == (1, "page_error")
    assert first["reason"]
    assert second["lines"][0][-1] == "Two"
    assert end == {"end": True, "flags": [], "made": False}


def test_whatever_opening_raises_is_the_document_s_error(
    tmp_path: Path, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str, **_: str) -> Any:
        message = f"strange thing in {path}"
        raise SystemError(message)

    monkeypatch.setattr(child._mupdf, "open", fail)
    assert read(tmp_path / "a.pdf") == [{"error": "strange thing in a.pdf", "out_of_memory": False}]


def test_what_mupdf_says_twice_of_one_page_is_not_said_of_the_blank_one_behind_it(tmp_path: Path, read: Any) -> None:
    """It holds a warning back until another comes, or somebody asks: then it is "... repeated 2 times"."""
    document = child._mupdf.open()
    first = document.new_page()
    first.insert_text((72, 200), "One")
    content = b"/Span <</ActualText (lost)>> BDC EMC " * 2
    document.update_stream(first.get_contents()[0], document.xref_stream(first.get_contents()[0]) + content)
    blank = document.new_page()
    blank.insert_text((72, 200), "Two")
    document.update_stream(blank.get_contents()[0], b" q Q ")
    document.save(tmp_path / "a.pdf")
    document.close()
    _, one, two, _ = read(tmp_path / "a.pdf")
    assert one["lines"][0][-1] == "One"
    assert (two.get("failed"), two["lines"]) == (None, [])


def test_rows_are_made_of_whole_documents_only(
    tmp_path: Path, text: Any, make_pdf: Any, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_pdf(tmp_path / "a.pdf", [[text(72, 200, "One")], [text(72, 200, "Two")]])
    *_, last, end, summary, one, two, made = read(path, make=True)
    assert (last["page"], end["made"], summary["ok"], made) == (2, True, 2, {"made": True})
    assert [row["blocks"][0]["text"] for row in (one, two)] == ["One", "Two"]
    assert read(path, start=1, make=True)[-1] == {"end": True, "flags": [], "made": False}
    monkeypatch.setattr(child, "MAX_KEPT_BYTES", 150)
    *_, last, end = read(path, make=True)
    assert (last["page"], end["made"]) == (2, False)


def test_a_page_that_fails_leaves_the_rows_to_the_supervisor(
    tmp_path: Path, text: Any, make_pdf: Any, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        message = "cycle"
        raise ValueError(message)

    monkeypatch.setattr(child, "_read_page", fail)
    *_, page, end = read(make_pdf(tmp_path / "a.pdf", [[text(72, 200, "One")]]), make=True)
    assert (page["failed"], end["made"]) == ("page_error", False)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("malloc (7 bytes) failed: cannot allocate")])
def test_a_page_that_lacks_memory_is_the_last_one(
    tmp_path: Path, text: Any, make_pdf: Any, read: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(child, "_read_page", fail)
    path = make_pdf(tmp_path / "a.pdf", [[text(72, 200, "One")], [text(72, 200, "Two")]])
    _, end = read(path, make=True)
    assert (end["failed"], bool(end["reason"])) == ("out_of_memory", True)
