"""The benchmark tables with several classes, or with a number to predict, and their splits.

Classes and bounds are public, as the descriptions of the data sets give them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import Table, folder, load, tasks
from tacit.schema import Schema

ScoreTable = Table
"""With class codes or numbers as labels."""

CLASSES: dict[str, tuple[str, ...]] = {
    "cardiotocography": ("1", "2", "3"),
    "firm_teacher_clave": ("neutral", "reverse_clave", "forward_clave", "incoherent"),
    "mice_protein": ("c-CS-m", "c-CS-s", "c-SC-m", "c-SC-s", "t-CS-m", "t-CS-s", "t-SC-m", "t-SC-s"),
    "page_blocks": ("1", "2", "3", "4", "5"),
    "wine_red": ("3", "4", "5", "6", "7", "8"),
    "wine_white": ("3", "4", "5", "6", "7", "8", "9"),
    "yeast": ("CYT", "ERL", "EXC", "ME1", "ME2", "ME3", "MIT", "NUC", "POX", "VAC"),
}
"""Data set -> its classes; rows of others are left out."""

AGES = (8, 10)
"""Abalone's rings in three classes: up to 8, 9 and 10, from 11 on."""

CLASS_SETS = ("abalone", *CLASSES)

TARGETS: dict[str, tuple[str, str, float, float]] = {
    "abalone": ("abalone", "target", 0.0, 30.0),
    "wine_red": ("wine_red", "target", 0.0, 10.0),
    "wine_white": ("wine_white", "target", 0.0, 10.0),
    "credit_limit": ("credit_default", "LIMIT_BAL", 0.0, 1_000_000.0),
    "adult_age": ("adult_train", "age", 0.0, 100.0),
}
"""Regression task -> data set, column to predict, public bounds."""


def raw_rows(name: str) -> pd.DataFrame:
    """A data set as it is written: texts."""
    return pd.read_csv(folder() / tasks()[name]["file"], dtype=str, keep_default_na=False)


def class_table(name: str) -> ScoreTable:
    """A task with several classes; ``y`` holds class codes."""
    binary, raw = load(name), raw_rows(name)["target"]
    if name == "abalone":
        names: tuple[Any, ...] = ("young", "grown", "old")
        codes = np.digitize(raw.astype(int), AGES, right=True)
    else:
        names = CLASSES[name]
        codes = pd.Categorical(raw, categories=list(names)).codes.astype(np.int64)
    label = {"column": "target", "kind": "classes", "classes": list(range(len(names)))}
    schema = Schema.from_dict({**binary.schema.to_dict(), "label": label})
    return ScoreTable(name, binary.X, codes, schema).rows(np.flatnonzero(codes >= 0))


def regression_table(name: str) -> ScoreTable:
    """A task with a numeric target."""
    source, column, lower, upper = TARGETS[name]
    binary = load(source)
    described, label = binary.schema.to_dict(), {"column": "target", "kind": "numeric", "lower": lower, "upper": upper}
    if column == "target":
        y, X = raw_rows(source)["target"].astype(float).to_numpy(), binary.X
    else:
        y, X = binary.X[column].to_numpy(float), binary.X.drop(columns=column)
        described["columns"].pop(column)
    return ScoreTable(name, X, y, Schema.from_dict({**described, "label": label}))


def split(table: ScoreTable, seed: int) -> tuple[ScoreTable, ScoreTable]:
    """A random 80/20 split with seed ``1000 + seed``; mice (15 rows each) stay together."""
    generator, n = np.random.default_rng(1000 + seed), len(table.y)
    if table.name == "mice_protein":
        mice = np.arange(n) // 15
        test = np.isin(mice, generator.permutation(np.unique(mice))[: len(np.unique(mice)) // 5])
    else:
        test = np.zeros(n, bool)
        test[generator.permutation(n)[: n // 5]] = True
    return table.rows(np.flatnonzero(~test)), table.rows(np.flatnonzero(test))
