"""The bounds of chance refuse what they are for, and their alarms are as rare as is said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.chance import (
    ALARM,
    GAUSSIAN_DRAWS,
    LAPLACE_DRAWS,
    Z,
    at_least_share,
    at_most_share,
    check_scale,
    scale_bounds,
    within_law,
    within_share,
)


def test_shares_are_refused_exactly_where_the_tails_are_rare() -> None:
    inside = [hits for hits in range(101) if within_share(hits, 100, 0.3)]
    law = stats.binom(100, 0.3)
    assert law.cdf(inside[0] - 1) <= ALARM / 2 < law.cdf(inside[0])
    assert law.sf(inside[-1]) <= ALARM / 2 < law.sf(inside[-1] - 1)
    assert [at_most_share(hits, 100, 0.3) for hits in (30, 62, 100)] == [True, False, False]
    assert [at_least_share(hits, 100, 0.3) for hits in (30, 5, 0)] == [True, True, False]
    assert stats.norm.sf(Z) == pytest.approx(ALARM / 2)


def test_a_law_is_refused_by_a_cell_or_by_a_sum_of_cells() -> None:
    law = dict.fromkeys(range(20), 0.05)
    assert within_law(dict.fromkeys(range(20), 500), law)
    assert not within_law({place: 500 + 100 * (place < 10) for place in range(20)}, law)
    assert not within_law({place: 500 + 1000 * (place == 3) for place in range(20)}, law)
    assert not within_law({**dict.fromkeys(range(20), 500), "other": 1}, law)


@pytest.mark.parametrize(("laplace", "draws"), [(False, GAUSSIAN_DRAWS), (True, LAPLACE_DRAWS)])
def test_a_scale_ten_percent_off_is_refused(laplace: bool, draws: int) -> None:
    """Errors at the quantiles of the law have its scale, and no other."""
    law = stats.laplace if laplace else stats.norm
    errors = law.ppf((np.arange(draws) + 0.5) / draws)
    check_scale(3 * errors, 3.0, laplace)
    for wrong in (0.9, 1.1):
        with pytest.raises(AssertionError):
            check_scale(3 * wrong * errors, 3.0, laplace)
    with pytest.raises(ValueError, match="do not tell"):
        scale_bounds(draws * 7 // 8, laplace)
