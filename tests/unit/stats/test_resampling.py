"""Draws: the same digits whatever the threads, exact sums, and the definitions by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from nclue_build.stats.bootstrap import (
    FamilyDraws,
    crossed_weights,
    document_weights,
)
from nclue_build.stats.contrasts import smallest_detectable
from nclue_build.stats.judgments import Judgments
from nclue_build.stats.randomization import flip_p_values, holm, max_t_p_values, statistics, unit_sums
from nclue_build.stats.resampling import on_grid, resample_counts, sign_blocks, stream

RNG = np.random.default_rng(5)


def small_judgments(n_queries: int = 30, n_docs: int = 12) -> Judgments:
    rng = np.random.default_rng(3)
    rows = []
    for q in range(n_queries):
        docs = rng.choice(n_docs, size=4, replace=False).tolist()
        rows += [(f"q{q:02}", f"d{doc:02}", 2 if place == 0 else 1, place == 0) for place, doc in enumerate(docs)]
    return Judgments.of({f"q{q:02}": 2 for q in range(n_queries)}, rows)


def test_a_stream_depends_on_seed_and_purpose_alone() -> None:
    assert stream(11, "a").integers(1 << 60) == stream(11, "a").integers(1 << 60)
    assert stream(11, "a").integers(1 << 60) != stream(11, "b").integers(1 << 60)
    assert stream(11, "a").integers(1 << 60) != stream(12, "a").integers(1 << 60)


def test_sums_on_the_grid_do_not_depend_on_their_order() -> None:
    values = on_grid(RNG.random(5000), 5000.0)
    assert values.sum() == values[::-1].sum() == sum(np.sort(values).tolist())
    assert np.abs(values - on_grid(values, 5000.0)).max() == 0
    with pytest.raises(ValueError, match="no room"):
        on_grid(values, 2.0**40)


def test_counts_draw_as_many_as_there_are() -> None:
    counts = resample_counts(stream(1, "x"), 17, 50)
    assert (counts.sum(axis=1) == 17).all()


def test_signs_are_balanced_and_whole() -> None:
    signs = np.concatenate(list(sign_blocks(stream(1, "x"), 37, 2500)))
    assert signs.shape == (2500, 37)
    assert set(np.unique(signs).tolist()) == {-1, 1}
    assert abs(signs.mean()) < 0.02


def test_family_means_follow_the_formula() -> None:
    families = np.array([0, 0, 1, 2, 2, 2])
    values = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    counts = resample_counts(stream(7, "exact-family bootstrap"), 3, 40)
    by_hand = [
        sum(w * values[families == f].sum() for f, w in enumerate(row))
        / sum(w * (families == f).sum() for f, w in enumerate(row))
        for row in counts
    ]
    assert FamilyDraws.of(families, seed=7, n_draws=40).means(values)[:, 0] == pytest.approx(by_hand, abs=1e-12)


def test_families_of_one_query_are_the_ordinary_bootstrap() -> None:
    values = RNG.random(200)
    interval = FamilyDraws.of(np.arange(200), seed=1, n_draws=4000).intervals(values)[0]
    error = values.std() / np.sqrt(200)
    assert interval.low == pytest.approx(values.mean() - 1.96 * error, abs=0.3 * error)
    assert interval.high == pytest.approx(values.mean() + 1.96 * error, abs=0.3 * error)


def test_flip_p_is_the_exact_share_for_few_units() -> None:
    deltas = np.array([3.0, 1.0, -1.0, 2.0, 0.0])
    sums = [abs(sum(s * d for s, d in zip(signs, deltas, strict=True))) for signs in product([-1, 1], repeat=5)]
    exact = np.mean([total >= abs(deltas.sum()) for total in sums])
    assert flip_p_values(deltas, seed=3)[0] == pytest.approx(exact, abs=0.02)


def test_flips_by_family_flip_whole_families() -> None:
    deltas = np.array([1.0, -1.0, 1.0, 1.0])
    families = np.array([0, 0, 1, 1])
    assert unit_sums(deltas, families)[:, 0].tolist() == [0.0, 2.0]
    assert statistics(unit_sums(deltas, families))[0] == pytest.approx(1.0)
    assert flip_p_values(deltas, families, seed=1)[0] == 1.0  # either sign reaches |T| = 1


def test_no_difference_gives_p_of_one() -> None:
    assert flip_p_values(np.zeros((5, 2)), seed=1).tolist() == [1.0, 1.0]
    assert max_t_p_values(np.zeros((5, 2)), seed=1).tolist() == [1.0, 1.0]


def test_max_t_is_never_below_the_single_p_and_equal_for_one_endpoint() -> None:
    deltas = RNG.normal(0.2, 1.0, size=(60, 5))
    single, block = flip_p_values(deltas, seed=4), max_t_p_values(deltas, seed=4)
    assert (block >= single).all()
    assert max_t_p_values(deltas[:, :1], seed=4)[0] == flip_p_values(deltas[:, :1], seed=4)[0]


def test_holm_steps_down_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_crossed_weights_are_means_over_documents() -> None:
    judgments = small_judgments()
    for gold_only in (True, False):
        weights = document_weights(judgments, gold_only=gold_only)
        assert weights.sum(axis=1) == pytest.approx(np.ones(30))
    values = RNG.random(30)
    crossed = crossed_weights(judgments, gold_only=True, seed=1, n_draws=200)
    by_hand = [float((row * values).sum() / row.sum()) for row in crossed.weights]
    assert crossed.means(values) == pytest.approx(by_hand)
    assert min(by_hand) < values.mean() < max(by_hand)


def test_a_draw_without_any_weight_is_drawn_again_and_counted() -> None:
    judgments = Judgments.of({"q1": 2, "q2": 2}, [("q1", "a", 2, True), ("q2", "b", 2, True)])
    crossed = crossed_weights(judgments, gold_only=True, seed=1, n_draws=8000)
    assert (crossed.totals > 0).all()
    # Both queries are the same one and both documents the other one's in an eighth of all draws.
    assert crossed.n_redrawn / (8000 + crossed.n_redrawn) == pytest.approx(1 / 8, abs=0.015)


def test_the_smallest_detectable_difference_is_found_four_times_in_five() -> None:
    rng, n_queries, n_samples = np.random.default_rng(2), 150, 400
    noise = rng.choice([-1.0, 0.0, 1.0], size=(n_queries, n_samples))
    draws = FamilyDraws.of(np.arange(n_queries), seed=1)
    effect = float(smallest_detectable(noise, draws).mean())
    assert effect == pytest.approx((1.96 + 0.8416) * np.sqrt(2 / 3 / n_queries), rel=0.02)
    found = flip_p_values(noise + effect, seed=3, n_flips=999) <= 0.05
    assert found.mean() == pytest.approx(0.80, abs=0.06)


PROGRAM = """
import numpy as np
from nclue_build.stats.bootstrap import FamilyDraws, crossed_weights
from nclue_build.stats.influence import Incidence, one_query_per_document, thin
from nclue_build.stats.judgments import Judgments
from nclue_build.stats.regression import linear_fit, logistic_fit
from nclue_build.stats.randomization import flip_p_values, max_t_p_values
rng = np.random.default_rng(0)
values, families = rng.random((700, 40)), rng.integers(0, 300, 700)
families = np.unique(families, return_inverse=True)[1]
print(FamilyDraws.of(families, seed=11).means(values).tobytes().hex()[:4000])
print((values - values.mean(axis=0)).sum(), flip_p_values(values - 0.49, families, seed=11).tolist())
print(max_t_p_values(values - 0.49, families, seed=11).tolist())
rows = [(f"q{q:04}", f"d{doc:04}", 2, True) for q in range(700) for doc in rng.choice(300, 3, replace=False)]
judgments = Judgments.of({f"q{q:04}": 2 for q in range(700)}, rows)
print(crossed_weights(judgments, gold_only=True, seed=11).means(values[:, 0]).tobytes().hex()[:4000])
golds = Incidence.of(judgments, gold_only=True)
print(one_query_per_document(values - 0.5, golds, thin(golds, seed=11)))
many = rng.random((200_000, 3))
failed = (many[:, 0] + rng.random(200_000) > 1).astype(float)
for fit in (linear_fit, logistic_fit):
    print(fit(failed, {"a": many[:, 0], "b": many[:, 1], "c": many[:, 2]}, np.arange(200_000) // 3))
"""


def test_digits_depend_neither_on_the_number_of_threads_nor_on_the_kind_of_processor() -> None:
    outputs = []
    for threads, kernels in (("1", {"OPENBLAS_CORETYPE": "Prescott"}), ("4", {})):
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        environment = os.environ | limits | kernels
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
