"""The benchmark tables: data sets that stand beside the checkout, their public schemas, and the splits all peers share.

Nothing here is part of the product. The folders are ``../shared/data`` beside the checkout, or
``TACIT_BENCHMARK_DATA``; for sixty more on which the planning rule is judged, what
:mod:`benchmarks.public_tables` wrote, ``../shared/tables``, or ``TACIT_BENCHMARK_TABLES``; and, for tables with deep
interactions, ``../shared/rich`` or ``TACIT_BENCHMARK_RICH``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tacit.schema import Schema

HERE = Path(__file__).resolve().parent
REBUILT = HERE / "cache" / "tables"
"""Where :mod:`benchmarks.public_tables` writes the sixty tables."""


def folder() -> Path:
    """Where the data sets are."""
    return Path(os.environ.get("TACIT_BENCHMARK_DATA", HERE.parent.parent / "shared" / "data"))


def tables_folder() -> Path:
    """Where the sixty tables are."""
    beside = REBUILT if REBUILT.exists() else HERE.parent.parent / "shared" / "tables"
    return Path(os.environ.get("TACIT_BENCHMARK_TABLES", beside))


@cache
def tasks() -> dict[str, Any]:
    """What ``tasks.json`` says: per data set its file, positive labels, and public bounds and categories."""
    return _tasks_of(folder(), "TACIT_BENCHMARK_DATA")


@cache
def table_tasks() -> dict[str, Any]:
    """The same for the sixty tables; ``study`` says which of them belong together."""
    return _tasks_of(tables_folder(), "TACIT_BENCHMARK_TABLES")


@cache
def rich_tasks() -> dict[str, Any]:
    """The same for the tables with deep interactions."""
    place = Path(os.environ.get("TACIT_BENCHMARK_RICH", HERE.parent.parent / "shared" / "rich"))
    return _tasks_of(place, "TACIT_BENCHMARK_RICH")


def _tasks_of(place: Path, variable: str) -> dict[str, Any]:
    path = place / "tasks.json"
    if not path.exists():
        raise SystemExit(f"benchmark data not found: put the data sets into {place} or set {variable}")
    return {name: {**task, "path": place / task["file"]} for name, task in json.loads(path.read_text()).items()}


def task_of(name: str) -> dict[str, Any]:
    """What is known of a data set, of any folder."""
    known = next((known for of in (tasks, table_tasks) if name in (known := of())), None)
    return dict((known or rich_tasks())[name])


@dataclass(frozen=True, eq=False)
class Table:
    """A task: features as a data frame, labels (0 and 1 here), and the public schema (label column ``target``)."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    schema: Schema

    def rows(self, index: np.ndarray) -> Table:
        """Some of the rows."""
        return Table(self.name, self.X.iloc[index].reset_index(drop=True), self.y[index], self.schema)


def load(name: str) -> Table:
    """A data set as a table."""
    task = task_of(name)
    raw = pd.read_csv(task["path"], dtype=str, keep_default_na=False)
    y = raw["target"].isin(task["positive"]).to_numpy().astype(np.int64)
    X, columns = {}, {}
    for column, facts in task["columns"].items():
        if "categories" in facts:
            X[column] = raw[column].where(raw[column] != "", None)
            # a public table may hold names of persons, which a schema has to allow
            described = {"kind": "categorical", "categories": list(facts["categories"]), "allow": "identifier"}
            columns[column] = described
        else:
            lower, upper = float(facts["lower"]), float(facts["upper"])
            X[column] = pd.to_numeric(raw[column].replace("", None), errors="coerce").astype(float)
            columns[column] = {"kind": "numeric", "lower": lower, "upper": upper if upper > lower else lower + 1}
    schema = Schema.from_dict(
        {"label": {"column": "target", "kind": "classes", "classes": [0, 1], "positive": 1}, "columns": columns}
    )
    return Table(name, pd.DataFrame(X), y, schema)


def splittable(table: Table) -> Table:
    """The table without categorical columns of one category, which say nothing (``mushroom`` has one)."""
    columns = {
        name: column
        for name, column in table.schema.columns.items()
        if column.kind == "numeric" or len(column.categories) > 1
    }
    return Table(table.name, table.X[list(columns)], table.y, replace(table.schema, columns=columns))


def groups_of(table: Table) -> np.ndarray | None:
    """Rows that must stay together: the mice (15 rows each) and blocks of time of the EEG."""
    if table.name == "mice_protein":
        return np.arange(len(table.y)) // 15
    if table.name == "eeg_eye_state":
        return np.arange(len(table.y)) * 50 // len(table.y)
    return None


def split(table: Table, seed: int) -> tuple[Table, Table]:
    """A stratified 80/20 split with seed ``1000 + seed``; by group where rows belong together."""
    generator = np.random.default_rng(1000 + seed)
    groups = groups_of(table)
    test = np.zeros(len(table.y), bool)
    if groups is not None:
        names = np.unique(groups)
        test = np.isin(groups, generator.permutation(names)[: len(names) // 5])
    else:
        for label in (0, 1):
            index = np.flatnonzero(table.y == label)
            generator.shuffle(index)
            test[index[: len(index) // 5]] = True
    return table.rows(np.flatnonzero(~test)), table.rows(np.flatnonzero(test))


def splits(name: str, seeds: int = 5) -> Iterator[tuple[int, Table, Table]]:
    """``(seed, train, test)`` for each split; ``adult`` has its official one, the same for every seed."""
    if name == "adult":
        train, test = load("adult_train"), load("adult_test")
        for seed in range(seeds):
            yield seed, train, test
        return
    table = load(name)
    for seed in range(seeds):
        yield seed, *split(table, seed)


LARGE = (
    "abalone",
    "adult",
    "banknote",
    "cardiotocography",
    "credit_default",
    "eeg_eye_state",
    "firm_teacher_clave",
    "german_credit",
    "magic",
    "mice_protein",
    "mushroom",
    "page_blocks",
    "qsar_biodegradation",
    "spambase",
    "wine_red",
    "wine_white",
    "yeast",
)
"""Sets with at least 1000 rows; hill_valley is left out, as nothing additive can see it."""

SMALL = ("hill_valley_noise", "pima_diabetes", "tic_tac_toe", "transfusion")
"""What else has at least 700 rows."""
