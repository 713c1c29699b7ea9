"""Costs of care: several bills of one patient, who is protected with all of them."""

import numpy as np

from tacit import AdditiveBoostRegressor

generator = np.random.default_rng(2)
patients = np.repeat(np.arange(4000), generator.integers(1, 4, 4000))
rows = {
    "patient": patients,
    "age": generator.uniform(18, 90, 4000)[patients],
    "ward": generator.choice(["surgery", "heart", "other"], len(patients)),
}
means = 800 * np.exp(0.01 * rows["age"] + 0.7 * (rows["ward"] == "heart"))
costs = generator.gamma(2, means / 2)
schema = {
    "label": {"column": "cost", "kind": "numeric", "lower": 1, "upper": 20_000},
    "unit": {"column": "patient", "max_rows": 3, "name": "patient"},
    "columns": {
        "patient": {"kind": "id"},
        "age": {"kind": "numeric", "lower": 18, "upper": 90},
        "ward": {"kind": "categorical", "categories": ["surgery", "heart", "other"]},
    },
}
model = AdditiveBoostRegressor(epsilon=2.0, schema=schema, loss="gamma").fit(rows, costs)
print(model.certificate_.protected)
print(model.predict({"patient": [0, 0], "age": [30.0, 80.0], "ward": ["other", "heart"]}).round())
model.plot("ward").save("costs.svg")
