"""Plots of tables: scores with intervals, contrasts in the plane of two measures, strata. Needs the extra ``plots``.

The files are the same bytes for the same tables and matplotlib: no date, no version, ids by a fixed salt.
"""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nclue_build.records.tables import Table

FORMATS: Final = ("svg", "png")
_METADATA: Final[dict[str, dict[str, None]]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
_STYLE: Final = {
    "svg.hashsalt": "nclue-build",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",  # which matplotlib brings along
    "font.size": 9,
    "text.parse_math": False,  # a dollar in the name of a system is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 150,
}


def plots(tables: Mapping[str, Table]) -> dict[str, bytes]:
    """Draw what the tables hold; a table that was not made has no plot.

    Args:
        tables: By name.

    Returns:
        Contents by file name.

    Raises:
        UsageError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib: pip install 'nclue-build[plots]'")
    import matplotlib as mpl  # noqa: PLC0415 - an extra, and slow to load
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to load

    drawn: dict[str, bytes] = {}
    # Whatever the user has set elsewhere, the plots are the same.
    settings: Any = {name: value for name, value in mpl.rcParamsDefault.items() if not name.startswith("backend")}
    with mpl.rc_context(settings | _STYLE):
        for name, draw in _PLOTS.items():
            table = tables.get(name)
            if table is None or not table.rows:
                continue
            figure = Figure(layout="constrained")
            draw(figure, table)
            for ending in FORMATS:
                out = BytesIO()
                figure.savefig(out, format=ending, metadata=_METADATA[ending])
                drawn[f"{name}.{ending}"] = out.getvalue()
    return drawn


def _column(table: Table, name: str) -> list[Any]:
    place = [column.name for column in table.columns].index(name)
    return [row[place] for row in table.rows]


def _matrix(figure: Any, table: Table) -> None:
    """Systems from the best down; a point with its interval for n-Clue Score, an open one for Gold Hit."""
    systems, scores, hits = _column(table, "system"), _column(table, "Score"), _column(table, "Hit")
    intervals = [one or (score, score) for one, score in zip(_column(table, "95 % by family"), scores, strict=True)]
    figure.set_size_inches(6, 1.2 + 0.24 * len(systems))
    axes = figure.subplots()
    places = list(range(len(systems)))
    axes.hlines(places, [low for low, _ in intervals], [high for _, high in intervals], color="0.6", linewidth=2)
    axes.plot(scores, places, "o", color="C0", label="n-Clue Score, 95 % by family")
    axes.plot(hits, places, "o", markerfacecolor="none", color="C1", label="Gold Hit")
    axes.set_yticks(places, systems)
    axes.invert_yaxis()
    axes.set_xlim(-2, 102)
    axes.set_xlabel("points")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)


def _contrasts(figure: Any, table: Table) -> None:
    """The delta plane: difference in Gold Hit across, in n-Clue Score up, with its interval."""
    figure.set_size_inches(5.5, 5)
    axes = figure.subplots()
    across, up = _column(table, "dHit"), _column(table, "dScore")
    axes.axhline(0, color="0.8", linewidth=1)
    axes.axvline(0, color="0.8", linewidth=1)
    for name, x, y, (low, high) in zip(
        _column(table, "contrast"), across, up, _column(table, "95 % by family"), strict=True
    ):
        axes.vlines(x, low, high, color="0.6", linewidth=2)
        axes.plot([x], [y], "o", color="C0")
        axes.annotate(name, (x, y), xytext=(6, 4), textcoords="offset points")
    axes.set_xlabel("difference in Gold Hit (points)")
    axes.set_ylabel("difference in n-Clue Score (points), 95 % by family")
    axes.margins(0.15)


def _strata(figure: Any, table: Table) -> None:
    """n-Clue Score of every system by slice."""
    names = [column.name for column in table.columns[1:]]
    figure.set_size_inches(7, 1.6 + 0.3 * len(names))
    axes = figure.subplots()
    places = list(range(len(names)))
    markers = "os^Dv<>PX*"
    for which, row in enumerate(table.rows):
        scores = [pair[0] for pair in row[1:] if isinstance(pair, tuple)]
        axes.plot(scores, places, markers[which % len(markers)], color=f"C{which % 10}", alpha=0.8, label=str(row[0]))
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(-2, 102)
    axes.set_xlabel("n-Clue Score (points); queries of the slice in brackets")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


_PLOTS: Final[dict[str, Callable[[Any, Table], None]]] = {
    "matrix": _matrix,
    "contrasts": _contrasts,
    "strata": _strata,
}
