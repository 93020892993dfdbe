"""Agreement of evaluators: grades, conditions, page sets, kappas, intervals (n-Clue supplement, section 4)."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.records.audit import Agreement, Figure, PairAgreement, SecondRound
from nclue_build.stats.agreement import confusion, fleiss_kappa, kappa, share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.audit import Answer, Response

    Place = tuple[str, str]
    Answers = Mapping[Place, Answer]

N_DRAWS: Final = 1000
_PERCENTILES: Final = (2.5, 97.5)


def figure(count: int, total: int) -> Figure:
    """A share with its Wilson interval."""
    found = share(count, total).interval
    return Figure(count=count, total=total, value=_defined(found.value), low=found.low, high=found.high)


def grades(answers: Answers) -> dict[str, int]:
    """The derived grade of each item: its number of yes, uncapped."""
    found: dict[str, int] = {}
    for (item_id, _), answer in sorted(answers.items()):
        found[item_id] = found.get(item_id, 0) + answer.present
    return found


def from_confusion(table: NDArray[np.int64], seed: int) -> Agreement:
    """Agreement of two evaluators of whom only the confusion table is known: of grades, or of anything ordered."""
    return Agreement(
        evaluators=(),
        exact_grade=figure(int(np.trace(table)), int(table.sum())),
        condition=None,
        page_sets=None,
        confusion=_rows(table),
        kappa=_defined(kappa(table)),
        kappa_linear=_defined(kappa(table, linear=True)),
        kappa_linear_interval=_interval(table, seed),
        kappa_conditions=None,
        fleiss=None,
        strata={},
        collapsed=(),
        positives={},
        clarity={},
    )


def agreement(
    responses: Sequence[Response], strata: Mapping[str, str], collapsed: Sequence[str], seed: int
) -> Agreement:
    """Agreement of two or more evaluators who answered the same packet.

    Shares are of items and conditions on which all agree, Fleiss' kappa is of all; what is defined for two alone
    (confusion, Cohen's kappas) is given for every pair of them, and for the whole where there are just two.

    Args:
        responses: Complete and checked, at least two.
        strata: Stratum of each item.
        collapsed: Evaluators left out as copies.
        seed: Of the bootstrap.
    """
    answers = {response.evaluator: _by_condition(response) for response in responses}
    given = {name: grades(own) for name, own in answers.items()}
    items = sorted(strata)
    same_grade = {item: len({own[item] for own in given.values()}) == 1 for item in items}
    by_stratum: dict[str, list[bool]] = {}
    for item in items:
        by_stratum.setdefault(strata[item], []).append(same_grade[item])
    pairs = tuple(_pair(one, other, answers, seed) for one, other in combinations(answers, 2))
    only = pairs[0] if len(pairs) == 1 else None
    said = {response.evaluator: response.clarity for response in responses if response.clarity}
    return Agreement(
        evaluators=tuple(answers),
        exact_grade=figure(sum(same_grade.values()), len(items)),
        condition=_unanimous(answers),
        page_sets=_same_pages(answers),
        confusion=None if only is None else only.confusion,
        kappa=None if only is None else only.kappa,
        kappa_linear=None if only is None else only.kappa_linear,
        kappa_linear_interval=None if only is None else only.kappa_linear_interval,
        kappa_conditions=None if only is None else only.kappa_conditions,
        fleiss=_fleiss(answers),
        strata={name: figure(sum(rows), len(rows)) for name, rows in sorted(by_stratum.items())},
        collapsed=tuple(collapsed),
        positives=_positives(answers),
        pairs=pairs,
        clarity={name: figure(sum(row.clear for row in rows), len(rows)) for name, rows in said.items()},
        unclear=tuple(sorted({row.item_id for rows in said.values() for row in rows if not row.clear})),
    )


def second_round(responses: Sequence[Response], collapsed: Sequence[str], first: Sequence[str]) -> SecondRound:
    """Agreement of those who answered the adjudication: on conditions, since grades are of whole pairs.

    Args:
        responses: Complete and checked, at least one.
        collapsed: Evaluators left out as copies.
        first: Evaluators of the first round.
    """
    answers = {response.evaluator: _by_condition(response) for response in responses}
    several = len(answers) > 1
    return SecondRound(
        evaluators=tuple(answers),
        in_both_rounds=tuple(sorted(answers.keys() & set(first))),
        conditions=len(next(iter(answers.values()))),
        positives=_positives(answers),
        quotes=sum(len(answer.quotes) for own in answers.values() for answer in own.values()),
        unanimous=_unanimous(answers) if several else None,
        page_sets=_same_pages(answers) if several else None,
        fleiss=_fleiss(answers) if several else None,
        pairs=tuple(_on_conditions(one, other, answers) for one, other in combinations(answers, 2)),
        collapsed=tuple(collapsed),
    )


def _on_conditions(first: str, second: str, answers: Mapping[str, Answers]) -> PairAgreement:
    both = {name: answers[name] for name in (first, second)}
    yes, other = ([int(own[place].present) for place in answers[first]] for own in both.values())
    return PairAgreement(
        evaluators=(first, second),
        exact_grade=None,
        condition=_unanimous(both),
        page_sets=_same_pages(both),
        confusion=None,
        kappa=None,
        kappa_linear=None,
        kappa_linear_interval=None,
        kappa_conditions=_defined(kappa(confusion(yes, other, 2))),
    )


def _pair(first: str, second: str, answers: Mapping[str, Answers], seed: int) -> PairAgreement:
    one, other = grades(answers[first]), grades(answers[second])
    items = sorted(one)
    n = max([*one.values(), *other.values()], default=0) + 1
    known = from_confusion(confusion([one[item] for item in items], [other[item] for item in items], n), seed)
    return _on_conditions(first, second, answers).model_copy(
        update={
            name: getattr(known, name)
            for name in ("exact_grade", "confusion", "kappa", "kappa_linear", "kappa_linear_interval")
        }
    )


def _by_condition(response: Response) -> dict[Place, Answer]:
    return {(answer.item_id, answer.condition_id): answer for answer in response.answers}


def _positives(answers: Mapping[str, Answers]) -> dict[str, int]:
    return {name: sum(answer.present for answer in own.values()) for name, own in answers.items()}


def _unanimous(answers: Mapping[str, Answers]) -> Figure:
    places = next(iter(answers.values()))
    same = [len({own[place].present for own in answers.values()}) == 1 for place in places]
    return figure(sum(same), len(same))


def _same_pages(answers: Mapping[str, Answers]) -> Figure:
    """Page sets that are equal; two empty ones are."""
    places = next(iter(answers.values()))
    same = [len({frozenset(own[place].pages) for own in answers.values()}) == 1 for place in places]
    return figure(sum(same), len(same))


def _fleiss(answers: Mapping[str, Answers]) -> float | None:
    places = next(iter(answers.values()))
    votes = [Counter(own[place].present for own in answers.values()) for place in places]
    table = np.array([[vote[True], vote[False]] for vote in votes], dtype=np.int64)
    return _defined(fleiss_kappa(table.reshape(-1, 2)))


def _rows(table: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def _interval(table: NDArray[np.int64], seed: int) -> tuple[float, float] | None:
    """Percentile bootstrap of the linear-weighted kappa, pairs drawn with replacement."""
    cells = table.reshape(-1)
    total = int(cells.sum())
    if not total:
        return None
    draws = np.random.Generator(np.random.PCG64(seed)).multinomial(total, cells / total, size=N_DRAWS)
    values = np.array([kappa(draw.reshape(table.shape), linear=True) for draw in draws])
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.percentile(values, _PERCENTILES)
    return float(low), float(high)


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
