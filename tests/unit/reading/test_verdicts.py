"""Shares of verdicts and their intervals."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from nclue_build.reading.verdicts import count_shares
from nclue_build.records.reading import VERDICTS, ItemKind, SheetItem
from nclue_build.stats.agreement import wilson


def item(number: int, kind: ItemKind, verdict: str | None, stratum: str = "all") -> SheetItem:
    return SheetItem(
        item_id=f"{kind}/{number}",
        kind=kind,
        stratum=stratum,
        population=100,
        build_sha256="0" * 64,
        seed=1,
        name="x",
        forms=("x",),
        places=(),
        verdict=verdict,
        reader="a person" if verdict else None,
    )


def test_intervals_are_those_of_scipy() -> None:
    from scipy.stats import binomtest  # noqa: PLC0415 - heavy

    for total in (1, 7, 40, 300):
        for count in range(total + 1):
            expected = binomtest(count, total).proportion_ci(method="wilson")
            interval = wilson(count, total)
            assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_papers_interval() -> None:
    interval = wilson(254, 300)
    assert (round(100 * interval.low, 1), round(100 * interval.high, 1)) == (80.2, 88.3)


def test_strata_are_counted_apart_and_what_nobody_read_is_no_verdict() -> None:
    items = [
        *(item(number, "query", "acceptable", "strict") for number in range(3)),
        item(3, "query", "implausible", "strict"),
        item(4, "query", None, "strict"),
        item(5, "query", "uncovered", "weak_golds"),
        item(6, "fact", None),
    ]
    strict, weak, facts = count_shares(items)
    assert (strict.drawn, strict.read) == (5, 4)
    assert [(share.verdict, share.count, share.share) for share in strict.shares] == [
        ("acceptable", 3, 0.75),
        ("implausible", 1, 0.25),
        ("uncovered", 0, 0.0),
    ]
    assert [share.count for share in weak.shares] == [0, 0, 1]
    assert (facts.drawn, facts.read, facts.shares) == (1, 0, ())


@pytest.mark.parametrize("kind", VERDICTS)
def test_verdicts_of_another_kind_are_refused(kind: ItemKind) -> None:
    for verdict in VERDICTS[kind]:
        assert item(0, kind, verdict).verdict == verdict
    with pytest.raises(ValidationError, match="must be one of"):
        item(0, kind, "fine")


def test_a_verdict_needs_its_reader() -> None:
    with pytest.raises(ValidationError, match="reader"):
        SheetItem.model_validate({**item(0, "fact", "right").model_dump(), "reader": None}, strict=False)
