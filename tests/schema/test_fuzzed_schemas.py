"""Random schema files: each loads and can be used, or is refused in one line of our own words; nothing else."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tacit.encoding.table import TableEncoding
from tacit.schema import Schema, SchemaError
from tacit.schema.columns import KINDS
from tacit.schema.identifiers import refuse_identifiers

BASE: dict[str, Any] = {
    "label": {"column": "y", "kind": "classes", "classes": ["no", "yes"], "positive": "yes"},
    "unit": {"column": "person_id", "max_rows": 3},
    "columns": {
        "age": {"kind": "numeric", "lower": 18, "upper": 90, "missing_values": [-9, 999]},
        "price": {"kind": "numeric", "lower": 0.5, "upper": 9e5, "spacing": "log", "symbol": "$", "thousands": ","},
        "dose": {"kind": "numeric", "lower": 0, "upper": 9, "spacing": [1, 2.5], "monotone": "increasing"},
        "colour": {"kind": "categorical", "categories": ["red", "green", 3, True], "missing": True, "exact": False},
        "grade": {"kind": "ordinal", "categories": [1, 2, 3], "allow": "identifier"},
        "day": {"kind": "date", "granularity": "month", "lower": dt.date(2018, 1, 1), "upper": dt.date(2020, 1, 1)},
        "born": {"kind": "date", "granularity": "weekday", "format": "%d.%m.%Y"},
        "ok": {"kind": "boolean", "description": "a text"},
        "note": {"kind": "ignore"},
        "person_id": {"kind": "id"},
    },
}
KEYS = (
    "kind lower upper bins spacing monotone prior importance description categories missing exact granularity format "
    "missing_values symbol thousands allow column classes positive max_rows columns label unit"
)
VALUES: list[Any] = [
    *(0, -1, 1, 2**31, 2**63 - 1, -(2**63), 1e308, -1e308, 5e-324, 0.0, -0.0, float("inf"), float("nan"), 18, 90),
    *("", " ", "red", "yes", "log", "linear", "numeric", "%d.%m.%Y", "%", "%Y%Y", ",", ".", "$", "increasing"),
    "identifier",
    *("\u0000", "é\u200b", "x" * 3000, "1.50", "007", "true", "a@b.org", "year", "weekday", "2020-02-30", "2020-03-31"),
    *(True, False, dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.time(3), [], {}, [[]], [{}]),
    *([[0, 1], [9, 0]], [["red", 1], ["", 2]]),
    dt.datetime(2020, 1, 1, 5, tzinfo=dt.UTC),
    *([1, 1], [1, 1.0], ["a", "a "], [1, "1"], ["a"], ["no", "yes"], [float("nan")], [2, 1]),
    *(list(range(300)), [True, 1]),
    *({"kind": "numeric"}, {"kind": "numeric", "lower": 0, "upper": 1}, ["x" * 10] * 3, ["1.5", "1.50"], 10**400),
]  # fmt: skip
NAMES = ["age", "", "x", "y", "id", "a.b", "é", "\u0000", "0", "patient_id", " ", "kind", "x" * 300]


def _random_schema(draw: random.Random) -> bytes:
    """A file: the base with some keys changed, added or left out, and now and then bytes too."""
    data: dict[str, Any] = {name: dict(table) for name, table in BASE.items()}
    data["columns"] = {name: dict(column) for name, column in BASE["columns"].items()}
    for name in draw.sample(sorted(data["columns"]), draw.randint(0, 9)):
        del data["columns"][name]
    for name in ("label", "unit"):
        if draw.random() < 0.4:
            del data[name]
    for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
        tables = [data, *(data[part] for part in ("label", "unit") if isinstance(data.get(part), dict))]
        columns = data.get("columns")
        tables += [c for c in columns.values() if isinstance(c, dict)] * 3 if isinstance(columns, dict) else []
        table = draw.choice(tables)
        keys = list(table) if draw.random() < 0.95 and table else KEYS.split()
        what = draw.random()
        if what < 0.15:
            table.pop(draw.choice(keys), None)
        elif what < 0.25 and isinstance(columns, dict):
            columns[draw.choice(NAMES)] = draw.choice([{"kind": draw.choice([*KINDS, "x"])}, draw.choice(VALUES)])
        else:
            table[draw.choice(keys)] = draw.choice(VALUES)
    try:
        text = tomli_w.dumps(data).encode("utf-8")
    except (TypeError, ValueError):  # what TOML cannot hold
        text = b"[columns]\n"
    for _ in range(draw.choice((0,) * 9 + (1, 2, 8))):
        place = draw.randrange(len(text) + 1)
        length = draw.choice((0, 1, 1, 20))
        new = draw.choice((b"", b"\xff", b'"', b"=", b"\n", b"[", b"\x00", b"1e999", b"'''", b"# "))
        text = text[:place] + new + text[place + length :]
    return text


def run(seeds: range, folder: Path) -> Counter[str]:
    """Loads a random schema per seed, and counts what came of them."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        path = folder / "s.toml"
        path.write_bytes(_random_schema(random.Random(seed)))
        try:
            schema = Schema.from_toml(path)
        except SchemaError as error:
            text = str(error)
            assert text.startswith(str(path)), (seed, text)
            assert text.endswith("Nothing was spent."), (seed, text)
            several = re.search(r": (\d+) problems:$", text.splitlines()[0])
            assert len(text.splitlines()) == (1 + int(several[1]) if several else 1), (seed, text)
            counts["refused"] += 1
            continue
        counts["loaded"] += 1
        schema.to_toml(path, header="made from\nnothing")
        copies = Schema.from_dict(schema.to_dict()), pickle.loads(pickle.dumps(schema)), copy.deepcopy(schema)
        for again in (Schema.from_toml(path), *copies):
            assert again == schema
            assert again.fingerprint() == schema.fingerprint()
            assert list(map(repr, again.columns.items())) == list(map(repr, schema.columns.items()))
        encoding = TableEncoding.of(schema)
        assert TableEncoding.from_dict(encoding.to_dict()) == encoding
        for column in encoding.encode({name: ["7", None, "x"] for name in schema.features}):
            assert len(column) == 3
        try:
            refuse_identifiers(schema)
        except SchemaError:
            counts["identifiers"] += 1
    return counts


def test_random_schemas_load_or_are_refused_in_a_line_a_problem(tmp_path: Path) -> None:
    counts = run(range(150), tmp_path)
    assert min(counts["loaded"], counts["refused"]) > 20


@pytest.mark.slow
def test_a_thousand_more(tmp_path: Path) -> None:
    assert run(range(1000, 2000), tmp_path).total() >= 1000
