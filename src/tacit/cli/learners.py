"""The learners the command line offers, by short name. Classes are imported when they are used."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from tacit.cli.failures import Mistake

LEARNERS = {
    "additive": ("tacit.additive.estimator", "AdditiveBoostClassifier"),
    "decision-list": ("tacit.decision_lists.estimator", "DecisionListClassifier"),
    "halfspace": ("tacit.halfspaces.estimator", "HalfspaceBoostClassifier"),
    "trees": ("tacit.trees.estimator", "BoostedTreesClassifier"),
}
"""Short name -> module and class. A new family adds its line here."""


def learner_class(name: str) -> Any:
    """The estimator class of a short name.

    Raises:
        Mistake: if there is none of that name.
    """
    if name not in LEARNERS:
        near = difflib.get_close_matches(name, LEARNERS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise Mistake(f"--learner: there is no learner {name!r}; {hint}known: {', '.join(LEARNERS)}")
    module, cls = LEARNERS[name]
    return getattr(import_module(module), cls)
