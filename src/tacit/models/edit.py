"""Changes of released models by hand: free, checked against what was measured, and logged.

An edit is a function of the model alone, so it costs no privacy (post-processing). Each is compared with the released
effect that it replaces: by how many standard deviations of the noise they differ, at the place where it is most.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.optimize import isotonic_regression

from tacit.arrays import Bools, Floats
from tacit.display import shortened
from tacit.encoding.grid import NumericGrid
from tacit.models.additive import TREES, AdditiveModel, AdditiveScores, MainEffect, PairEffect
from tacit.models.additive_scores import additive_scores
from tacit.models.base import Model
from tacit.models.binding import ClaimError, model_digest
from tacit.models.feature import Feature
from tacit.privacy.assumptions import EDIT, Assumption
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import RequestError

CONTRADICTS = 3.0
"""An edit that is further from what was measured, in standard deviations of the noise, contradicts it."""

MOST_DEVIATIONS = 1e9
"""What is further from what was measured counts as this far."""

HAIR = 1e-6
"""An edge this near an end of a stretch, as a part of the whole range, is that end: grids round."""

KERNEL = (0.25, 0.5, 0.25)
"""How much a bin's neighbours count when a curve is smoothed."""


@dataclass(frozen=True)
class Change:
    """One entry of the history.

    Attributes:
        term: what was edited.
        text: what was done to it.
        deviations: how far the new effect is from the released one, in standard deviations of the noise, where most.
        place: the bin where that is.
    """

    term: str
    text: str
    deviations: float
    place: str

    @property
    def contradicts(self) -> bool:
        """Whether noise does not explain the difference."""
        return self.deviations > CONTRADICTS

    def __str__(self) -> str:
        if not self.contradicts:
            return f"{self.term} {self.text}, within {self.deviations:.1f} standard deviations of what was measured"
        number = f"{self.deviations:.1f}" if self.deviations < 1e5 else f"{self.deviations:.0e}"
        size = "without noise" if math.isinf(self.deviations) else f"at {number} standard deviations"
        return f"{self.term} {self.text}, which contradicts what was measured {size} (at {self.place})"


@dataclass(frozen=True, eq=False, repr=False)
class Edit:
    """A model under edit. Nothing is changed in place: every method returns another, and :attr:`model` is frozen.

    Attributes:
        model: as edited so far.
        original: as it was released.
        term: what the next change is about.
        history: the changes so far.
        before: what :meth:`undo` goes back to.

    Example:
        ``edited = model.edit("age").flatten(60, 90).monotone("increasing")``; see :doc:`/look`.
    """

    model: Model
    original: Model
    term: str
    history: tuple[Change, ...] = ()
    before: Edit | None = None

    def edit(self, term: str) -> Edit:
        """Goes on with another term: a column, two with ``" x "`` between them, or the trees over the residual.

        Raises:
            RequestError: if the model has no such term.
        """
        _effect(_scores(self.model), term)
        return replace(self, term=term)

    def undo(self) -> Edit:
        """Goes back by one change.

        Raises:
            RequestError: if there is none.
        """
        if self.before is None:
            raise RequestError("there is no change to undo")
        return self.before

    def flatten(self, *places: Any) -> Edit:
        """Gives bins one effect: their mean over the released rows.

        Args:
            places: the two ends of a stretch of numbers, or the categories.
        """
        feature, main = self._main()
        inside = _inside(feature, places)
        weight = np.where(inside, np.maximum(main.counts, 1e-9), 0.0)
        mix = np.eye(len(inside))
        mix[inside] = weight / weight.sum()
        return self._mixed(mix, f"flattened {_words(feature, places)}")

    def smooth(self) -> Edit:
        """Averages every bin of a curve with its neighbours, which count half as much each; missing values stay."""
        feature, main = self._main()
        last = feature.n_bins - 1
        if not feature.ordered:
            raise RequestError(f"{self.term!r} has categories, which are no curve to smooth: flatten them")
        mix = np.eye(len(main.effect))
        for place in range(last):
            mix[place] = 0.0
            for step, share in zip((-1, 0, 1), KERNEL, strict=True):
                mix[place, min(max(place + step, 0), last - 1)] += share
        return self._mixed(mix, "smoothed")

    def monotone(self, direction: str, *categories: str) -> Edit:
        """Lets a curve rise or fall only: the nearest such curve, bins weighed by what is known of them.

        Args:
            direction: ``"increasing"`` or ``"decreasing"``.
            categories: of a column of categories, those that have an order, in this order; others stay.
        """
        feature, main = self._main(single=True)
        if direction not in ("increasing", "decreasing"):
            raise RequestError(f"a direction is 'increasing' or 'decreasing', got {direction!r}")
        places, text = _in_order(feature, categories), f" over {', '.join(categories)}" if categories else ""
        values, precision = main.effect[places, 0], np.maximum(main.sd[places, 0], 1e-9) ** -2.0
        effect = main.effect.copy()
        effect[places, 0] = isotonic_regression(values, weights=precision, increasing=direction == "increasing").x
        return self._changed(replace(main, effect=effect), f"made {direction}{text}")

    def set(self, value: float, *places: Any) -> Edit:
        """Sets the effect of bins, in the unit of the scores: log-odds, or the target's.

        Args:
            value: the effect, finite.
            places: as for :meth:`flatten`.
        """
        feature, main = self._main(single=True)
        if not _is_number(value) or not math.isfinite(value):
            raise RequestError(f"an effect is a finite number, got {shortened(repr(value))}")
        inside = _inside(feature, places)[:, None]
        changed = replace(main, effect=np.where(inside, float(value), main.effect), sd=np.where(inside, 0.0, main.sd))
        return self._changed(changed, f"set to {value:+.4g} {_words(feature, places)}")

    def remove(self) -> Edit:
        """Takes the term out of the prediction: its effect is 0 everywhere, and has no noise."""
        term = _effect(_scores(self.model), self.term)
        if term is None:
            scores = _scores(self.model)
            released = _scores(self.original).trees
            size = math.inf if any(tree.sd is None for tree in released) else 0.0
            for tree in released if not size else ():
                size = max(size, _deviations(np.zeros_like(tree.values), tree.values, cast(Floats, tree.sd))[0])
            return self._next(replace(scores, trees=()), Change(self.term, "removed", size, "a leaf"))
        nothing = np.zeros_like(term.effect)
        return self._changed(replace(term, effect=nothing, sd=nothing), "removed")

    def certificate(self, released: Certificate) -> Certificate:
        """The certificate of the edited model: what was released stays, and every edit is said.

        Args:
            released: that of the original model. A signature is not taken over.

        Raises:
            ClaimError: if it is that of another model.
        """
        digest = model_digest(self.original)
        if released.model_digest != digest:
            raise ClaimError("this certificate is not that of the model that was edited")
        if not self.history:
            return released
        changes = "; ".join(str(change) for change in self.history)
        bound = released.bound(
            model_digest(self.model), released.schema_digest, target=released.target, columns=released.columns,
            parameters=released.parameters,
        )  # fmt: skip
        return bound.assuming(Assumption(EDIT, f"edited by hand from the model {digest}: {changes}", True))

    def plot(self) -> Any:
        """The drawing of the term as it is now."""
        return self.model.plot(self.term)

    def __repr__(self) -> str:
        return shortened(f"<Edit of {self.term}: {'; '.join(map(str, self.history)) or 'nothing changed yet'}>")

    def _main(self, single: bool = False) -> tuple[Feature, MainEffect]:
        """The curve or the bars that the term is; of one score only, if they must be."""
        scores = _scores(self.model)
        term = _effect(scores, self.term)
        if not isinstance(term, MainEffect):
            raise RequestError(f"{self.term!r} is not the effect of one column: it can only be removed")
        if single and scores.n_scores > 1:
            raise RequestError("a model of several classes has a curve for each: flatten, smooth or remove it")
        return scores.features[term.feature], term

    def _mixed(self, mix: Floats, text: str) -> Edit:
        """Every bin as a mean of bins; noise is averaged as it is."""
        _, main = self._main()
        sd = np.sqrt(np.square(mix) @ np.square(main.sd))
        return self._changed(replace(main, effect=mix @ main.effect, sd=sd), text)

    def _changed(self, term: MainEffect | PairEffect, text: str) -> Edit:
        scores, released = _scores(self.model), _effect(_scores(self.original), self.term)
        assert released is not None
        if isinstance(term, MainEffect):
            feature = scores.features[term.feature]
            _check_direction(feature, term.effect)
            mains = tuple(term if main.feature == term.feature else main for main in scores.mains)
            names = feature.bin_labels()
            scores = replace(scores, mains=mains)
        else:
            pairs = tuple(term if pair.features == term.features else pair for pair in scores.pairs)
            names, scores = [], replace(scores, pairs=pairs)
        deviations, at = _deviations(term.effect, released.effect, released.sd)
        return self._next(scores, Change(self.term, text, deviations, names[at] if names else "a cell"))

    def _next(self, scores: AdditiveScores, change: Change) -> Edit:
        return Edit(_with_scores(self.model, scores), self.original, self.term, (*self.history, change), self)


def edit(model: Model, term: str) -> Edit:
    """Begins to edit a term of an additive model.

    Raises ``RequestError`` if the model is of another kind, or has no such term.
    """
    _effect(_scores(model), term)
    return Edit(model, model, term)


def _scores(model: Model) -> AdditiveScores:
    scores = additive_scores(model)
    if scores is None:
        kind = model.kind.replace("_", " ")
        raise RequestError(f"a model of the kind {kind!r} has no terms to edit: additive ones have")
    return scores


def _with_scores(model: Model, scores: AdditiveScores) -> Model:
    """The model with other scores."""
    if not isinstance(model, AdditiveModel):
        return cast(Model, replace(cast(Any, model), scores=scores))

    def single(effect: Any) -> Any:
        return replace(effect, effect=effect.effect[..., 0], sd=effect.sd[..., 0])

    return replace(
        model,
        mains=tuple(single(main) for main in scores.mains),
        pairs=tuple(single(pair) for pair in scores.pairs),
        trees=model.trees if scores.trees else (),
    )


def _effect(scores: AdditiveScores, term: str) -> MainEffect | PairEffect | None:
    """The effect of this name; None for the trees.

    Raises ``RequestError`` if there is none; it says which there are.
    """
    effects: dict[str, MainEffect | PairEffect | None] = {
        scores.features[main.feature].name: main for main in scores.mains
    }
    effects |= {scores.pair_name(pair): pair for pair in scores.pairs}
    effects |= {TREES: None} if scores.trees else {}
    if term not in effects:
        raise RequestError(f"the model has no term {term!r}; it has {', '.join(map(repr, effects))}")
    return effects[term]


def _inside(feature: Feature, places: Sequence[Any]) -> Bools:
    """Which bins are meant."""
    labels = feature.bin_labels()
    dates = isinstance(feature.encoder, NumericGrid) and feature.encoder.dates in ("month", "year")
    ends = [_years(place) for place in places] if dates else list(places)
    if not feature.ordered or (places and all(isinstance(end, str) for end in ends)):
        unknown = [place for place in places if str(place) not in labels]
        if unknown or not places:
            wrong = f"has no {', '.join(map(repr, unknown))}; it has" if unknown else "has categories: name some of"
            raise RequestError(f"{feature.name!r} {wrong} {', '.join(labels[:20])}")
        return np.array([label in set(map(str, places)) for label in labels])
    if len(ends) != 2 or not all(map(_is_number, ends)) or not ends[0] <= ends[1]:
        kind, example = ("dates", '"2023-01", "2023-06"') if dates else ("numbers", "60, 90")
        raise RequestError(f"{feature.name!r} holds {kind}: give the two ends of a stretch, as in flatten({example})")
    edges = np.asarray(feature.edges(), np.float64)
    low, high = (float(end) for end in ends)
    hair = HAIR * (edges[-1] - edges[0])
    inside = (edges[1:] > low + hair) & (edges[:-1] < high - hair)
    if low == high and edges[0] - hair <= low <= edges[-1] + hair:  # one value: its bin
        inside[min(max(int(np.searchsorted(edges, low, "right")) - 1, 0), len(inside) - 1)] = True
    if not inside.any():
        text = feature.edge_text
        raise RequestError(
            f"{feature.name!r} goes from {text(edges[0])} to {text(edges[-1])}: not {places[0]} to {places[1]}"
        )
    return np.append(inside, False)


def _in_order(feature: Feature, categories: Sequence[str]) -> list[int]:
    """The bins that an order is about: those of an interval each, or those of categories that are named."""
    if feature.ordered and not categories:
        return list(range(feature.n_bins - 1))
    names = feature.bin_labels()
    if feature.ordered or len(set(categories)) < max(2, len(categories)) or not set(categories) <= set(names):
        how = (
            "takes no categories: its values have an order"
            if feature.ordered
            else (f"has categories: name two or more of them in their order, each once: {', '.join(names[:20])}")
        )
        raise RequestError(f"{feature.name!r} {how}")
    return [names.index(name) for name in categories]


def _words(feature: Feature, places: Sequence[Any]) -> str:
    if feature.ordered and str(places[0]) not in feature.bin_labels():
        first, last = (f"{place:g}" if _is_number(place) else str(place) for place in places)
        return f"from {first} to {last}"
    return f"for {', '.join(map(str, places))}"


def _is_number(value: Any) -> bool:
    """Whether a value is a real number that a float can hold, of Python or numpy, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(float(value)) or not isinstance(value, numbers.Integral)
    except OverflowError:
        return False


def _years(place: Any) -> Any:
    """A date, or the text of one to its month or year, in years as edges are; anything else as it is."""
    parts = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-\d\d)?)?", str(place)[:10], re.ASCII)
    month = int(parts[2] or 1) if parts is not None else 0
    if _is_number(place) or parts is None or not 1 <= month <= 12:
        return place
    return int(parts[1]) + (month - 1) / 12


def _check_direction(feature: Feature, effect: Floats) -> None:
    """Raises where a column that was declared to rise or to fall would no longer."""
    if feature.monotone is None or not feature.ordered:
        return
    steps = np.diff(effect[:-1], axis=0) * (1.0 if feature.monotone == "increasing" else -1.0)
    if effect.shape[1] == 1 and steps.min(initial=0.0) < -1e-12:
        raise RequestError(f"{feature.name!r} was declared to be {feature.monotone}, and would be so no longer")


def _deviations(new: Floats, released: Floats, sd: Floats) -> tuple[float, int]:
    """By how many standard deviations effects differ where most, and in which bin of the first axis."""
    gap = np.abs(new - released)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(gap > 1e-12, np.where(sd > 0, np.minimum(gap / sd, MOST_DEVIATIONS), np.inf), 0.0)
    place = np.unravel_index(int(size.argmax()), size.shape) if size.size else (0,)
    return (float(size.max()) if size.size else 0.0), int(place[0])
