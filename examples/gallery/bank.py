"""A bank: repaid loans, as curves that must not rise with debt."""

import numpy as np

from tacit import AdditiveBoostClassifier

generator = np.random.default_rng(0)
n = 6000
rows = {
    "income": generator.gamma(4, 12_000, n),
    "debt": generator.gamma(2, 9_000, n),
    "age": generator.uniform(18, 90, n),
}
chances = 1 / (1 + np.exp(-1 - rows["income"] / 40_000 + rows["debt"] / 15_000))
repaid = np.where(generator.random(n) < chances, "yes", "no")
schema = {
    "label": {"column": "repaid", "classes": ["no", "yes"]},
    "columns": {
        "income": {"kind": "numeric", "lower": 0, "upper": 200_000, "monotone": "increasing"},
        "debt": {"kind": "numeric", "lower": 0, "upper": 100_000, "monotone": "decreasing"},
        "age": {"kind": "numeric", "lower": 18, "upper": 90},
    },
}
model = AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(rows, repaid)
print(model.predict_proba({"income": [30_000.0] * 2, "debt": [0.0, 60_000.0], "age": [40.0] * 2})[:, 1].round(2))
model.plot("debt").save("bank.svg")
