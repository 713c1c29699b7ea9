"""Which files a folder, a pattern or a list means: none twice, and none that has rows is left out."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tacit.encoding.errors import DataError
from tacit.encoding.folders import files_of
from tacit.encoding.source import read_source
from tacit.encoding.sources import read_files


@pytest.mark.parametrize("again", ["link", "hard link", "pattern", "list", "copy", "packed", "packed twice", "Parquet"])
def test_a_file_under_two_names_is_refused(again: str, tmp_path: Path) -> None:
    """Its rows would be there twice, and a person of one row would weigh two."""
    rows = b"a,c,d,y\n1,u,true,yes\n"
    first, second = tmp_path / "a.csv", tmp_path / "a (1).csv"
    where: Any = tmp_path
    first.write_bytes(rows)
    if again == "hard link":
        os.link(first, second)
    elif again == "copy":
        second.write_bytes(rows)
    elif again == "Parquet":
        first.unlink()
        for name in ("a.pq", "more/b.parquet"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            pq.write_table(pa.table({"a": [1.0], "c": ["u"], "d": [True], "y": ["yes"]}), tmp_path / name)
    elif again.startswith("packed"):
        (tmp_path / "z.csv.gz").write_bytes(gzip.compress(rows, mtime=1))
        if again == "packed twice":
            first.rename(second.with_suffix(".csv.gz"))
            second.with_suffix(".csv.gz").write_bytes(gzip.compress(rows, 1, mtime=2))
    elif again == "list":
        where = [first, tmp_path / "." / "a.csv"]
    else:
        second.symlink_to("a.csv")
        where = str(tmp_path / "*.csv") if again == "pattern" else tmp_path
    with pytest.raises(DataError, match=r"(is the same file as|holds the same bytes as) .*, and its rows would count"):
        read_source(where).reader.empty(["a"], frozenset(["a"]))
    with pytest.raises(DataError, match="would count twice"):
        read_files(where, ["a"])
    if again == "Parquet":
        with pytest.raises(DataError, match="holds the same bytes as"):
            read_source(ds.dataset(sorted(map(str, tmp_path.rglob("*.p*q*"))))).reader.empty(["a"], frozenset())


LONG = b"1,yes\n" * 20_000
ALIKE = {
    "no rows": [b"", b"", b"\r\n"],
    "of one size": [b"0.1,no\n", b"44,yes\n", b"45,yes\n"],
    "but for the end": [LONG + b"1,yes\n", LONG + b"2,yes\n", LONG + b"3,yes\n"],
}


@pytest.mark.parametrize("same", [*ALIKE, "no rows in Parquet"])
def test_files_that_are_alike_are_no_copies(same: str, tmp_path: Path) -> None:
    """Of files of one size the bytes decide; two without rows are what programs leave behind them."""
    parts = ALIKE.get(same, [b"", b""])
    for number, part in enumerate(parts):
        if same == "no rows in Parquet":
            pq.write_table(pa.table({"a": pa.nulls(0, pa.float64())}), tmp_path / f"{number}.parquet")
        else:
            (tmp_path / f"{number}.csv").write_bytes(b"a,y\n" + part)
    assert read_files(tmp_path, ["a"], ["a"]).n_rows == sum(part.count(b",") for part in parts)


@pytest.mark.parametrize(("name", "fine"), [("a.csv.gz", False), ("a.csv.GZ", False), ("b.csv.gz", True)])
def test_a_file_packed_beside_itself_is_refused(name: str, fine: bool, tmp_path: Path) -> None:
    """What ``gzip --keep`` leaves; the same name in another folder may be another file."""
    for place in ("a.csv", name, f"part-{name}", f"more/{name}"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("age\n40\n")
    if fine:
        assert len(files_of(tmp_path)) == 4
        return
    for where in (tmp_path, [tmp_path / name, tmp_path / "a.csv"]):
        with pytest.raises(DataError, match=r"a\.csv.* are named as one file, packed and not"):
            files_of(where)


LEFT_OUT = "would be left out for the end of its name"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *((name, "beside a.csv is of a kind that is not read") for name in ("b.csv.zip", "b.CSV.ZST", "b.jsonl")),
        *((name, LEFT_OUT) for name in ("b.txt", "part-0001", "more/b.dat", "b.csv.part2", "b.gz")),
        ("b/ -> elsewhere", "links to a folder, which is not read"),
        ("b.csv -> nowhere", "is no file, or a link to none"),
        ("_delta_log/0.json", "is a table of Delta Lake"),
        ("more/.hoodie/b", "is a table of Hudi"),
    ],
)
def test_a_folder_with_rows_that_are_not_read_is_refused(name: str, what: str, tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    for place in ("a.csv", "a.csv.bak", f".{Path(name).name}", "_b.txt", ".more/b.csv"):
        (folder / place).parent.mkdir(exist_ok=True, parents=True)
        (folder / place).write_text("age\n40\n")
    for place in ("notes.txt", "schema.json", "LICENSE", "codes.md"):
        (folder / place).write_text("The age is in years.\n")
    assert files_of(folder) == (folder / "a.csv",)
    link, _, target = name.partition(" -> ")
    (folder / link).parent.mkdir(exist_ok=True, parents=True)
    if target:
        (tmp_path / "elsewhere").mkdir()
        (folder / link).symlink_to(tmp_path / target)
    else:
        (folder / name).write_bytes(gzip.compress(b"age\n41\n") if name == "b.gz" else b"age\n41\n")
    with pytest.raises(DataError, match=re.escape(what)):
        files_of(folder)


def test_a_folder_that_cannot_be_read_and_a_pattern_of_folders_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    for place in ("a.csv", "more/b.csv"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("age\n40\n")
    with pytest.raises(DataError, match=r"matches .*more, which is no file"):
        files_of(str(tmp_path / "*"))
    assert len(files_of(str(tmp_path / "**"))) == 2
    listed = os.scandir

    def denied(place: Any) -> Any:
        if Path(place).name == "more":
            raise PermissionError(13, "Permission denied", str(place))
        return listed(place)

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(DataError, match="more cannot be read: Permission denied"):
        files_of(tmp_path)


@pytest.mark.parametrize(
    ("folder", "words"), [("a=7", "stands in the name of its folder: .*'hive'"), ("A=7", "columns")]
)
def test_a_column_in_the_names_of_folders_is_pointed_to(folder: str, words: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "part.csv").write_text("c,d,y\nu,true,yes\n")
    with pytest.raises(DataError, match=f"has no column 'a'.*{words}"):
        read_files(tmp_path, ["a"])
