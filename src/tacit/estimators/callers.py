"""Who called a fit: what scikit-learn does around a private learner can void its promise, and is said where it happens.

A learner sees only what it is given. Whether a step before it was fitted to the same rows, and whether a search fits it
again and again, shows in the calls that led to it: code alone, no row.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

MANY_FITS = ("sklearn.ensemble", "sklearn.feature_selection", "sklearn.multiclass", "sklearn.multioutput")
"""What makes one learner of several, beside searches."""


class VoidsThePromise(UserWarning):
    """Something around a fit that the promise does not cover."""


def surroundings(account: Any) -> list[str]:
    """What is wrong with how a fit came about, in sentences.

    Args:
        account: of the learner; with one, repeated fits are counted.
    """
    said: dict[str, None] = {}
    for module, owner in _callers():
        if module == "sklearn.pipeline" and hasattr(owner, "steps"):
            for name in _fitted_before(owner.steps[:-1]):
                said[
                    f"the step {name} before this learner was fitted to the same rows without privacy: what it learned "
                    "is in the model, and the promise does not cover it. Take DeclaredScaler or DeclaredEncoder, or "
                    "leave it out: learners of this library take columns as they are"
                ] = None
        if module.startswith("sklearn.model_selection") and account is None:
            said[
                "scikit-learn's search or cross-validation fits this learner again and again: every fit spends its own "
                "epsilon, and nobody adds them up. Give an account, or take PrivateSearch; its scores are not private "
                "either"
            ] = None
        if module.startswith(MANY_FITS) and account is None:
            said[
                "scikit-learn fits several of these learners to the same rows: every fit spends its own epsilon, and "
                "nobody adds them up. Give all of them one account"
            ] = None
        if module == "sklearn.ensemble._bagging" and getattr(owner, "bootstrap", False):
            said[
                "scikit-learn's bagging draws rows with replacement: a row that is drawn k times is protected k times "
                "less than the certificate says. Give bootstrap=False"
            ] = None
        if module.startswith("sklearn.calibration"):
            said[
                "scikit-learn's calibration fits this learner again and again, and a curve to private rows without "
                "noise: the promise does not cover it. Take tacit.recalibrate, which has a charge"
            ] = None
    return list(said)


def _callers() -> Iterator[tuple[str, Any]]:
    """Module, and the object whose method it is, of all calls above the library."""
    frame = inspect.currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("sklearn."):
            yield module, frame.f_locals.get("self", frame.f_locals.get("ensemble"))  # of a process of a bagging's
        frame = frame.f_back


def _fitted_before(steps: Any) -> list[str]:
    """Names of the steps that learn something from rows."""
    from sklearn.utils import get_tags

    return [type(step).__name__ for _, step in steps if hasattr(step, "fit") and get_tags(step).requires_fit]
