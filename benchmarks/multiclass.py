"""Several classes under one budget: `python -m benchmarks.multiclass --epsilon 1 --outside PYTHON`.

Accuracy, log loss (of probabilities clipped at one in a thousand) and the mean AUC of each class against the rest, on
random fifths: the default learner, gradient trees, the same as one binary fit per class under one total budget,
diffprivlib's learners (pure epsilon; they need another Python), the shares of the classes, and boosted trees without
privacy.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import score_peers as peers
from benchmarks.score_runs import arguments, run
from benchmarks.score_tables import CLASS_SETS, ScoreTable, class_table

OURS = {"additive": peers.additive, "trees": peers.gradient_trees, "split": peers.budget_split}
PLAIN = {"prior": peers.prior, "boosted_trees": peers.boosted_classes}
DIFFPRIVLIB = ("logistic", "forest", "naive_bayes")
LEAST = 1e-3


def metrics(test: ScoreTable, found: np.ndarray) -> dict[str, float]:
    """Accuracy, log loss, and the mean one-against-the-rest AUC over classes that occur in the test rows."""
    chances = np.clip(np.nan_to_num(found), LEAST, None)
    chances /= chances.sum(axis=1, keepdims=True)
    present = [k for k in range(chances.shape[1]) if 0 < (test.y == k).sum() < len(test.y)]
    return {
        "accuracy": float((chances.argmax(axis=1) == test.y).mean()),
        "log_loss": float(-np.log(chances[np.arange(len(test.y)), test.y]).mean()),
        "auc": float(np.mean([roc_auc_score(test.y == k, chances[:, k]) for k in present])),
    }


def main() -> None:
    """The command."""
    args = arguments(__doc__, CLASS_SETS, [*OURS, *DIFFPRIVLIB, *PLAIN])
    private = dict(OURS)
    if args.outside is not None:
        private |= {name: peers.outside(name, args.outside) for name in DIFFPRIVLIB}
    run("multiclass", args, class_table, private, PLAIN, metrics)


if __name__ == "__main__":
    main()
