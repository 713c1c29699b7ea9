"""`merge`: models of different persons as one, under the promise of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from typing import TypeVar

from tacit.display import brief
from tacit.estimators.base import Estimator, check_fitted
from tacit.estimators.batchwise import released_rows
from tacit.estimators.binding import bound
from tacit.models.base import ClassModel
from tacit.models.binding import ClaimError, model_digest
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.privacy.assumptions import EDIT, Assumption
from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.verification import UNVERIFIED

THEOREM = "parallel composition: the models merged hold different persons (McSherry 2009, Theorem 4)"

MERGE = "merge"

DIGEST = re.compile(r"\b[0-9a-f]{64}\b")

E = TypeVar("E", bound=Estimator)


def merge(estimators: Sequence[E]) -> E:
    """Merges fitted estimators whose rows are of different persons: the model is the mean of theirs.

    Members count by their released numbers of rows. Guarantee: that of one of them. Of two tables that differ in one
    person, who is in the rows of one estimator alone, what all others learned is the same (McSherry 2009, Theorem 4).
    **Nobody checks that no person is in two of them**: the certificate says so. Costs nothing, and no account is
    charged or relieved.

    Args:
        estimators: at least two of one class, with one schema, and with the same charges.

    Returns:
        An estimator like the first, with ``model_`` a mean of models and a certificate of its own.

    Raises:
        RequestError: if they do not belong together.
        ClaimError: if a certificate does not hold, or is of another model.

    Example:
        >>> from tacit import RandomTreesClassifier, merge
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(8000)
        >>> parts = [{name: column[k : k + 4000] for name, column in X.items()} for k in (0, 4000)]
        >>> labels = y[:4000], y[4000:]
        >>> both = [RandomTreesClassifier(epsilon=1.0, schema=schema).fit(*each) for each in zip(parts, labels)]
        >>> merged = merge(both)
        >>> print(len(merged.model_.members), merged.certificate_.epsilon)
        2 1.0
    """
    members = list(estimators) if isinstance(estimators, Iterable) else [estimators]
    if not all(isinstance(each, Estimator) for each in members):
        raise RequestError(f"merge takes a list of fitted estimators, got {brief(estimators)}")
    if len(members) < 2:
        raise RequestError(f"merge takes at least two fitted estimators, got {len(members)}")
    for each in members:
        check_fitted(each)
    _check_alike(members)
    merged, models = copy(members[0]), tuple(each.model_ for each in members)
    weights = tuple(released_rows(model) for model in models)
    kind = MeanModel if isinstance(models[0], ClassModel) else MeanNumberModel
    merged.model_ = kind(models, weights)
    merged.describe()
    merged.certificate_ = bound(merged, _together([each.certificate_ for each in members], merged))
    return merged


def _check_alike(estimators: Sequence[Estimator]) -> None:
    """Raises where they do not belong together."""
    first = estimators[0]
    for place, each in enumerate(estimators):
        claim, name = each.certificate_, f"estimator {place + 1} of {len(estimators)}"
        problems = claim.verify()
        if claim.model_digest != model_digest(each.model_):
            problems.append("its certificate is that of another model")
        if problems:
            raise ClaimError(f"{name}: {'; '.join(problems)}")
        if any(_origins(claim) & _origins(other.certificate_) for other in estimators[:place]):
            raise RequestError(
                f"{name} was learned from rows of one before it: their persons would count in two models"
            )
        if type(each) is not type(first) or type(each.model_) is not type(first.model_):
            kinds = f"of kind {each.model_.kind}, the first one of kind {first.model_.kind}"
            raise RequestError(f"the model of {name} is {kinds}: merge all parts, as they were fitted, in one call")
        if claim.schema_digest != first.certificate_.schema_digest or claim.schema_fingerprint is None:
            raise RequestError(f"{name} has another schema than the first, or none was declared: all need the same one")
        alike = (claim.charges, claim.neighbouring, claim.delta) == (
            first.certificate_.charges, first.certificate_.neighbouring, first.certificate_.delta,
        )  # fmt: skip
        if not alike:
            raise RequestError(
                f"{name} was charged (epsilon {claim.epsilon:g}, delta {claim.delta:g}, {claim.neighbouring}), and the "
                f"first one (epsilon {first.certificate_.epsilon:g}, delta {first.certificate_.delta:g}, "
                f"{first.certificate_.neighbouring}): parallel composition is stated for charges that are the same"
            )


def _origins(claim: Certificate) -> set[str]:
    """The digests of a model and of those that it was merged or edited from, which its assumptions name."""
    texts = (each.text for each in claim.assumptions if each.subject in (MERGE, EDIT))
    return {str(claim.model_digest), *(digest for text in texts for digest in DIGEST.findall(text))}


def _together(claims: Sequence[Certificate], merged: Estimator) -> Certificate:
    """The certificate of all: what each of them was charged, once."""
    first = claims[0]
    label = f"{len(claims)} models merged"
    with Reservation(first.charges, first.neighbouring, label) as reservation:
        for charge in reservation.charges:
            reservation.record(charge, Label(Stage.BATCHES, label), THEOREM)
    reasons = {reason for claim in claims for reason in claim.reasons}
    claim = Certificate.of(
        reservation,
        epsilon=max(each.epsilon for each in claims),
        delta=first.delta,
        noise_source=" and ".join(dict.fromkeys(each.noise_source for each in claims)),
        noise_releasable=not reasons - {UNVERIFIED},
        algorithm=f"merge of {len(claims)} {type(merged).__name__}",
        schema=merged.schema_,
        unverified=UNVERIFIED in reasons,
    )
    digests = ", ".join(str(each.model_digest) for each in claims)
    trusted = Assumption(
        MERGE, f"no person is in two of the models that were merged, which nobody checked (models {digests})", True
    )
    return claim.assuming(trusted, *(each for claim in claims for each in claim.assumptions))
