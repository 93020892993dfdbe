"""Our tests, kappas and regression against statsmodels and scipy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from nclue_build.audit.agreement import from_confusion
from nclue_build.stats.agreement import confusion, fleiss_kappa, kappa, wilson
from nclue_build.stats.contrasts import rank_agreement
from nclue_build.stats.randomization import flip_p_values, holm
from nclue_build.stats.regression import linear_fit, logistic_fit, quantile_groups

pytestmark = pytest.mark.filterwarnings("ignore")  # other people's


def foreign(name: str) -> Any:
    """A library without types."""
    return importlib.import_module(name)


@pytest.mark.parametrize("seed", range(5))
def test_holm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p_values = np.concatenate((rng.random(8) ** 3, [1 / 10_001, 1 / 10_001, 1.0])).tolist()
    theirs = foreign("statsmodels.stats.multitest").multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(theirs.tolist(), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_kappas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, size=120)
    second = np.where(rng.random(120) < 0.6, first, rng.integers(0, 4, size=120))
    table = confusion(first.tolist(), second.tolist(), 4)
    inter_rater = foreign("statsmodels.stats.inter_rater")
    theirs = inter_rater.cohens_kappa(table, return_results=False)
    linear = inter_rater.cohens_kappa(table, wt="linear", return_results=False)
    assert kappa(table) == pytest.approx(theirs, abs=1e-12)
    assert kappa(table, linear=True) == pytest.approx(linear, abs=1e-12)
    ratings = np.stack([np.bincount(rng.integers(0, 3, size=5), minlength=3) for _ in range(40)])
    assert fleiss_kappa(ratings) == pytest.approx(inter_rater.fleiss_kappa(ratings), abs=1e-12)


@pytest.mark.parametrize(("k", "seed"), [(2, 1), (2, 2), (3, 3), (4, 4), (7, 5)])
def test_any_table_of_agreement(k: int, seed: int) -> None:
    table = np.random.Generator(np.random.PCG64(seed)).integers(0, 60, size=(k, k)) + 80 * np.eye(k, dtype=np.int64)
    found = from_confusion(table, seed=11)
    inter_rater = foreign("statsmodels.stats.inter_rater")
    interval = foreign("statsmodels.stats.proportion").proportion_confint
    theirs = {weights: inter_rater.cohens_kappa(table, wt=weights, return_results=True) for weights in (None, "linear")}
    assert found.kappa == pytest.approx(theirs[None].kappa, abs=1e-12)
    assert found.kappa_linear == pytest.approx(theirs["linear"].kappa, abs=1e-12)
    exact = found.exact_grade
    assert (exact.low, exact.high) == pytest.approx(
        interval(int(np.trace(table)), int(table.sum()), method="wilson"), abs=1e-12
    )
    # Theirs is asymptotic, ours a bootstrap: of about the same width and place.
    assert found.kappa_linear_interval is not None
    low, high = found.kappa_linear_interval
    assert (low, high) == pytest.approx(
        (theirs["linear"].kappa_low, theirs["linear"].kappa_upp), abs=0.25 * (high - low)
    )


@pytest.mark.parametrize(("count", "total"), [(254, 300), (661, 710), (0, 12), (12, 12), (1, 3)])
def test_wilson(count: int, total: int) -> None:
    low, high = foreign("statsmodels.stats.proportion").proportion_confint(count, total, method="wilson")
    ours = wilson(count, total)
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_regression_with_clustered_errors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 240
    clusters = np.unique(rng.integers(0, 60, size=n), return_inverse=True)[1].astype(np.int64)
    predictors = {"a": rng.normal(3, 2, size=n), "b": rng.normal(size=n), "flat": np.ones(n)}
    chance = 1 / (
        1 + np.exp(-(0.4 * (predictors["a"] - 3) - 0.3 * predictors["b"] + rng.normal(size=60)[clusters % 60]))
    )
    y = (rng.random(n) < chance).astype(np.float64)
    scaled = [(values - values.mean()) / values.std() for name, values in predictors.items() if name != "flat"]
    design = np.column_stack([np.ones(n), *scaled])
    api = foreign("statsmodels.api")
    cases = (
        (
            linear_fit(y, predictors, clusters),
            api.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": clusters}),
        ),
        (
            logistic_fit(y, predictors, clusters),
            api.Logit(y, design).fit(disp=0, tol=1e-12, maxiter=100, cov_type="cluster", cov_kwds={"groups": clusters}),
        ),
    )
    for ours, theirs in cases:
        assert ours.converged
        assert [one.name for one in ours.coefficients] == ["intercept", "a", "b"]
        assert [one.value for one in ours.coefficients] == pytest.approx(theirs.params.tolist(), abs=1e-8)
        assert [one.standard_error for one in ours.coefficients] == pytest.approx(theirs.bse.tolist(), rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_matched_regression_is_one_with_an_intercept_per_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 300
    clusters = np.unique(rng.integers(0, 70, size=n), return_inverse=True)[1].astype(np.int64)
    density = rng.integers(5, 60, size=n).astype(float)
    groups = quantile_groups(density)
    certain = groups == 4
    predictors = {
        "a": rng.normal(size=n) + density / 40,
        "b": rng.normal(size=n),
        "of the group": groups * 2.0,
        "where all is certain": rng.normal(size=n) * certain,
    }
    y = (rng.random(n) < 1 / (1 + np.exp(-0.8 * predictors["a"] + density / 30))).astype(np.float64)
    y[certain] = 1.0  # one outcome: a linear fit learns that no predictor matters there, a logistic one nothing
    api = foreign("statsmodels.api")
    everywhere, exact = np.ones(n, dtype=bool), {"disp": 0, "tol": 1e-12, "maxiter": 100}
    for fit, model, told, names, how in (
        (linear_fit, api.OLS, everywhere, ["a", "b", "where all is certain"], {}),
        (logistic_fit, api.Logit, ~certain, ["a", "b"], exact),
    ):
        ours = fit(y, predictors, clusters, groups)
        scaled = [(predictors[name] - predictors[name].mean()) / predictors[name].std() for name in names]
        dummies = (groups[told, None] == np.unique(groups[told])).astype(float)
        fitted = model(y[told], np.column_stack([*(values[told] for values in scaled), dummies])).fit(
            cov_type="cluster", cov_kwds={"groups": clusters[told]}, **how
        )
        assert ours.converged
        assert ours.n_queries == told.sum()
        # What varies only among those who tell nothing has no coefficient, as what varies nowhere.
        assert [one.name for one in ours.coefficients] == names
        values, errors = fitted.params[: len(names)].tolist(), fitted.bse[: len(names)].tolist()
        assert [one.value for one in ours.coefficients] == pytest.approx(values, abs=1e-8)
        assert [one.standard_error for one in ours.coefficients] == pytest.approx(errors, rel=1e-6)


def test_groups_of_like_values_are_of_like_size_and_keep_equal_values_together() -> None:
    rng = np.random.default_rng(1)
    for values in (rng.random(1000), rng.integers(0, 9, size=1000).astype(float), np.zeros(7), np.arange(3.0)):
        groups = quantile_groups(values)
        assert set(groups.tolist()) == set(range(groups.max() + 1))
        order = np.argsort(values, kind="stable")
        assert (np.diff(groups[order]) >= 0).all()
        assert all(len(set(groups[values == value].tolist())) == 1 for value in np.unique(values))
    assert np.bincount(quantile_groups(rng.random(1000))).tolist() == [200] * 5


@pytest.mark.parametrize("decided", ["all", "a part"])
def test_separated_data_have_no_logistic_fit(decided: str) -> None:
    rng = np.random.default_rng(1)
    size = 80
    group = (np.arange(size) < 20).astype(np.float64)
    y = group.copy() if decided == "all" else np.where(group > 0, 1.0, rng.integers(0, 2, size=size))
    assert not logistic_fit(y, {"group": group, "other": rng.normal(size=size)}, np.arange(size)).converged


@pytest.mark.parametrize("seed", range(4))
def test_rank_agreement(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, size=20).astype(float), rng.integers(0, 6, size=20).astype(float)
    ours = rank_agreement(first.tolist(), second.tolist())
    ranks = rankdata(first), rankdata(second)
    assert ours.spearman == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12)
    assert ours.kendall_tau_b == pytest.approx(kendalltau(first, second, variant="b").statistic, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_sign_flips_are_the_exact_paired_permutation_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base, variant = rng.integers(0, 2, size=11).astype(float), rng.integers(0, 2, size=11).astype(float)
    exact = (
        foreign("scipy.stats")
        .permutation_test((variant, base), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf)
        .pvalue
    )
    assert flip_p_values(variant - base, seed=seed)[0] == pytest.approx(min(exact, 1.0), abs=0.02)
