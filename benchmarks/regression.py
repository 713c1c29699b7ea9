"""Numbers: `python -m benchmarks.regression --epsilon 1 --outside PYTHON`.

Share of the variance explained, root mean squared and mean absolute error, and the pinball loss at 90 %, on random
fifths: the default learner for means and for the 90 % quantile, DP-EBM, Boosted AdaSSP, diffprivlib's linear regression
(pure epsilon; it needs another Python), constants, and boosted trees without privacy.
"""

from __future__ import annotations

import numpy as np

from benchmarks import score_peers as peers
from benchmarks.score_runs import arguments, run
from benchmarks.score_tables import TARGETS, ScoreTable, regression_table

OURS = {
    "additive": peers.additive_number,
    "additive_q90": peers.additive_quantile,
    "dp_ebm": peers.dp_ebm_number,
    "boosted_adassp": peers.boosted_linear,
}
PLAIN = {
    "mean": peers.mean_number,
    "boosted_trees": peers.boosted_number,
    "quantile_q90": peers.quantile_alone,
    "boosted_trees_q90": peers.boosted_quantile,
}


def metrics(test: ScoreTable, found: np.ndarray) -> dict[str, float]:
    """R2, RMSE, MAE, the pinball loss at 90 % and the share of rows below the prediction."""
    errors = test.y - found
    squared = float((errors**2).mean())
    return {
        "r2": 1 - squared / float(test.y.var()),
        "rmse": squared**0.5,
        "mae": float(np.abs(errors).mean()),
        "pinball90": float(np.maximum(0.9 * errors, -0.1 * errors).mean()),
        "below": float((errors <= 0).mean()),
    }


def main() -> None:
    """The command."""
    args = arguments(__doc__, list(TARGETS), [*OURS, "linear", *PLAIN])
    private = dict(OURS)
    if args.outside is not None:
        private["linear"] = peers.outside("linear", args.outside)
    run("regression", args, regression_table, private, PLAIN, metrics)


if __name__ == "__main__":
    main()
