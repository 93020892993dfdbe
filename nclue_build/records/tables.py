"""Tables of scores: values with their kinds, so that every format shows the same and a stored copy can be checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nclue_build.records.base import Count, Record, Sha256
from nclue_build.records.scores import Form, Measure, TiesRule

Kind = Literal[
    "text",
    "count",
    "points",
    "signed",
    "number",
    "p",
    "interval",
    "signed_interval",
    "shares",
    "pair",
    "starred",
    "tested",
    "estimate",
    "counts",
    "counted",
    "left",
    "by_row",
]
"""How a value is shown.

``points`` have one decimal, ``signed`` ones a sign; ``number`` has three.
``interval`` is low and high; ``shares`` are miss, partial first and gold first; ``pair`` is n-Clue Score and Gold Hit;
``starred`` is a difference with its interval, marked where that excludes 0; ``tested`` is a difference and its p;
``estimate`` is a value and its standard error; ``counts`` are several, ``counted`` is a count and one of its parts,
``left`` a difference and the number of queries it is over. ``by_row``: see the row's kind.
"""
Value = str | int | float | tuple[float, ...] | None


class Column(Record):
    """A column and what its values are."""

    name: str
    kind: Kind


class Table(Record):
    """A table; ``unavailable`` says why there is none, and then it has no rows."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    catalogue: str
    """Which table of the study has this shape."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    row_kinds: tuple[Kind, ...] = ()
    """Of each row, the kind of its values in columns of the kind ``by_row``; empty where there is no such column."""
    notes: tuple[str, ...] = ()
    unavailable: str | None = None

    @model_validator(mode="after")
    def _is_rectangular(self) -> Table:
        if any(len(row) != len(self.columns) for row in self.rows):
            message = "every row needs a value for each column"
            raise ValueError(message)
        if len(self.row_kinds) != (len(self.rows) if any(one.kind == "by_row" for one in self.columns) else 0):
            message = "every row needs a kind where a column is by_row"
            raise ValueError(message)
        return self

    def kinds(self, row: int) -> tuple[Kind, ...]:
        """What the values of a row are."""
        return tuple(self.row_kinds[row] if one.kind == "by_row" else one.kind for one in self.columns)


class TablesReport(Record):
    """What ``tables`` answers, and what ``tables --check`` compares with."""

    schema_version: Literal[1] = 1
    build: Annotated[str, Field(min_length=1)]
    qrels_sha256: Sha256
    k: Annotated[int, Field(ge=1)]
    ties: TiesRule
    measure: Measure
    form: Form
    """The rendering of the queries whose runs are ranked."""
    seed: int
    n_bootstrap: Count
    n_flips: Count
    tables: tuple[Table, ...]
