"""Scans that lie askew: how far, and where things stand on the page that were found on a straightened picture of it.

Tesseract straightens nothing. From 2 degrees on it reads across the lines of a wide page, and from 1 degree on the
columns of a page hide each other's gutter. So a page that leans is drawn once more, turned back. The lean is told from
the picture: across straight lines of text, dark and light rows alternate most sharply (Postl, "Detection of linear
oblique structures and skew scan in digitized documents", ICPR 1986). MuPDF's own detection crashes on small pictures.

A lean is how far lines fall, in thousandths of the way along them. All of it is integer arithmetic. To keep it so, the
page is turned without being scaled back: at 6 degrees it is drawn 0.5 % larger.
"""

from __future__ import annotations

from operator import add, sub
from statistics import median_low
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Size = tuple[int, int]
Box = tuple[int, int, int, int]

WHOLE: Final = 1000
"""Of a lean: lines fall as far as they run."""
N_STRIPS: Final = 32
"""A page is looked at in so many strips across its lines: narrow enough to hide no lean within, and few."""
MAX_ROWS: Final = 1200
"""More do not tell a lean better."""
_MIN_ROWS: Final = 200
_EDGE: Final = 2
"""Strips at either side that are left out: there is the edge of the paper, which leans as it likes."""
_MAX_LEAN: Final = 105
_MIN_LEAN: Final = 8
"""Under half a degree nothing goes wrong, and a straight page stays as it is."""
_MIN_GAIN: Final = 200
"""Percent; rows have to be so much sharper along a lean: text at half a degree is, pictures and ruled paper are not."""
_STEP: Final = 5


class Strips(NamedTuple):
    """A picture in strips across its lines.

    Args:
        ink: Of every strip, the lightness (0 to 255) of its rows.
        run: How far the strips reach together, in rows.
    """

    ink: Sequence[bytes]
    run: int


def lean_of(upright: Strips, sideways: Strips) -> int:
    """How far the lines of a page lean, to either side; 0 where none are seen, or they hardly do.

    Args:
        upright: The picture, in strips from left to right.
        sideways: The same, in strips from top to bottom: lines may run that way.
    """
    lean, gain = _sharpest(upright)
    other, other_gain = _sharpest(sideways)
    if other_gain > gain:  # what makes rows fall makes columns rise
        lean, gain = -other, other_gain
    return lean if abs(lean) >= _MIN_LEAN and gain >= _MIN_GAIN else 0


def _sharpest(strips: Strips) -> tuple[int, int]:
    """The lean along which rows are sharpest, and how sharp they are then.

    That is in percent of what they are without a lean, or along most, whatever is more.
    """
    n_rows = len(strips.ink[0])
    if n_rows < _MIN_ROWS or strips.run > 4 * n_rows:
        return 0, 100
    ink = strips.ink[_EDGE:-_EDGE]
    run = strips.run * len(ink) // len(strips.ink)
    found = {lean: _sharpness(ink, run, lean) for lean in range(-_MAX_LEAN, _MAX_LEAN + 1, _STEP)}
    usual = median_low(found.values())
    near = max(found, key=lambda lean: (found[lean], -abs(lean)))
    found |= {lean: _sharpness(ink, run, lean) for lean in range(near - _STEP + 1, near + _STEP)}
    best = max(found, key=lambda lean: (found[lean], -abs(lean)))
    if abs(best) == _MAX_LEAN:
        return 0, 100  # they may be sharper still beyond: no peak
    return best, found[best] * 100 // max(found[0], usual, 1)


def _sharpness(ink: Sequence[bytes], run: int, lean: int) -> int:
    """How much neighbouring rows differ that lean so, over the rows that are whole whatever the lean."""
    n = len(ink)
    falls = [run * lean * (2 * index + 1 - n) // (2 * n * WHOLE) for index in range(n)]
    margin = run * (_MAX_LEAN + _STEP) // (2 * WHOLE) + 1
    n_rows = len(ink[0]) - 2 * margin
    rows = [0] * max(n_rows, 0)
    for strip, fall in zip(ink, falls, strict=True):
        rows = list(map(add, rows, strip[margin + fall : margin + fall + n_rows]))
    return sum(difference * difference for difference in map(sub, rows, rows[1:]))


class Straightening(NamedTuple):
    """A page (width and height in some unit) as it is drawn to straighten its lines.

    It is turned about its middle, and the sheet it is drawn on is as much larger as its corners need.
    """

    page: Size
    lean: int

    @property
    def sheet(self) -> Size:
        """Width and height of the sheet."""
        (width, height), lean = self.page, abs(self.lean)
        return (width + height * lean // WHOLE, height + width * lean // WHOLE)

    def on_straight_page(self, box: Box) -> Box:
        """A box of the sheet in coordinates of the straightened page, whose middle is the page's."""
        dx, dy = ((mine - its) // 2 for mine, its in zip(self.sheet, self.page, strict=True))
        return (box[0] - dx, box[1] - dy, box[2] - dx, box[3] - dy)

    def on_page(self, box: Box) -> Box:
        """Where a box of the straightened page stands on the page: the box around it there."""
        if not self.lean:
            return box
        x0, y0, x1, y1 = box
        corners = [self._turned_back(x, y) for x in (x0, x1) for y in (y0, y1)]
        lefts, tops = zip(*corners, strict=True)
        return (min(lefts), min(tops), max(lefts), max(tops))

    def _turned_back(self, x: int, y: int) -> tuple[int, int]:
        # Twice what they are, so that the middle of the page is a whole number.
        (width, height), lean = self.page, self.lean
        dx, dy = 2 * x - width, 2 * y - height
        whole = 2 * (WHOLE * WHOLE + lean * lean)
        turned_x = (dx * WHOLE - dy * lean) * WHOLE // whole
        turned_y = (dy * WHOLE + dx * lean) * WHOLE // whole
        return (turned_x + width // 2, turned_y + height // 2)
