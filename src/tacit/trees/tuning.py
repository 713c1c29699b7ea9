"""Numbers by which forests are tuned: accuracy depends on them, and no promise does."""

from __future__ import annotations

LARGEST_DEPTH = 10
"""Of a forest's trees, where no depth is asked for."""

ROWS_PER_NOISE = 6.0
"""Trees are as deep as leaves of average size hold this many standard deviations of their noise."""

PRIOR_ROWS = 1.0
"""A leaf's proportion varies around the base rate as the mean of a Beta law of one more row than this."""

CLEAR = 3.0
"""Standard deviations of its noise, from which a leaf's surplus of a class is taken for real."""

BASE_PRIOR = 1.0 / 12.0
"""Variance of the base rate, were any as likely as any other."""

LEAST_BASE = 1e-3
"""Base rates are not believed to be nearer to 0 or 1."""
