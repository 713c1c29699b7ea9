"""A warehouse: rows are read from a database in chunks, and the model goes back to it as one SQL query."""

import sqlite3

import numpy as np
import pandas as pd

from tacit import AdditiveBoostClassifier, read_source

generator = np.random.default_rng(6)
n = 8000
buyers = pd.DataFrame({"visits": generator.poisson(3, n), "plan": generator.choice(["free", "plus"], n)})
leaves = generator.random(n) < 1 / (1 + np.exp(0.6 * buyers["visits"] + (buyers["plan"] == "plus") - 1))
with sqlite3.connect("warehouse.db") as database:
    buyers.assign(leaves=np.where(leaves, "yes", "no")).to_sql("buyers", database, index=False)
schema = {
    "label": {"column": "leaves", "classes": ["no", "yes"]},
    "columns": {
        "visits": {"kind": "numeric", "lower": 0, "upper": 20},
        "plan": {"kind": "categorical", "categories": ["free", "plus"]},
    },
}
source = read_source("sqlite:///warehouse.db", query="SELECT * FROM buyers")
model = AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(source)
with sqlite3.connect("warehouse.db") as database:
    predictions = pd.read_sql(model.model_.to_sql("sqlite", "buyers", keep=["visits"]), database)
print(predictions.head(3).round(3).to_string(index=False))
model.plot("visits").save("warehouse.svg")
