"""Random tables and files of random bytes: each is read or refused in words of this library, and none hangs."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import io
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.encoding.frames import columns_of
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.errors import TacitError

POOL: list[Any] = [
    *(None, "", "a", "b", "é", "e\u0301", "\ud800", "1", "01", "1e400", "nan", "inf", "true"),
    *("2020-01-02", "9999-99-99"),
    *(1, 0, -1, 2**70, 10**400, 1.5, float("nan"), float("inf"), True, False, 1j, b"a", b"\xff"),
    *(np.float32(0.1), np.float16(0.1), np.longdouble(1), np.int8(3), np.bool_(True), np.datetime64("NaT")),
    *(np.datetime64("2020-01-01"), np.timedelta64(1, "s"), decimal.Decimal("1.1"), decimal.Decimal("sNaN")),
    *(dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.time(1), dt.timedelta(1)),
    *(pd.NA, pd.NaT, pd.Interval(0, 1), (1,), [1], {"a": 1}, {1}, object(), np.arange(2), np.array(3.0)),
]
TYPES = [
    "f2",
    "f4",
    "f8",
    "g",
    ">f8",
    "c16",
    "i1",
    "u1",
    "i2",
    "u4",
    "i8",
    "u8",
    "?",
    "M8[s]",
    "m8[s]",
    "M8[Y]",
    "S3",
    "U3",
    "V4",
]
ARROW = [
    *(pa.float32(), pa.int8(), pa.decimal128(30, 2), pa.bool_(), pa.large_string(), pa.string_view()),
    *(pa.date32(), pa.timestamp("us"), pa.timestamp("s", "Asia/Tokyo"), pa.duration("s"), pa.time64("us")),
]
KINDS: list[dict[str, Any]] = [
    {"kind": "numeric", "lower": -5, "upper": 1e9},
    {"kind": "categorical", "categories": ["a", "é", "1", 2.5, 0.1, True]},
    {"kind": "boolean"},
    {"kind": "date", "granularity": "year", "lower": "2000-01-01", "upper": "2020-12-31"},
    {"kind": "date", "granularity": "weekday"},
    {"kind": "date", "granularity": "weekday", "format": "%Y%m%d"},
]


def _column(draw: Random, n_rows: int) -> Any:
    """A vector of a random kind."""
    kind = draw.randrange(6)
    numbers = np.array([draw.randrange(-100, 100) for _ in range(n_rows)], np.int64)
    if kind == 0:
        return [draw.choice(POOL) for _ in range(n_rows)]
    if kind == 1:
        return np.fromiter((draw.choice(POOL) for _ in range(n_rows)), object, n_rows)
    if kind == 2:
        return numbers.astype(draw.choice(TYPES))
    if kind == 3:
        return np.ma.masked_array(numbers, numbers > 50)
    if kind == 4:
        return [draw.choice(["a", "b", "1", "2.5", "x"]) for _ in range(n_rows)]
    to = draw.choice(ARROW)
    whole = pa.array(numbers, mask=numbers > 50)
    if pa.types.is_temporal(to):
        return whole.cast(pa.int32() if to.bit_width == 32 else pa.int64()).view(to)
    return whole.cast(to, safe=False)


def _has_no_unit(column: Any) -> bool:
    """Whether a date without a unit is among other objects: pyarrow 26 ends the process over some such lists."""
    return any(isinstance(value, np.datetime64) and np.datetime_data(value)[0] == "generic" for value in column)


def _table(draw: Random, columns: dict[str, Any]) -> Any:
    """The columns in a random container."""
    makers: list[Callable[[], Any]] = [
        lambda: columns,
        lambda: pd.DataFrame(columns),
        lambda: pl.DataFrame(columns, strict=False),
        lambda: columns if any(map(_has_no_unit, columns.values())) else pa.table(columns),
        lambda: pd.DataFrame(columns).astype(draw.choice(["object", "string", "category"])),
        lambda: [list(row) for row in zip(*columns.values(), strict=True)],
    ]
    try:
        return draw.choice(makers)()
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - what no library makes a table of
        return columns


def _outcome(read: Callable[[], Any]) -> str:
    """Whether something was read or refused; whatever else is raised passes through."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)  # an overflow of one value
            read()
    except TacitError:
        return "refused"
    return "read"


def _tables(seeds: range) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        draw = Random(seed)
        n_rows, width = draw.choice([0, 1, 2, 17]), draw.randrange(1, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = _table(draw, {f"x{j}": _column(draw, n_rows) for j in range(width)})
            labels = _column(draw, n_rows)
        schema = tacit.Schema.from_dict({"columns": {f"x{j}": draw.choice(KINDS) for j in range(width)}})
        reads: list[Callable[[], Any]] = [
            lambda data=data, schema=schema: TableEncoding.of(schema).encode(columns_of(data, schema.features)),
            lambda labels=labels: LabelIndex(("a", "b")).encode(labels),
            lambda labels=labels: NumericLabelIndex(0, 9).encode(labels),
        ]
        outcomes.update(map(_outcome, reads))
    return outcomes


FILES = tacit.Schema.from_dict({"columns": {"a": KINDS[0], "b": KINDS[1], "d": KINDS[3]}})
CELLS = [b"1", b"x", b'"x"', b'"x ""y"""', b"2020-01-01", b"", b"\xc3\xa9", b"1e5", b"\x00", b"9" * 400]
FORMATS: list[dict[str, Any]] = [
    *({}, {}, {"multiline": True}, {"decimal": ","}, {"delimiter": "|"}, {"delimiter": " "}),
    *({"encoding": name} for name in ("latin-1", "utf-16", "utf-16-le", "cp1252", "gb18030", "shift_jis", "utf-32")),
]


def _file(draw: Random) -> bytes:
    """A CSV or Parquet file, perhaps packed."""
    n_rows = draw.randrange(30)
    if draw.random() < 0.4:
        file = io.BytesIO()
        days = pa.array([draw.randrange(10**4) for _ in range(n_rows)], pa.int32()).cast(pa.date32())
        table = pa.table({"a": [draw.random() for _ in range(n_rows)], "b": ["x"] * n_rows, "d": days})
        pq.write_table(table, file, compression=draw.choice(["snappy", "none", "gzip", "zstd"]))
        return file.getvalue()
    lines = [b",".join(draw.choice(CELLS) for _ in range(3)) + draw.choice([b"\n", b"\r\n"]) for _ in range(n_rows)]
    content = b"a,b,d\n" + b"".join(lines)
    return gzip.compress(content, mtime=0) if draw.random() < 0.3 else content


def _damaged(draw: Random, content: bytes) -> bytes:
    """The bytes with a few changed, left out, added, or cut off."""
    for _ in range(draw.choice([0, 1, 1, 2, 8])):
        place = draw.randrange(len(content) + 1)
        content = draw.choice(
            [
                content[:place] + bytes([draw.randrange(256)]) + content[place + 1 :],
                content[:place] + content[place + draw.choice([1, 9, 300]) :],
                content[:place] + bytes([draw.choice(b'",\n\r\x00\xff\xfe\x1f\x8b')]) + content[place:],
                content[:place] + content[: draw.randrange(50)] + content[place:],
                content[:place],
            ]
        )
    return content


def _files(seeds: range, path: Path) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        draw = Random(seed)
        path.write_bytes(_damaged(draw, _file(draw)))
        how = draw.choice(FORMATS)

        def encoded(how: dict[str, Any] = how) -> Any:
            return TableEncoding.of(FILES).encode(columns_of(tacit.read_table(path, FILES, **how), FILES.features))

        def streamed(how: dict[str, Any] = how) -> Any:
            return list(tacit.read_source(path, **how).reader.chunks(["a", "b"], frozenset("a")))

        outcomes.update(map(_outcome, [encoded, streamed, lambda how=how: tacit.read_table(path, **how)]))
    return outcomes


def test_random_tables_are_read_or_refused() -> None:
    outcomes = _tables(range(100))
    assert min(outcomes["read"], outcomes["refused"]) > 30


def test_random_files_are_read_or_refused(tmp_path: Path) -> None:
    outcomes = _files(range(100), tmp_path / "file")
    assert min(outcomes["read"], outcomes["refused"]) > 30


@pytest.mark.slow
def test_many_random_tables_and_files_are_read_or_refused(tmp_path: Path) -> None:
    assert _tables(range(1000, 6000)).total() == 15_000
    assert _files(range(1000, 4000), tmp_path / "file").total() == 9_000
