"""What tests of private classifiers share: rows, and their schema."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from tacit import AdditiveBoostRegressor
from tacit.additive.boost import AdditiveBoost
from tacit.additive.tuning import PLANNING, TUNING
from tacit.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "sick", "classes": ["no", "yes"], "positive": "yes"},
        "columns": {
            "age": {"kind": "numeric", "lower": 0, "upper": 100},
            "ward": {"kind": "categorical", "categories": ["a", "b", "c"]},
            "smokes": {"kind": "boolean"},
        },
    }
)
"""What is public about :func:`people`."""


ADDITIVE = (AdditiveBoost, AdditiveBoostRegressor)

FEW_TREES = replace(TUNING, planning=replace(PLANNING, trees=40, most_trees=40, kernel_trees=40))
"""A fit without privacy has 1000 otherwise, as the golden cases of that name do; in little noise one has 150 or 400."""

FEW_ROUNDS = replace(FEW_TREES, planning=replace(FEW_TREES.planning, sweeps=4, joint_sweeps=4, trees=5, kernel_trees=5))
"""Every stage of a fit, and some dozen releases of it in place of hundreds: for what is the same at each of them."""


def people(n: int = 4000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows, and labels drawn with log-odds that are a sum of effects of the columns."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": generator.uniform(0, 100, n),
            "ward": generator.choice(["a", "b", "c"], n),
            "smokes": generator.random(n) < 0.3,
        }
    )
    score = 0.05 * (frame["age"] - 50) + 1.0 * frame["smokes"] + np.where(frame["ward"] == "b", 1.0, -0.5)
    return frame, np.where(generator.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
