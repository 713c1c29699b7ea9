"""`PrivateSearch`: in place of `GridSearchCV`, with the search paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from tacit.evaluation.private_selection import PrivateSelection
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import RequestError


class PrivateSearch(PrivateSelection):
    """Fits one private estimator with several settings, judges them on rows set aside, and keeps the best.

    Guarantee: that of :class:`~tacit.PrivateSelection`, whose candidates are the estimator under every setting of the
    grid: (epsilon, delta) for the whole search, not for each fit.

    Args:
        estimator: an unfitted estimator of this library, without an account.
        param_grid: names of parameters -> the values to try, as :class:`sklearn.model_selection.GridSearchCV` has it;
            two settings or more. Values must not come from the rows.
        epsilon, delta, neighbouring, strategy, runs, shape, holdout: as in :class:`~tacit.PrivateSelection`.
        criterion, quantile, error_clip, account, random_state: likewise.

    Attributes:
        best_estimator_: the best estimator, fitted; its certificate is that of the search.
        best_params_: its setting.
        best_index_: the place of its setting in the grid.
        certificate_: what was spent.

    Example:
        >>> from tacit import BoostedTreesClassifier, PrivateSearch
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> search = PrivateSearch(BoostedTreesClassifier(schema=schema), {"max_depth": [2, 4]}, epsilon=2.0)
        >>> print(search.fit(X, y).best_params_["max_depth"] in (2, 4))
        True
    """

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] = (),
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        strategy: str = "auto",
        runs: float | None = None,
        shape: float = 1.0,
        holdout: float = 0.2,
        criterion: str | None = None,
        quantile: float | None = None,
        error_clip: float | None = None,
        account: PrivacyAccount | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.strategy = strategy
        self.runs = runs
        self.shape = shape
        self.holdout = holdout
        self.criterion = criterion
        self.quantile = quantile
        self.error_clip = error_clip
        self.account = account
        self.random_state = random_state

    @property
    def candidates(self) -> list[Any]:  # type: ignore[override]
        """The estimator under every setting."""
        return [clone(self.estimator).set_params(**setting) for setting in self._settings()]

    def fit(self, X: Any, y: Any) -> Self:
        """Searches.

        Raises:
            ValueError: for public mistakes; nothing was spent.
            BudgetExceeded: if the account cannot pay; nothing was read.
        """
        if not hasattr(self.estimator, "get_params"):
            raise RequestError(f"estimator must be an estimator of this library, got {self.estimator!r}")
        super().fit(X, y)
        self.best_estimator_, self.best_params_ = self.best_, self._settings()[self.best_index_]
        return self

    def _settings(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.param_grid)) if self.param_grid else []
