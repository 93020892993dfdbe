"""Do 95 % intervals hold the truth in 95 of 100 samples, and are p values small no more often than they say?

``python benches/bench_intervals.py [SAMPLES]`` draws samples of queries in families of unequal size, whose scores go
together within a family, from a population whose mean is known: the share of samples whose exact-family interval
holds it, beside that of a bootstrap of single queries. Then differences without an effect: shares of p up to 1, 5 and
10 % of sign flips by family and, with a block of contrasts, of max-|T|.
"""

from __future__ import annotations

import sys

import numpy as np

from nclue_build.stats.bootstrap import FamilyDraws
from nclue_build.stats.randomization import flip_p_values, max_t_p_values

N_FAMILIES = 300
SIZES = np.array([1, 1, 1, 1, 2, 2, 3, 4, 6, 10])
LEVELS = (0.01, 0.05, 0.10)


def made_families(rng: np.random.Generator) -> np.ndarray:
    """Family of each query; the sizes differ by a factor of ten."""
    return np.repeat(np.arange(N_FAMILIES), rng.choice(SIZES, size=N_FAMILIES))


def differences(rng: np.random.Generator, families: np.ndarray, effect: float = 0.0) -> np.ndarray:
    """Differences of two systems (-1, 0, 1) whose population mean is ``effect``.

    A family has a taste of its own, whatever its size, so that large families do not shift the mean.
    """
    taste = rng.choice([-0.35, 0.0, 0.35], size=N_FAMILIES)[families]
    roll = rng.random(len(families))
    up, down = 0.4 + (effect + taste) / 2, 0.4 - (effect + taste) / 2
    return np.asarray((roll < up).astype(float) - (roll >= 1 - down).astype(float))


def coverage(n_samples: int, seed: int = 7) -> tuple[float, float]:
    """Shares of samples whose interval holds the true mean: by family, by query."""
    rng = np.random.default_rng(seed)
    effect, by_family, by_query = 0.1, 0, 0
    for number in range(n_samples):
        families = made_families(rng)
        delta = differences(rng, families, effect)
        for draws, which in (
            (FamilyDraws.of(families, seed=number, n_draws=1000), "family"),
            (FamilyDraws.of(np.arange(len(delta)), seed=number, n_draws=400), "query"),
        ):
            interval = draws.intervals(delta)[0]
            holds = interval.low <= effect <= interval.high
            by_family += holds and which == "family"
            by_query += holds and which == "query"
    return by_family / n_samples, by_query / n_samples


def false_alarms(n_samples: int, n_flips: int = 999, seed: int = 8) -> tuple[list[float], list[float], list[float]]:
    """Shares of samples without an effect whose p is at most 1, 5, 10 %: by family, by query, smallest of a block."""
    rng = np.random.default_rng(seed)
    p_values = np.empty((n_samples, 3))
    for number in range(n_samples):
        families = made_families(rng)
        delta = differences(rng, families)
        # Four more contrasts that go along with the first, as those of one block do: on some queries they are the same.
        shared = rng.integers(0, 2, size=(4, len(delta))).astype(bool)
        others = [np.where(same, delta, differences(rng, families)) for same in shared]
        block = np.column_stack([delta, *others])
        p_values[number] = (
            flip_p_values(delta, families, seed=number, n_flips=n_flips)[0],
            flip_p_values(delta, seed=number, n_flips=n_flips)[0],
            max_t_p_values(block, families, seed=number, n_flips=n_flips).min(),
        )
    shares = [[float((column <= level).mean()) for level in LEVELS] for column in p_values.T]
    return shares[0], shares[1], shares[2]


def main(n_samples: int) -> None:
    """Print the shares."""
    by_family, by_query = coverage(n_samples)
    print(f"{n_samples} samples of {N_FAMILIES} families of 1 to 10 queries")
    print(f"95 % interval by family holds the mean in {100 * by_family:.1f} %, one by query in {100 * by_query:.1f} %")
    names = ("flips by family", "flips by query", "smallest of a block of 5, max-|T| by family")
    for name, shares in zip(names, false_alarms(n_samples), strict=True):
        told = ", ".join(f"{100 * share:.1f} % of p <= {level:g}" for level, share in zip(LEVELS, shares, strict=True))
        print(f"no effect, {name}: {told}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
