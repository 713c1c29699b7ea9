"""Boosting as a zero-sum game (Appendix I): rows against hypotheses, and how well any booster could have played.

Everything here works on plain arrays of margins and losses. It reads labels: on private rows it is a diagnostic for the
operator, **not private and not for release**, and its results say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints


def capped_scaling(logs: Floats, total: float) -> Floats:
    """``min(1, c exp(logs))`` with the ``c`` that makes it add up to ``total``, at most their number (Lemma 9).

    Shape ``(n,)``, as ``logs``: after the rounds of Theorem 20 at a small advantage the weights are no numbers.
    """
    order = np.sort(logs)[::-1]
    below = np.logaddexp.accumulate(order[::-1])[::-1]  # what the k-th largest weight and all smaller ones add up to
    scales = np.log(total - np.arange(min(len(order), math.ceil(total)))) - below[: math.ceil(total)]
    fits = scales + order[: len(scales)] <= 0.0
    scale = scales[int(np.argmax(fits))] if fits.any() else math.inf  # the fewest capped weights that work
    return np.exp(np.minimum(0.0, logs + scale))


def soft_punishments(margins: npt.ArrayLike) -> Floats:
    """Soft punishments by margin ``y h(x)`` in [-1, 1]: the booster loses ``1 - |h(x) - y| / 2 = (1 + y h(x)) / 2``.

    Raises ``ValueError`` for margins beyond [-1, 1].
    """
    values = np.asarray(margins, dtype=np.float64)
    if values.size and float(np.abs(values).max()) > 1 + 1e-9:
        raise ValueError("hypotheses of the game have values in [-1, 1]; clip their margins first")
    return 0.5 + 0.5 * values


def divergence(measure: Floats, start: Floats) -> float:
    """KL divergence of two bounded measures (Definition 4), ``0 log 0 = 0``."""
    positive = measure > 0
    logs = measure[positive] * np.log(measure[positive] / start[positive])
    return float(logs.sum() + start.sum() - measure.sum())


@dataclass(frozen=True, eq=False)
class Pythia:
    """What the prophetic booster plays (Algorithm 8). Not private.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import pythia
        >>> print(pythia(np.array([0.9, 0.1, 0.5, 0.7]), density=0.5).theta)
        0.5
    """

    bad: Ints  # indices of the bad set `B`: all mistakes, then the rows of least margin, until there are `kappa n`
    theta: float  # the margin of the last row added, 0 if mistakes alone fill the set: rows outside have at least that
    releasable: bool = False  # never: it looked at the rows


def pythia(margins: Floats, density: float) -> Pythia:
    """Algorithm 8: the worst ``density n`` rows for an average hypothesis of margins ``y_i H(x_i)``.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import pythia
        >>> print(pythia(np.array([0.9, 0.1, 0.5, 0.7]), density=0.5).bad)
        [1 2]
    """
    n = len(margins)
    order = np.argsort(margins, kind="stable")
    mistakes = int((margins < 0).sum())
    least = int(np.ceil(density * n - 1e-9))
    if mistakes >= least:
        return Pythia(order[:mistakes], 0.0)
    return Pythia(order[:least], float(margins[order[least - 1]]))


RowPlayer = Callable[[Floats], Floats]  # given the losses so far, shape `(t, n)`, the next measure of the rows


def lazy_dense_updates(density: float, learning_rate: float) -> RowPlayer:
    """Algorithms 7 and 9: the row player's strategy behind lazy Bregman. One projection, no state but the losses.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import lazy_dense_updates
        >>> player = lazy_dense_updates(density=0.5, learning_rate=0.5)
        >>> print(callable(player))
        True
    """

    def play(losses: Floats) -> Floats:
        return capped_scaling(-learning_rate * losses.sum(axis=0), density * losses.shape[1])

    return play


@dataclass(frozen=True, eq=False)
class Play:
    """A played game: measures and losses of every round, shape ``(T, n)``. Not private.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import Play
        >>> print(Play(np.ones((3, 4)), np.zeros((3, 4))).releasable)
        False
    """

    measures: Floats
    losses: Floats
    releasable: bool = False

    @property
    def average_loss(self) -> float:
        """The row player's expected loss per round."""
        weights = self.measures / self.measures.sum(axis=1, keepdims=True)
        return float((weights * self.losses).sum() / len(self.losses))

    def average_loss_of(self, measure: Floats) -> float:
        """What a player of one fixed measure would have lost per round."""
        return float(self.losses.mean(axis=0) @ measure / measure.sum())


def iterated_play(row_player: RowPlayer, column_player: Callable[[Floats], Floats], n_rows: int, rounds: int) -> Play:
    """Algorithm 6: both players choose, the losses on all pure row strategies are revealed; again for T rounds.

    The row player sees the losses so far. The column player sees the row player's measure, and says the loss of every
    row, in [0, 1].

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import iterated_play, lazy_dense_updates
        >>> def first_loses(measure):  # the column player
        ...     return np.array([1.0, 0.0, 0.0, 0.0])
        >>> play = iterated_play(lazy_dense_updates(0.5, 0.5), first_loses, n_rows=4, rounds=3)
        >>> print(play.measures.shape)
        (3, 4)
    """
    losses, measures = np.zeros((rounds, n_rows)), np.zeros((rounds, n_rows))
    for t in range(rounds):
        measures[t] = row_player(losses[:t])
        losses[t] = column_player(measures[t])
    return Play(measures, losses)


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """How a fitted ensemble did as a game. **Not private**: it reads the labels of the rows it is given.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import diagnose
        >>> print(diagnose(np.ones((3, 4)), density=0.25).releasable)
        False
    """

    bad_share: float  # share of the rows in Pythia's bad set
    theta: float  # margin outside the bad set
    mistakes: float  # share of rows with margin below 0
    pythia_loss: float  # average loss of Pythia's measure; Lemma 38 says at most `(1 + theta) / 2`
    releasable: bool = False  # never: it looked at the rows

    def __str__(self) -> str:
        return (
            f"NOT PRIVATE, not for release: all but {self.bad_share:.1%} of the rows have margin at least "
            f"{self.theta:.4f}; {self.mistakes:.1%} are mistakes; Pythia's loss is {self.pythia_loss:.4f} "
            f"(bound {(1 + self.theta) / 2:.4f})"
        )


def diagnose(margins_by_round: npt.ArrayLike, density: float) -> Diagnosis:
    """Pythia's view of an ensemble with margins ``y_i h_t(x_i)`` in [-1, 1], shape ``(T, n)``; ``density`` is kappa.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import diagnose
        >>> found = diagnose(np.array([[1.0, 1.0, -1.0, 1.0], [1.0, -1.0, -1.0, 1.0]]), density=0.25)
        >>> print(found.mistakes)
        0.25
    """
    by_round = np.asarray(margins_by_round, dtype=np.float64)
    losses = soft_punishments(by_round)
    combined = by_round.mean(axis=0)
    worst = pythia(combined, density)
    loss = float(losses.mean(axis=0)[worst.bad].mean()) if len(worst.bad) else 0.0
    return Diagnosis(len(worst.bad) / max(1, len(combined)), worst.theta, float((combined < 0).mean()), loss)
