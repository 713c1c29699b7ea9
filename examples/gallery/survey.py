"""A survey: contentment, where answers act together, as trees."""

import numpy as np

from tacit import BoostedTreesClassifier

generator = np.random.default_rng(1)
n = 8000
answers = {
    "age": generator.uniform(18, 90, n),
    "lives": generator.choice(["alone", "couple", "family"], n),
    "health": generator.choice(["poor", "fair", "good"], n),
}
content = (answers["health"] == "good") ^ ((answers["lives"] == "alone") & (answers["age"] > 65))
content ^= generator.random(n) < 0.1
schema = {
    "columns": {
        "age": {"kind": "numeric", "lower": 18, "upper": 90},
        "lives": {"kind": "categorical", "categories": ["alone", "couple", "family"]},
        "health": {"kind": "ordinal", "categories": ["poor", "fair", "good"]},
    }
}
model = BoostedTreesClassifier(epsilon=2.0, schema=schema, classes=(False, True)).fit(answers, content)
print(model.model_.importance())
next(iter(model.plot())).save("survey.svg")
