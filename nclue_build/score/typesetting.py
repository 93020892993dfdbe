"""Tables as text, Markdown, LaTeX and CSV: every format shows the same cells."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nclue_build.records.tables import Kind, Table, Value

ABSENT: Final = "-"
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)


def cell(kind: Kind, value: Value) -> str:
    """A value as it is shown."""
    if value is None:
        return ABSENT
    if isinstance(value, tuple):
        return _OF_MANY[kind](value)
    if isinstance(value, str):
        return value
    return _OF_ONE[kind](value)


def cells(table: Table) -> list[list[str]]:
    """All rows as they are shown."""
    return [
        [cell(kind, value) for kind, value in zip(table.kinds(place), row, strict=True)]
        for place, row in enumerate(table.rows)
    ]


def heading(table: Table) -> str:
    """Title and the table of the study that has this shape."""
    return f"{table.title} [{table.catalogue}]"


def text(table: Table) -> str:
    """For a terminal: the first column to the left, numbers to the right."""
    lines = [heading(table)]
    if table.unavailable is not None:
        return "\n".join([*lines, f"  not made: {table.unavailable}"])
    lines += aligned(
        [column.name for column in table.columns], cells(table), [_is_text(one.kind) for one in table.columns]
    )
    return "\n".join([*lines, *(f"  ({note})" for note in table.notes)])


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Columns of equal width."""
    widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
    return [
        "  "
        + "  ".join(
            one.ljust(width) if to_left else one.rjust(width)
            for one, width, to_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in (header, *rows)
    ]


def markdown(table: Table) -> str:
    """A pipe table under a heading."""
    lines = [f"### {heading(table)}", ""]
    if table.unavailable is not None:
        return "\n".join([*lines, f"Not made: {table.unavailable}.", ""])

    def row(parts: Sequence[str]) -> str:
        return (
            "| "
            + " | ".join(part.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for part in parts)
            + " |"
        )

    rule = [":--" if _is_text(column.kind) else "--:" for column in table.columns]
    lines += [row([column.name for column in table.columns]), "| " + " | ".join(rule) + " |"]
    lines += [row(one) for one in cells(table)]
    return "\n".join([*lines, "", *(f"- {note}" for note in table.notes), *([""] if table.notes else [])])


def latex(table: Table) -> str:
    """A ``table`` with a ``tabular`` of plain LaTeX, no package needed."""
    if table.unavailable is not None:
        return f"% {table.name}: not made: {table.unavailable}\n"
    shape = "".join("l" if _is_text(column.kind) else "r" for column in table.columns)

    def row(parts: Sequence[str]) -> str:
        return " & ".join(part.translate(_LATEX) for part in parts) + r" \\"

    notes = " ".join(f"{note[:1].upper()}{note[1:]}." for note in table.notes)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{f'{table.title}. {notes}'.strip().translate(_LATEX)}}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{shape}}}",
            r"\hline",
            row([column.name for column in table.columns]),
            r"\hline",
            *(row(one) for one in cells(table)),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def as_csv(table: Table) -> str:
    """Cells as shown, with a header; nothing but the header's names for a table that was not made."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(cells(table))
    return out.getvalue()


def _is_text(kind: Kind) -> bool:
    return kind == "text"


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


_OF_ONE: Final[Mapping[Kind, Callable[[float], str]]] = {
    "count": lambda value: f"{value:d}" if isinstance(value, int) else f"{value:g}",
    "points": lambda value: f"{value:.1f}",
    "signed": lambda value: f"{value:+.1f}",
    "number": lambda value: f"{value:.3f}",
    "p": lambda value: f"{value:.4f}",
}
_OF_MANY: Final[Mapping[Kind, Callable[[Sequence[float]], str]]] = {
    "interval": lambda values: f"{values[0]:.1f}-{values[1]:.1f}",
    "signed_interval": lambda values: f"{values[0]:+.1f} to {values[1]:+.1f}",
    "shares": lambda values: "/".join(map(_share, values)),
    "pair": lambda values: "/".join(f"{value:.1f}" for value in values),
    "starred": lambda values: f"{values[0]:+.1f}" + ("*" if values[1] > 0 or values[2] < 0 else ""),
    "tested": lambda values: f"{values[0]:+.1f} ({values[1]:.4f})",
    "estimate": lambda values: f"{values[0]:+.3f} ({values[1]:.3f})",
    "counts": lambda values: " / ".join(f"{value:.0f}" for value in values),
    "counted": lambda values: f"{values[0]:.0f} ({values[1]:.0f})",
    "left": lambda values: f"{values[0]:+.1f} ({values[1]:.0f})",
}
