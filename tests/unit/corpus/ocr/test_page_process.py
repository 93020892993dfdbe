"""The process that draws a page: as many pixels as asked for, never more than allowed."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    process: Any = importlib.import_module("nclue_build.corpus.ocr.page_process")


def test_an_ordinary_page_is_drawn_as_asked() -> None:
    assert process.fitting_zoom(612, 792, 300, 40_000_000) == pytest.approx(300 / 72)


@given(
    st.floats(3, 50_000), st.floats(3, 50_000), st.integers(70, 1200), st.integers(1, 400).map(lambda n: n * 1_000_000)
)
def test_no_page_gets_more_pixels_than_allowed(width: float, height: float, dpi: int, max_pixels: int) -> None:
    try:
        zoom = process.fitting_zoom(width, height, dpi, max_pixels)
    except process._TooLargeError:
        assert max(width, height) > 50 * min(width, height) or min(width, height) * dpi / 72 < 16
        return
    assert zoom <= dpi / 72
    columns, rows = math.ceil(width * zoom) + 1, math.ceil(height * zoom) + 1  # edges are rounded outwards
    assert columns * rows <= max_pixels
    assert max(columns, rows) <= 32_767
    assert zoom == dpi / 72 or columns * rows > 0.85 * max_pixels or max(columns, rows) > 31_000


def test_a_strip_that_no_picture_shows_is_refused() -> None:
    with pytest.raises(process._TooLargeError, match=r"4 x 14400 pt: .* shows no letter"):
        process.fitting_zoom(4, 14_400, 300, 1_000_000)
