"""A proved bound of the error on new rows: every constant by value, coverage exactly where it is nearly attained."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from tacit.theory.certified_error import certified_error, noise_of_counts, occam_bound


def laplace_sum(scale: float, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and exact probabilities of a sum of discrete Laplace variables."""
    reach = math.ceil(60 * scale)
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    one /= one.sum()
    law = np.ones(1)
    for _ in range(cells):
        law = np.convolve(law, one)
    return np.arange(len(law)) - len(law) // 2, law


@pytest.mark.parametrize(("scale", "cells"), [(3.0, 1), (3.0, 4), (0.7, 9), (8.0, 2)])
@pytest.mark.parametrize("failure", [0.1, 0.0125, 1e-6])
def test_noise_of_counts_holds_exactly(scale: float, cells: int, failure: float) -> None:
    values, law = laplace_sum(scale, cells)
    assert law[values > noise_of_counts(scale * math.sqrt(2), cells, failure)].sum() <= failure


@pytest.mark.parametrize("cells", [1, 4])
def test_noise_of_counts_a_tenth_smaller_does_not_hold(cells: int) -> None:
    """Chernoff's bound misses a factor that does not grow with the probability: far out a tenth shows."""
    values, law = laplace_sum(2.0, cells)
    bound = noise_of_counts(2.0 * math.sqrt(2), cells, 1e-20)
    assert law[values > bound].sum() <= 1e-20 < law[values > 0.9 * bound].sum()


def test_noise_of_counts_holds_for_gaussian_noise_of_the_same_deviation() -> None:
    for cells in (1, 5, 50):
        for failure in (0.1, 0.01, 1e-6):
            gaussian = math.sqrt(2 * cells * math.log(1 / failure))
            assert gaussian <= noise_of_counts(1.0, cells, failure) < 5 * gaussian
    assert noise_of_counts(0.0, 5, 0.01) == 0.0 == noise_of_counts(1.0, 0, 0.01)


def test_occam_bound_fails_no_more_often_than_it_says_and_a_tenth_shorter_does() -> None:
    """Of e^60 models, each of error .3 and independent of the others, the best on the rows is taken.

    Its errors on the rows are the least of so many binomials: how often the bound is below .3 can be computed.
    """
    n, error, log_models, failure = 4000, 0.3, 60.0, 0.05

    def fails(budget: float) -> float:
        """How often ``kl(share || .3) > budget / n`` for the best model."""
        shares = np.arange(1, int(error * n)) / n
        kl = shares * np.log(shares / error) + (1 - shares) * np.log((1 - shares) / (1 - error))
        below = round(shares[n * kl > budget].max() * n)
        return float(-np.expm1(-np.exp(log_models + binom.logcdf(below, n, error))))

    whole = log_models + math.log(1 / failure)
    assert fails(whole) <= failure < fails(0.9 * whole)
    for wrong in (800, 950, 1100):
        share = wrong / n
        kl = share * math.log(share / error) + (1 - share) * math.log((1 - share) / (1 - error))
        assert (occam_bound(wrong, n - wrong, log_models, failure) < error) == (n * kl > whole)


def test_certified_error_takes_the_worst_that_noise_may_hide() -> None:
    wrong, right, sd = 120.0, 880.0, 4.0
    most = wrong + noise_of_counts(sd, 6, 0.0125)
    fewest = right - noise_of_counts(sd, 3, 0.0125)
    result = certified_error(wrong, right, (6, 3), sd, 20.0, 0.05)
    assert result == occam_bound(most, fewest, 20.0, 0.025)
    for e in np.linspace(0, most, 7):
        for r in np.linspace(fewest, 2 * right, 7):
            assert occam_bound(e, r, 20.0, 0.025) <= result  # whatever the counts were, it covers them
    assert certified_error(120, 880, (6, 3), 0.0, 20.0, 0.05) == occam_bound(120, 880, 20.0, 0.025)
    assert certified_error(-9.0, 880, (6, 3), 0.0, 20.0, 0.05) == occam_bound(0, 880, 20.0, 0.025)
    assert certified_error(10, 5, (6, 3), 40.0, 20.0, 0.05) == 1.0
