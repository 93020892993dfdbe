"""Agreement of evaluators: grades, conditions, page sets, kappas, intervals (n-Clue supplement, section 4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.records.audit import Agreement, Figure
from nclue_build.stats.agreement import confusion, fleiss_kappa, kappa, share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.audit import Answer, Response

N_DRAWS: Final = 1000
_PERCENTILES: Final = (2.5, 97.5)


def figure(count: int, total: int) -> Figure:
    """A share with its Wilson interval."""
    found = share(count, total).interval
    return Figure(count=count, total=total, value=_defined(found.value), low=found.low, high=found.high)


def grades(response: Response) -> dict[str, int]:
    """The derived grade of each item: its number of yes, uncapped."""
    found: dict[str, int] = {}
    for answer in response.answers:
        found[answer.item_id] = found.get(answer.item_id, 0) + answer.present
    return found


def from_confusion(table: NDArray[np.int64], seed: int) -> Agreement:
    """Agreement on grades of two evaluators, of whom only the confusion table is known."""
    pairs = np.repeat(np.indices(table.shape).reshape(2, -1).T, table.reshape(-1), axis=0)
    n = len(table)
    return Agreement(
        evaluators=(),
        exact_grade=figure(int(np.trace(table)), int(table.sum())),
        condition=None,
        page_sets=None,
        confusion=tuple(tuple(row) for row in table.tolist()),
        kappa_linear=_defined(kappa(table, linear=True)),
        kappa_linear_interval=_interval(pairs, n, seed),
        kappa_conditions=None,
        fleiss=None,
        strata={},
        collapsed=(),
    )


def agreement(
    responses: Sequence[Response], strata: Mapping[str, str], collapsed: Sequence[str], seed: int
) -> Agreement:
    """Agreement of two or more evaluators who answered the same packet.

    Pairwise figures are of the first two; Fleiss' kappa on conditions is of all.

    Args:
        responses: Complete and checked, at least two.
        strata: Stratum of each item.
        collapsed: Evaluators left out as copies.
        seed: Of the bootstrap.
    """
    first, second = responses[:2]
    one, other = grades(first), grades(second)
    items = sorted(one)
    n = max([*one.values(), *other.values()]) + 1
    table = confusion([one[item] for item in items], [other[item] for item in items], n)
    answers = [_by_condition(response) for response in responses]
    places = sorted(answers[0])
    yes = np.array([[row[place].present for row in answers] for place in places], dtype=np.int64)
    base = from_confusion(table, seed)
    by_stratum: dict[str, list[bool]] = {}
    for item in items:
        by_stratum.setdefault(strata[item], []).append(one[item] == other[item])
    ratings = np.stack([yes.sum(axis=1), len(responses) - yes.sum(axis=1)], axis=1)
    same_pages = [set(answers[0][place].pages) == set(answers[1][place].pages) for place in places]
    return base.model_copy(
        update={
            "evaluators": tuple(response.evaluator for response in responses),
            "condition": figure(int((yes[:, 0] == yes[:, 1]).sum()), len(places)),
            "page_sets": figure(sum(same_pages), len(places)),
            "kappa_conditions": _defined(kappa(confusion(yes[:, 0].tolist(), yes[:, 1].tolist(), 2))),
            "fleiss": _defined(fleiss_kappa(ratings)),
            "strata": {name: figure(sum(rows), len(rows)) for name, rows in sorted(by_stratum.items())},
            "collapsed": tuple(collapsed),
        }
    )


def _by_condition(response: Response) -> dict[tuple[str, str], Answer]:
    return {(answer.item_id, answer.condition_id): answer for answer in response.answers}


def _interval(pairs: NDArray[np.int64], n: int, seed: int) -> tuple[float, float] | None:
    """Percentile bootstrap of the linear-weighted kappa, pairs drawn with replacement."""
    if not len(pairs):
        return None
    cells = np.bincount(pairs[:, 0] * n + pairs[:, 1], minlength=n * n)
    draws = np.random.Generator(np.random.PCG64(seed)).multinomial(len(pairs), cells / cells.sum(), size=N_DRAWS)
    values = np.array([kappa(draw.reshape(n, n), linear=True) for draw in draws])
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.percentile(values, _PERCENTILES)
    return float(low), float(high)


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
