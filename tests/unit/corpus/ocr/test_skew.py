from __future__ import annotations

import importlib
import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.corpus.ocr.skew import WHOLE, Straightening, lean_of

if TYPE_CHECKING:
    from collections.abc import Callable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    pymupdf: Any = importlib.import_module("pymupdf")
    process: Any = importlib.import_module("nclue_build.corpus.ocr.page_process")

SIZES = st.tuples(st.integers(1, 2_000_000), st.integers(1, 2_000_000))
LEANS = st.integers(-110, 110)
NOISE = random.Random(1).randbytes(100_000)  # noqa: S311 - no secret


def lean(page: Any, turned: float = 0, dpi: int = 100) -> int:
    """The lean told from a picture of a page that was turned by so many degrees."""
    matrix = pymupdf.Matrix(dpi / 72, dpi / 72).prerotate(turned)
    picture = page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
    return lean_of(process._strips(picture, sideways=False), process._strips(picture, sideways=True))


@pytest.fixture(scope="module")
def page() -> Any:
    """Three columns of words: enough to see a lean, as most pages have."""
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    words = ["office", "of", "every", "director", "is", "to", "report", "on", "its", "progress", "and", "plans"]
    draw = random.Random(1)  # noqa: S311 - no secret
    for left in (50, 230, 410):
        text = " ".join(draw.choice(words) for _ in range(260))
        page.insert_textbox((left, 60, left + 160, 740), text, fontsize=10)
    return page


@pytest.mark.parametrize(
    ("degrees", "quarter"),
    [(-5, 0), (-2, 0), (-0.6, 0), (0.6, 0), (1, 0), (3, 0), (5, 0), (2, 90), (-1, 90), (3, 180), (-2, 270), (0.6, 270)],
)
def test_the_lean_of_text_is_seen_whichever_way_it_runs(page: Any, degrees: float, quarter: int) -> None:
    # A degree is a fall of 17.5 in 1,000.
    assert lean(page, quarter + degrees) == pytest.approx(17.5 * degrees, abs=3)


@pytest.mark.parametrize(("quarter", "dpi"), [(0, 50), (0, 72), (0, 300), (90, 72), (180, 150), (270, 100)])
def test_a_straight_page_is_left_alone_at_any_size(page: Any, quarter: int, dpi: int) -> None:
    assert lean(page, quarter, dpi) == 0


def grey(width: int, height: int, samples: Callable[[int, int], int]) -> Any:
    data = bytes(samples(x, y) for y in range(height) for x in range(width))
    return pymupdf.Pixmap(pymupdf.csGRAY, width, height, data, False)  # noqa: FBT003 - positional in PyMuPDF


@pytest.mark.parametrize(
    "samples",
    [
        lambda _x, _y: 255,
        lambda _x, _y: 0,
        lambda x, y: NOISE[y * 240 + x],
        lambda x, y: (x * x + y * y) // 400 % 256,
        lambda x, y: 255 * (abs(x - 150) + abs(y - 200) > 90),
    ],
    ids=["white", "black", "noise", "rings", "diamond"],
)
@pytest.mark.parametrize(("width", "height"), [(240, 300), (16, 400), (400, 16), (1, 1)])
def test_pictures_without_text_do_not_lean(width: int, height: int, samples: Callable[[int, int], int]) -> None:
    picture = grey(width, height, samples)
    assert lean_of(process._strips(picture, sideways=False), process._strips(picture, sideways=True)) == 0


@given(SIZES, LEANS, st.floats(0, 1), st.floats(0, 1))
def test_turning_back_undoes_what_drawing_does(size: tuple[int, int], lean: int, across: float, down: float) -> None:
    drawn = Straightening(size, lean)
    x, y = round(size[0] * across), round(size[1] * down)
    t = lean / WHOLE
    # The page's corners decide where the sheet begins.
    left, top = min(0, t * size[1]), min(0, -t * size[0])
    on_sheet = (round(x + t * y - left), round(y - t * x - top))
    assert 0 <= on_sheet[0] <= drawn.sheet[0] + 1
    assert 0 <= on_sheet[1] <= drawn.sheet[1] + 1
    x0, y0, x1, y1 = drawn.on_page(drawn.on_straight_page((*on_sheet, *on_sheet)))
    assert (x0, y0) == (x1, y1)
    assert x0 == pytest.approx(x, abs=4)
    assert y0 == pytest.approx(y, abs=4)


@given(SIZES, st.tuples(*[st.integers(-99, 9999)] * 4))
def test_a_page_that_does_not_lean_is_its_own_sheet(size: tuple[int, int], box: tuple[int, int, int, int]) -> None:
    drawn = Straightening(size, 0)
    assert drawn.sheet == size
    assert drawn.on_page(drawn.on_straight_page(box)) == box
