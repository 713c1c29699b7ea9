"""What a fit saw, as far as it was released: how many rows counted, what was missing, whether anything stands out.

All of it is computed from the model and its certificate, and costs nothing (post-processing).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from tacit.display import Brief
from tacit.models.additive import TREES, AdditiveScores
from tacit.models.additive_scores import additive_scores
from tacit.models.base import ClassModel
from tacit.models.decision_list import DecisionListModel
from tacit.models.evidence import FAILURE
from tacit.models.halfspace import HalfspaceModel
from tacit.models.tree_ensemble import TreeEnsembleModel
from tacit.privacy.charges import Charge, Gaussian, Laplace, Repeated
from tacit.privacy.label import Stage
from tacit.privacy.noise_shares import noise_factor
from tacit.schema.identifier_names import names_identifier

if TYPE_CHECKING:
    from tacit.models.base import Model
    from tacit.privacy.certificate import Certificate

MUCH_MISSING = 0.5
"""From this share of missing values on a column deserves a look."""

MOST_MISSING = 0.83
"""From this share on no more is known: a fit keeps room for values in every column (`binning.measure`)."""

FEWEST = 30.0
"""A fit goes by at least so many rows, however few were released (``tacit.binning.tuning.FEWEST_ROWS``)."""

FALSE_ALARM = 0.001
"""The chance that noise alone makes a fit say of any column that values are missing, or of no declared category."""

STANDS_OUT, CLEAR = 3.0, 2.0
"""A count, and an effect that was shrunk already, of so many standard deviations of its noise is more than noise."""

BY_CHANCE = 0.05
"""The chance that noise alone makes any term of a model stand out of it by :func:`terms_beyond_noise`."""

BY_ITSELF = ("DecisionListClassifier", "HalfspaceBoostClassifier")
"""Fits whose models prove something about new rows; one that was chosen among several by their rows does not."""

OF_ROWS = ("number of rows", "number of rows, once more")
"""Subjects of the releases of the number of rows."""

OF_LEAVES = "class counts of leaves"
"""Subject of the counts of a tree's leaves. What other trees know of their leaves is no number of rows."""


class Doubtful(UserWarning):
    """What a fit saw, and would better be looked at."""


@dataclass(frozen=True)
class Estimate:
    """A released number, and the standard deviation of its noise; None where it is not known."""

    value: float
    sd: float | None

    def __str__(self) -> str:
        value = max(self.value, 0.0)
        if not self.sd:
            return f"about {_short(value)}"
        return f"about {_short(value, 2 * self.sd)} ± {_short(2 * self.sd)}"


@dataclass(frozen=True, repr=False)
class Summary(Brief):
    """What a fit saw.

    Attributes:
        rows: how many rows counted: those with a declared label. None if it was not released.
        missing: share of missing values by column, where it was released and is more than noise.
        unknown: the same for values that are none of the declared categories.
        stands_out: whether any effect is larger than its noise; None if the model does not say.
        error_bound: a proved bound of the error on new rows; None if there is none below that of guessing.
        concerns: what deserves a look, in sentences.
        sentences: all of it in words.
    """

    rows: Estimate | None
    missing: Mapping[str, float]
    unknown: Mapping[str, float]
    stands_out: bool | None
    error_bound: float | None
    concerns: tuple[str, ...]
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        rows = None if self.rows is None else {"value": self.rows.value, "sd": self.rows.sd}
        shares = {"missing": dict(self.missing), "unknown": dict(self.unknown)}
        facts = {"rows": rows, **shares, "stands_out": self.stands_out}
        return {**facts, "error_bound": self.error_bound, "concerns": list(self.concerns)}


def _percent(share: float) -> str:
    """A share of missing cells; a fit thinks no column emptier than :data:`MOST_MISSING`."""
    return f"{'at least ' if share >= MOST_MISSING else ''}{100 * share:.0f} %"


def seen(model: Model, certificate: Certificate | None) -> Summary:
    """What the fit of a model saw."""
    parts = additive_scores(model)
    rows = _rows(model, parts, certificate)
    missing, unknown = ({}, {}) if parts is None or rows is None else _shares(parts, rows, certificate)
    out = None if parts is None else _stands_out(parts)
    concerns = []
    if rows is not None and rows.sd is not None and rows.value < STANDS_OUT * rows.sd:
        concerns.append(
            f"{rows} rows have a declared label, which is within the noise: do the labels match the schema?"
        )
    elif rows is not None and parts is not None and rows.value < FEWEST + 0.5:
        concerns.append(f"at most about {FEWEST:.0f} rows have a declared label: do the labels match the schema?")
    concerns += [f"{name}: {_percent(share)} missing" for name, share in missing.items() if share >= MUCH_MISSING]
    concerns += [
        f"{name}: {100 * share:.0f} % are not declared categories: {_remedy(name)}"
        for name, share in unknown.items()
        if share >= MUCH_MISSING
    ]
    if out is False:
        concerns.append("no effect is distinguishable from noise")
    if isinstance(model, TreeEnsembleModel) and all(np.ptp(tree.values) == 0 for tree in model.trees):
        concerns.append("all leaves agree: every row gets the same prediction")
    elif isinstance(model, TreeEnsembleModel) and rows is not None and _share_leaves(model, rows):
        concerns.append("all rows are in one leaf of every tree and get the same prediction: are bounds too wide?")
    words = []
    if rows is not None and not (concerns and "declared label" in concerns[0]):
        weight = None if certificate is None else certificate.parameters.get("class_weight")
        weighed = "" if weight is None else ", each weighted by its class,"
        words.append(f"{rows} rows{weighed} with a declared label were used")
    words += [f"{name}: {_percent(share)} missing" for name, share in missing.items() if share < MUCH_MISSING]
    words += [
        f"{name}: {100 * share:.0f} % not a declared category"
        for name, share in unknown.items()
        if share < MUCH_MISSING
    ]
    if isinstance(model, DecisionListModel) and model.full:
        words.append("max_rules was reached: a longer list may fit better")
    promise = model.promise if isinstance(model, HalfspaceModel) else None
    if promise is not None:
        (concerns if promise.is_withdrawn else words).append(str(promise))
    bound = _error_bound(model, certificate)
    if bound is not None:
        words.append(
            f"on new rows it errs on at most {100 * bound:.1f} %: proved, with confidence {1 - FAILURE:.0%}, if "
            "rows are independent draws, and the model was not chosen among several by the same rows"
        )
    return Summary(rows, missing, unknown, out, bound, tuple(concerns), (*concerns, *words))


def terms_beyond_noise(scores: AdditiveScores) -> frozenset[str]:
    """The terms, named as in ``importance``, with an effect that noise explains in none of its places.

    The largest effect in deviations of its noise is compared with what the places of all terms reach together with
    chance :data:`BY_CHANCE` (Bonferroni); effects were shrunk, so it is less. Trees whose noise is not known are among
    them.
    """
    parts: dict[str, list[tuple[Any, Any]]] = {}
    parts |= {scores.features[main.feature].name: [(main.effect, main.sd)] for main in scores.mains}
    parts |= {scores.pair_name(pair): [(pair.effect, pair.sd)] for pair in scores.pairs}
    has_noise = all(tree.sd is not None for tree in scores.trees)
    parts |= {TREES: [(tree.values, tree.sd) for tree in scores.trees]} if scores.trees and has_noise else {}
    beyond = {TREES} if scores.trees and not has_noise else set()
    for name, effects in parts.items():
        places = sum(np.size(effect) for effect, _ in effects)
        reach = float(ndtri(1.0 - BY_CHANCE / (2 * len(parts) * max(places, 1))))
        if any((np.abs(effect) > reach * np.maximum(sd, 1e-12)).any() for effect, sd in effects):
            beyond.add(name)
    return frozenset(beyond)


def _remedy(name: str) -> str:
    """What to do about values of no declared category: of an identifier, anything but to list its values."""
    return "declare it with kind = 'id'" if names_identifier(name) else "do they match the schema?"


def _error_bound(model: Model, certificate: Certificate | None) -> float | None:
    """What is proved about new rows, if it is more than guessing would reach."""
    if certificate is None or certificate.algorithm not in BY_ITSELF:
        return None
    bound = model.error_bound()
    if bound is None or not isinstance(model, ClassModel):
        return bound
    return None if bound >= 1 - 1 / len(model.classes) else bound


def _rows(model: Model, parts: AdditiveScores | None, certificate: Certificate | None) -> Estimate | None:
    """The released number of rows."""
    if parts is not None and parts.mains:
        return Estimate(float(parts.mains[0].counts.sum()), _sd_of_rows(certificate))
    if isinstance(model, TreeEnsembleModel) and model.trees:
        return _rows_of_leaves(model, certificate)
    return None


def _rows_of_leaves(model: TreeEnsembleModel, certificate: Certificate | None) -> Estimate | None:
    """The mean over trees of the rows in their leaves; None where leaves hold weights, or no counts were released."""
    entries = () if certificate is None else certificate.entries
    charges = [(entry.charge, noise_factor(entry.theorem)) for entry in entries if entry.subject == OF_LEAVES]
    if certificate is None or len(charges) != len(model.trees):
        return None
    variance, rows = 0.0, 0.0
    for tree, (charge, factor) in zip(model.trees, charges, strict=True):
        rows += float(tree.support.sum())
        if isinstance(charge, Gaussian | Laplace):
            cells = 2 * len(tree.support)  # both classes of every leaf
            variance += cells * (factor * charge.noise_multiplier * certificate.rows_per_unit * _shape(charge)) ** 2
    return Estimate(rows / len(charges), math.sqrt(variance) / len(charges))


def _share_leaves(model: TreeEnsembleModel, rows: Estimate) -> bool:
    """Whether rows beyond the largest leaf of each tree are within the noise, and an eighth of all would not be.

    What a leaf of no rows counts is noise, less what of it is negative: .4 of a deviation in the mean.
    """
    leaves = [len(tree.support) for tree in model.trees]
    beyond = sum(float(tree.support.sum() - tree.support.max()) for tree in model.trees) / len(leaves)
    in_a_leaf = (rows.sd or 0.0) * math.sqrt(len(leaves) * len(leaves) / sum(leaves))
    noise = 0.4 * in_a_leaf * (sum(leaves) / len(leaves) - 1) + STANDS_OUT * (rows.sd or 0.0)
    return beyond <= noise < (rows.value - beyond) / 8


def _shape(charge: Gaussian | Laplace) -> float:
    """The standard deviation of noise of scale 1."""
    return math.sqrt(2.0) if isinstance(charge, Laplace) else 1.0


def _sd_of_rows(certificate: Certificate | None) -> float | None:
    """Standard deviation of the released number of rows, from what was paid for it; 0 where it was public."""
    if certificate is None or math.isinf(certificate.epsilon):
        return 0.0
    charges = [(entry.charge, noise_factor(entry.theorem)) for entry in certificate.entries if entry.subject in OF_ROWS]
    noise = [
        factor * charge.noise_multiplier * _shape(charge)
        for charge, factor in charges
        if isinstance(charge, Gaussian | Laplace)
    ]
    if not noise:
        return 0.0 if certificate.n_public and certificate.unit is None else None
    return certificate.rows_per_unit / math.sqrt(sum(sd**-2 for sd in noise))


def _noise_reach(certificate: Certificate | None, findings: int) -> Callable[[str], float]:
    """By column, how far noise alone reaches in the count of one of its bins.

    The chance that one of so many ``findings`` goes beyond is at most :data:`FALSE_ALARM` (Bonferroni), by the exact
    tail of the noise of the noisiest release about the bins of the column. Where many columns have names that differ
    in numbers alone, a certificate lists their releases as one, which stands for each of them.
    """
    entries = () if certificate is None or math.isinf(certificate.epsilon) else certificate.entries
    rows = 1 if certificate is None else certificate.rows_per_unit
    tail = FALSE_ALARM / max(findings, 1)
    by_column: dict[str, float] = {}
    for entry in entries:
        if entry.stage is Stage.BINNING:
            charge = entry.charge.charge if isinstance(entry.charge, Repeated) else entry.charge
            name = "" if charge is not entry.charge else entry.subject
            reach = rows * noise_factor(entry.theorem) * _reach(charge, tail)
            by_column[name] = max(by_column.get(name, 0.0), reach)
    return lambda name: max(by_column.get(name, 0.0), by_column.get("", 0.0))


def _reach(charge: Charge, tail: float) -> float:
    """What noise of a charge exceeds with this chance, for a query of sensitivity 1; 0 of other charges."""
    if isinstance(charge, Laplace):
        return charge.noise_multiplier * math.log(0.5 / tail)
    return charge.noise_multiplier * float(ndtri(1.0 - tail)) if isinstance(charge, Gaussian) else 0.0


def _shares(
    parts: AdditiveScores, rows: Estimate, certificate: Certificate | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Shares of values that are missing, and of no declared category, that are more than noise."""
    reach = _noise_reach(certificate, 2 * len(parts.mains))
    total, sd = max(rows.value, 1.0), rows.sd or 0.0
    missing: dict[str, float] = {}
    unknown: dict[str, float] = {}
    if total < 10 * sd:  # shares of a number that is noise
        return missing, unknown
    for main in parts.mains:
        feature = parts.features[main.feature]
        for measured, place in ((missing, feature.missing_bin), (unknown, feature.other_bin)):
            share = 0.0 if place is None else float(main.counts[place]) / total
            if share > 0.05 and share * total > max(STANDS_OUT * sd, reach(feature.name)):
                measured[feature.name] = min(share, 1.0)
    return missing, unknown


def _stands_out(parts: AdditiveScores) -> bool:
    """Whether an effect is larger than its noise; pairs and trees are only there if they are."""
    for main in parts.mains:
        effect, sd = np.abs(np.asarray(main.effect)), np.maximum(np.asarray(main.sd), 1e-12)
        if effect.shape == sd.shape and (effect > CLEAR * sd).any():
            return True
    return bool(parts.pairs or parts.trees)


def _short(value: float, spread: float | None = None) -> str:
    """A number for people: two digits, or to the place that the two digits of its spread end at."""
    digits = max(len(f"{value if spread is None else spread:.0f}") - 2, 0)
    return f"{round(value, -digits):,.0f}"
