"""The ranked probability score of classes in an order (Epstein 1969): of rows, and as sums that are released.

A row whose class is ``y``, of ``K`` in an order, scores ``sum over cuts k of (P(class <= k) - [y <= k])**2 / (K - 1)``:
0 for all chance at its class, 1 for all of it at the wrong end. Chances that lie near count for something, as no score
of the true class's chance alone would have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.encoding.grid import NumericGrid
from tacit.evaluation.strategy import noise_draws, noises, shared, sums_by_group
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.rules import count_rule

RANKED_CELLS = 1024
"""Equal cells over scores of rows, from 0 to 1; fewer with many groups, as the release has a column for each."""

MOST_RANKED_CELLS = 8192
"""Of all groups together."""


def ranked_probability_scores(chances: npt.ArrayLike, places: npt.ArrayLike) -> Floats:
    """The score of every row, between 0 and 1 whatever the chances are; shape ``(rows,)``. A row's depends on it alone.

    Args:
        chances: shape ``(rows, K)``, classes in their order. What is no number counts as 0, and sums are cut off at 0
            and 1.
        places: the class of every row, ``0 .. K - 1``; shape ``(rows,)``.
    """
    finite = np.nan_to_num(np.asarray(chances, np.float64), nan=0.0, posinf=1.0, neginf=0.0)
    upto = np.clip(np.cumsum(finite, axis=1)[:, :-1], 0.0, 1.0)
    below = np.asarray(places)[:, None] <= np.arange(upto.shape[1])
    return np.asarray(np.minimum(np.square(upto - below).mean(axis=1), 1.0))


def ranked_probability_score(labels: Any, probabilities: Any, classes: Sequence[Any]) -> float:
    """The mean ranked probability score, divided by the number of cuts: 0 is best, 1 the worst there is (Epstein 1969).

    Of two classes it is the Brier score. This is the exact figure, for rows that are public or for the holder of the
    data alone: :func:`tacit.private_score` releases it with noise, for a charge.

    Args:
        labels: the class of every row, shape ``(rows,)``, at least one row.
        probabilities: shape ``(rows, classes)``, columns as ``classes``.
        classes: two or more, in their order.

    Raises:
        ValueError: for a label that is no class, or shapes that do not fit.

    Example:
        >>> from tacit import ranked_probability_score
        >>> probabilities = [[0.8, 0.1, 0.1], [0.0, 0.0, 1.0]]
        >>> round(ranked_probability_score(["low", "high"], probabilities, ["low", "middle", "high"]), 4)
        0.0125
    """
    place = {value: k for k, value in enumerate(classes)}
    chances = np.asarray(probabilities, np.float64)
    known = [place.get(label.item() if isinstance(label, np.generic) else label) for label in labels]
    if len(place) < 2 or len(place) != len(classes) or chances.shape != (len(known), len(place)) or not known:
        raise ValueError(
            f"need two or more different classes, a label for every row and a probability for every class, got "
            f"{len(classes)} classes, {len(known)} labels and probabilities of shape {chances.shape}"
        )
    if None in known:
        raise ValueError(f"labels must be among {', '.join(map(str, classes))}")
    return float(ranked_probability_scores(chances, np.array(known)).mean())


def ranked_grid(groups: int) -> NumericGrid:
    """Cells over the scores of rows."""
    return NumericGrid(0.0, 1.0, max(min(RANKED_CELLS, MOST_RANKED_CELLS // groups), 64))


def ranked_matrix(cells: int) -> Floats:
    """What a row of each cell adds, shape ``(3, cells)``: of its score ``r``, ``(1 - r)**2, 2 r (1 - r), r**2``.

    They sum to 1 and none is negative, so that a row adds a vector of L1 norm 1, and of L2 norm at most 1. Rows, the
    sum of their scores and the sum of their squares follow from the three.
    """
    score = (np.arange(cells) + 0.5) / cells
    return np.array([(1 - score) ** 2, 2 * score * (1 - score), score**2])


ROWS, SCORES, SQUARES = np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0])
"""Linear forms over the three released numbers."""


@final
@dataclass(frozen=True, eq=False)
class RankedSums:
    """What was released of the scores of one group of rows: three noisy sums.

    ``noise`` has the standard deviations of the independent noises that add up in each, Laplace or Gaussian.
    """

    values: Floats
    noise: tuple[float, ...]
    laplace: bool

    def noise_draws(self, times: int, generator: np.random.Generator) -> Floats:
        """Noise as it might have been, shape ``(times, 3)``; public randomness."""
        return noise_draws(self.noise, self.laplace, (times, 3), generator)

    @property
    def rows_sd(self) -> float:
        """Standard deviation of the noise in the number of rows."""
        return float(np.linalg.norm(self.noise) * np.linalg.norm(ROWS)) if self.noise else 0.0


def release_ranked(
    curator: Curator, groups: int, norm: int, charge: Charge
) -> tuple[RankedSums, tuple[RankedSums, ...]]:
    """The sums of all rows and of each group, in one release over a table made by :meth:`ScoreGroups.encoding`.

    Guarantee: that of ``charge``. A row has one score and one group, so it moves the release by one column of its
    matrix, whose norm (1 for Laplace noise, 2 for Gaussian) is at most 1 (docs/theory/sensitivities.md, section 0).
    """
    by_group = shared(groups, norm)
    query = sums_by_group(ranked_matrix(ranked_grid(groups).cells), by_group, count_rule(2))
    release = curator.measure(query, charge, Label(Stage.EVALUATION, "sums of ranked probability scores, by group"))
    values = release.value.reshape(len(by_group.matrix), 3)

    def view(weights: Floats) -> RankedSums:
        return RankedSums(weights @ values, noises(weights, release.sd), norm == 1)

    each = tuple(view(weights) for weights in by_group.inverse) if groups > 1 else ()
    return view(by_group.inverse.sum(axis=0)), each
