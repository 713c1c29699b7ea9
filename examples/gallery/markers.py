"""Three markers of an illness: ill if any of them is out of range, each cut found privately and composed."""

import numpy as np

from tacit.closure import ComposedClassifier, Thresholds

generator = np.random.default_rng(4)
n = 5000
values = {
    "ferritin": generator.gamma(4, 50, n),
    "crp": generator.gamma(1.2, 8, n),
    "albumin": generator.normal(40, 5, n),
}
ill = (values["ferritin"] > 400) | (values["crp"] > 25) | (values["albumin"] < 32)
schema = {
    "label": {"column": "ill", "classes": [0, 1], "positive": 1},
    "columns": {
        "ferritin": {"kind": "numeric", "lower": 0, "upper": 800, "bins": 32},
        "crp": {"kind": "numeric", "lower": 0, "upper": 80, "bins": 32},
        "albumin": {"kind": "numeric", "lower": 20, "upper": 60, "bins": 20},
    },
}
markers = [Thresholds(name) for name in values]
model = ComposedClassifier(markers, "or", epsilon=1.0, schema=schema).fit(values, ill.astype(int))
print(model.model_.to_text())
