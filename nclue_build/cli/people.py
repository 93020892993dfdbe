"""What people agree on, as a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.cli.reply import Reply, table
from nclue_build.core.errors import EXIT_FINDINGS, EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.core.errors import Finding
    from nclue_build.records.audit import Agreement, Figure, PairAgreement, SecondRound


def agreement_reply(found: Agreement, unfinished: Sequence[Finding] = ()) -> Reply:
    """Reply of ``audit score``; exit code 1 where the second round cannot be counted yet."""
    rows: list[tuple[str, object]] = [
        ("evaluators", ", ".join(found.evaluators)),
        ("copies of another", ", ".join(found.collapsed)),
        ("exact grade", _share(found.exact_grade)),
        ("condition", _share(found.condition)),
        ("page sets", _share(found.page_sets)),
        ("Cohen's kappa of grades", _number(found.kappa)),
        ("the same, linear weights", _number(found.kappa_linear) + _interval(found.kappa_linear_interval)),
        ("kappa of conditions", _number(found.kappa_conditions)),
        ("Fleiss' kappa of conditions", _number(found.fleiss)),
        ("conditions said yes to", _counts(found.positives)),
        *((f"clear queries, {name}", _share(one)) for name, one in found.clarity.items()),
        ("called unclear", ", ".join(found.unclear)),
    ]
    parts = [table(rows), *([_confusion(found)] if found.confusion is not None else [])]
    if len(found.pairs) > 1:
        parts.append("every two of them\n" + table([_pair_row(one) for one in found.pairs]))
    parts += [] if found.adjudication is None else [_second(found.adjudication)]
    if found.strata:
        parts.append("exact grade by stratum\n" + table([(name, _share(one)) for name, one in found.strata.items()]))
    if unfinished:
        parts.append("the adjudication is not counted")
    return Reply(
        found.model_dump(mode="json"), "\n\n".join(parts), unfinished, EXIT_FINDINGS if unfinished else EXIT_OK
    )


def _confusion(found: Agreement) -> str:
    """The table of categories, with the sums of its rows."""
    cells = found.confusion or ()
    across, down = (found.evaluators[1], found.evaluators[0]) if found.evaluators else ("columns", "rows")
    width = max(len(str(sum(map(sum, cells)))), 3)
    lines = [
        f"grades: {down} down, {across} across",
        "  " + " " * width + "".join(f"  {number:>{width}}" for number in range(len(cells))),
        *(f"  {number:>{width}}" + "".join(f"  {count:>{width}}" for count in row) for number, row in enumerate(cells)),
    ]
    return "\n".join(lines)


def _second(found: SecondRound) -> str:
    rows: list[tuple[str, object]] = [
        ("evaluators", ", ".join(found.evaluators)),
        ("in both rounds", ", ".join(found.in_both_rounds) or "nobody"),
        ("copies of another", ", ".join(found.collapsed)),
        ("open conditions", found.conditions),
        ("unanimous", _share(found.unanimous)),
        ("page sets", _share(found.page_sets)),
        ("Fleiss' kappa", _number(found.fleiss)),
        ("conditions said yes to", _counts(found.positives)),
        ("quotes", found.quotes),
        *(_pair_row(one) for one in found.pairs),
    ]
    return "adjudication\n" + table(rows)


def _pair_row(one: PairAgreement) -> tuple[str, object]:
    parts = [f"condition {_share(one.condition)}, kappa {_number(one.kappa_conditions) or 'undefined'}"]
    if one.exact_grade is not None:
        parts.append(f"exact grade {_share(one.exact_grade)}, linear kappa {_number(one.kappa_linear) or 'undefined'}")
    return " and ".join(one.evaluators), "; ".join(parts)


def _share(one: Figure | None) -> str:
    if one is None or one.value is None:
        return ""
    return f"{one.count}/{one.total} = {one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(found: tuple[float, float] | None) -> str:
    return "" if found is None else f" [{found[0]:.3f}, {found[1]:.3f}]"
