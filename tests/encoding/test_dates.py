"""Dates: from every kind of column the same codes, and no cell that stops anything."""

from __future__ import annotations

import datetime as dt
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.audit.canary import ends_of
from tacit.encoding.dates import DAYS, dates_as_numbers
from tacit.encoding.errors import FrameError
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding, encoder_from_dict
from tacit.models.decision_list import AT_LEAST, Condition
from tacit.schema import DateColumn, Schema, SchemaError, column_from_dict

GRIDS = {
    "year": DateColumn("year", "2015-06-01", "2020-02-01"),  # type: ignore[arg-type]
    "month": DateColumn("month", "2019-11-20", "2020-03-05"),  # type: ignore[arg-type]
    "weekday": DateColumn("weekday"),
}
CASES = {
    # date: codes by year, by month and by day of the week
    "2019-12-31": (4, 1, 1),
    "2020-01-01": (5, 2, 2),
    "2020-02-29": (5, 3, 5),
    "2015-01-01": (0, 0, 3),  # before the first month
    "1999-01-04": (0, 0, 0),
    "2031-07-06": (5, 4, 6),
    "2019-11-01": (4, 0, 4),  # the month of the first date, before its day
    None: (6, 5, 7),
}


def forms() -> dict[str, Any]:
    texts = list(CASES)
    days = [None if text is None else dt.date.fromisoformat(text) for text in texts]
    times = [None if day is None else dt.datetime.combine(day, dt.time(23, 59)) for day in days]
    stamps = pd.Series(pd.to_datetime(pd.Series(texts)))
    zone = stamps.dt.tz_localize("Asia/Tokyo")  # the day of the zone, which elsewhere is the day before
    return {
        "a list of texts": texts,
        "a list of dates": days,
        "texts with times": [None if text is None else f" {text}T23:10:00 " for text in texts],
        "objects": np.array(days, object),
        "pandas, times": stamps,
        "pandas, times of a zone": zone,
        "pandas, texts": pd.Series(texts),
        "pandas, objects": pd.Series(days, dtype=object),
        "pandas, categories": pd.Series(texts, dtype="category"),
        "pandas, Arrow": pd.Series(days, dtype=pd.ArrowDtype(pa.date32())),
        "numpy": stamps.to_numpy(),
        "numpy, seconds": stamps.to_numpy().astype("datetime64[s]"),
        "polars, dates": pl.Series(days),
        "polars, times": pl.Series(times),
        "polars, texts": pl.Series(texts),
        "Arrow, days": pa.array(days, pa.date32()),
        "Arrow, milliseconds": pa.array(days, pa.date64()),
        "Arrow, times": pa.chunked_array([pa.array(times, pa.timestamp("us"))]),
        "Arrow, times of a zone": pa.Table.from_pandas(pd.DataFrame({"a": zone}))["a"],
        "Arrow, texts": pa.array(texts),
        "Arrow, a dictionary": pa.array(texts).dictionary_encode(),
        "Arrow, large texts in chunks": pa.chunked_array(
            [pa.array(texts[:3], pa.large_string()), texts[3:]], pa.large_string()
        ),
    }


@pytest.mark.parametrize("form", list(forms()))
@pytest.mark.parametrize("place", range(3))
def test_every_form_gives_the_same_codes(form: str, place: int) -> None:
    grid = NumericGrid.of_dates(list(GRIDS.values())[place])
    codes = grid.encode(forms()[form])
    assert codes.tolist() == [expected[place] for expected in CASES.values()]


def test_every_month_and_every_year_has_its_own_cell() -> None:
    days = np.arange("1900-01-01", "2100-01-01", dtype="datetime64[D]")
    months = NumericGrid.of_dates(DateColumn("month", dt.date(1900, 1, 1), dt.date(2099, 12, 31)))
    expected = (days.astype("datetime64[M]") - days[0].astype("datetime64[M]")).astype(int)
    np.testing.assert_array_equal(months.encode(days), expected)
    assert months.cells == 2400
    years = NumericGrid.of_dates(DateColumn("year", dt.date(1900, 1, 1), dt.date(2099, 1, 1)))
    np.testing.assert_array_equal(years.encode(days), days.astype("datetime64[Y]").astype(int) + 70)
    week = NumericGrid.of_dates(DateColumn("weekday"))
    np.testing.assert_array_equal(week.encode(days), [day.weekday() for day in days.tolist()])
    assert [months.text(edge) for edge in months.edges(np.array([0, 1, 13, 2399]))] == [
        "1900-01", "1900-02", "1901-02", "2099-12",
    ]  # fmt: skip
    assert [years.text(edge) for edge in years.edges(np.array([0, 199]))] == ["1900", "2099"]
    assert tuple(week.text(edge) for edge in week.edges()) == DAYS


BAD = [
    "2020-02-30", "2020-13-01", "0000-01-01", "20200101", "2020-W01-1", "31.12.2020", "yesterday", "", " ", "NaN",
    True, 3, 2020.5, float("inf"), b"2020-01-32", [1], {"a": 1}, object(), pd.NaT, np.datetime64("NaT"), 10**400,
    np.timedelta64(1, "s"), np.timedelta64("NaT"),
]  # fmt: skip


@pytest.mark.parametrize("granularity", ["month", "weekday"])
def test_what_is_no_date_is_missing(granularity: str) -> None:
    for values in (BAD, np.array([*BAD, None], object), pd.Series([*BAD, None], dtype=object)):
        assert np.isnan(dates_as_numbers(values, granularity)).all()
    texts = [value for value in BAD if isinstance(value, str)]
    assert np.isnan(dates_as_numbers(pa.array(texts), granularity)).all()
    for numbers in (
        np.arange(5),
        pd.Series([1.5, np.nan]),
        pl.Series([True]),
        pa.nulls(3),
        pd.Series([], dtype=float),
    ):
        assert np.isnan(dates_as_numbers(numbers, granularity)).all()


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2], "m8[D]"),
        pd.Series(pd.to_timedelta([1], "D")),
        pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
        pl.Series([dt.time(1)]),
        pa.array([[1]]),
        pa.array([{"day": 1}]),
        pa.array([dt.timedelta(1)]).dictionary_encode(),
    ],
    ids=lambda values: f"{type(values).__module__}-{getattr(values, 'dtype', '')}{getattr(values, 'type', '')}",
)
def test_a_type_that_no_date_has_is_refused_with_and_without_rows(values: Any) -> None:
    """A fit paid for a column of durations or periods, and found every row of it missing."""
    for rows in (values, values[:0]):
        with pytest.raises(FrameError, match=r"column 'on' is a date in the schema but has dtype .*Nothing was spent"):
            dates_as_numbers(rows, "month", name="on")


@pytest.mark.parametrize("unit", ["ps", "fs", "as"])
def test_moments_too_fine_for_numpy_to_make_days_of_them(unit: str) -> None:
    """A second is all that the finest unit holds of time on both sides of 1970."""
    moments = np.array([-1, 0, 1, np.iinfo(np.int64).min]).view(f"M8[{unit}]")
    assert dates_as_numbers(moments, "year").tolist()[:3] == [1969.5, 1970.5, 1970.5]
    assert np.isnan(dates_as_numbers(moments, "year")[3])


def test_times_of_a_zone_that_nobody_knows_are_refused_with_rows_and_without() -> None:
    """Before the charge, therefore; that the zone is of Mars was found out after it once."""
    for rows in (0, 2):
        times = pa.nulls(rows, pa.timestamp("s", "Mars/Olympus"))
        with pytest.raises(FrameError, match="zone 'Mars/Olympus', which is not known here"):
            dates_as_numbers(times, "month")


def test_a_number_is_a_year_where_years_count() -> None:
    expected = [2019.5, 2020.5, np.nan]
    for values in ([2019, "2020", 20201], np.array([2019.0, 2020.0, -1.0]), pa.array(["2019", "2020.0", "year"])):
        np.testing.assert_array_equal(dates_as_numbers(values, "year"), expected)


def test_no_number_of_any_size_makes_a_date_of_digits_fail() -> None:
    """One row's whole number beyond all floats ended a fit."""
    far = [10**400, -(10**400), 10**5000, 2**63, 1e300, float("inf"), float("nan"), np.longdouble("1e4000"), -20101231]
    for values in (far, np.array([*far, None], object), pd.Series(far, dtype=object)):
        assert np.isnan(dates_as_numbers(values, "month", "%Y%m%d")).all()
    dates = [20101231, 20101231.0, np.int32(20101231), "20101231"]
    assert len(set(dates_as_numbers(dates, "month", "%Y%m%d"))) == 1
    times = pa.array([-(2**62), 2**62, 0]).view(pa.timestamp("s", "UTC")).dictionary_encode()
    assert dates_as_numbers(times.to_pandas(), "year")[2] == 1970.5


FAR: list[tuple[Any, list[float]]] = [
    (np.array(["-0044-03-15", "12021-01-01"], "M8[D]"), [-43.5, 12021.5]),
    (np.array([10**17, 30], "M8[Y]"), [np.nan, 2000.5]),
    ([np.datetime64(10**17, "Y"), np.datetime64(2**62, "W")], [np.nan, np.nan]),
    (np.array([2**62, 12], "M8[M]"), [np.nan, 1971.5]),
    (np.array([2**62, 0], "M8[25s]"), [np.nan, 1970.5]),
    (np.array([2**62, 0], "M8[s]"), [146138514283.5, 1970.5]),
    (np.array([2**63 - 1, 1 - 2**63], "M8[ns]"), [2262.5, 1677.5]),
    (np.array([2**63 - 1, 1 - 2**63], "M8[D]"), [1e9, -1e9]),
    (pa.array([2**62, -(2**62)], pa.timestamp("s")), [146138514283.5, -146138510344.5]),
    (pa.array([2**62, 0], pa.timestamp("ms", "Europe/Rome")), [146140482.5, 1970.5]),
    (pa.array([2**62, 0], pa.timestamp("s")).dictionary_encode(), [146138514283.5, 1970.5]),
    (pa.array([2**63 - 1, -1], pa.timestamp("us", "Europe/Rome")), [np.nan, 1970.5]),
    (pa.array([2**62, -1], pa.date64()), [146140482.5, 1969.5]),
    (pd.Series(np.array([2**62, 0], "M8[s]")), [146138514283.5, 1970.5]),
    (pl.Series([2**62, 0]).cast(pl.Datetime("ms")), [146140482.5, 1970.5]),
]


@pytest.mark.parametrize(("values", "years"), FAR)
def test_far_dates_are_clipped(values: Any, years: list[float]) -> None:
    """Arrow and numpy know years that Python's dates do not; days of no 64 bits are missing, and never wrap around."""
    result = dates_as_numbers(values, "year")
    np.testing.assert_array_equal(np.clip(result, -1e9, 1e9), np.clip(years, -1e9, 1e9))
    grid = NumericGrid.of_dates(GRIDS["year"])
    codes = [grid.missing if np.isnan(year) else 0 if year < 2019 else 5 for year in years]
    assert grid.encode(values).tolist() == codes


# The schema.


def test_columns_of_dates_go_to_files_and_back(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        '[columns.on]\nkind = "date"\ngranularity = "month"\nlower = 2019-11-20\nupper = "2020-03-05"\n'
        '[columns.day]\nkind = "date"\ngranularity = "weekday"\n'
    )
    schema = Schema.from_toml(tmp_path / "a.toml")
    assert schema.columns["on"] == GRIDS["month"]
    assert Schema.from_dict(schema.to_dict()) == schema
    schema.to_toml(tmp_path / "b.toml")
    assert Schema.from_toml(tmp_path / "b.toml").fingerprint() == schema.fingerprint()
    encoding = TableEncoding.of(schema)
    assert TableEncoding.from_dict(encoding.to_dict()) == encoding
    assert encoder_from_dict(encoding.to_dict()["columns"][0]) == NumericGrid.of_dates(GRIDS["month"])
    assert "dates" not in NumericGrid(0, 1).to_dict()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"granularity": "day", "lower": "2020-01-01", "upper": "2021-01-01"}, "unknown granularity 'day'"),
        ({"granularity": "month", "lower": "2020-01-01"}, "'upper': is missing"),
        ({"granularity": "month", "lower": "2020-01-01", "upper": "2020-01-31"}, "later month"),
        ({"granularity": "year", "lower": "2020-01-01", "upper": "2020-12-31"}, "later year"),
        ({"granularity": "year", "lower": "2021-01-01", "upper": "2020-12-31"}, "wrong way round"),
        ({"granularity": "year", "lower": "2021-02-30", "upper": "2022-12-31"}, "no date 2021-02-30"),
        ({"granularity": "year", "lower": 2019, "upper": 2020}, "must be a date"),
        ({"granularity": "weekday", "lower": "2021-02-03"}, "no bounds"),
        ({"granularity": "year", "lower": "2019-01-01", "upper": "2020-12-31", "bins": 3}, "bins"),
        ({}, "granularity"),
    ],
)
def test_what_is_wrong_with_a_column_of_dates(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        column_from_dict({"kind": "date", **wrong})


# Fits.

DECLARED = {
    "label": {"column": "ill", "kind": "classes", "classes": ["no", "yes"]},
    "columns": {
        "on": {"kind": "date", "granularity": "month", "lower": "2018-01-01", "upper": "2020-12-31"},
        "day": {"kind": "date", "granularity": "weekday"},
    },
}


def rows(n: int = 3000) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    on = np.datetime64("2018-01-01") + draw.integers(0, 1096, n)
    day = np.datetime64("2020-01-06") + draw.integers(0, 70, n)
    weekend = (day.astype(int) + 3) % 7 >= 5
    late = on >= np.datetime64("2019-07-01")
    ill = np.where(draw.random(n) < 0.1 + 0.5 * late + 0.3 * weekend, "yes", "no")
    frame = pd.DataFrame({"on": on, "day": day, "ill": ill})
    frame.loc[::50, "on"] = pd.NaT
    return frame


def fitted(X: Any, y: Any = None, learner: Any = tacit.AdditiveBoostClassifier) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return learner(epsilon=8.0, schema=DECLARED, random_state=0).fit(X, y)


def test_a_fit_learns_from_dates_of_every_reader_alike(tmp_path: Path) -> None:
    frame = rows()
    X, y = frame[["on", "day"]], frame["ill"]
    model = fitted(X, y)
    chances = model.predict_proba(X)
    late, early = (X["on"] >= "2019-07-01").to_numpy(), (X["on"] < "2019-07-01").to_numpy()
    assert chances[late, 1].mean() - chances[early, 1].mean() > 0.3
    frame.assign(on=frame["on"].dt.strftime("%Y-%m-%d")).to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    table = tacit.read_table(tmp_path / "rows.csv", schema=Schema.from_dict(DECLARED))
    others = [
        fitted(pl.DataFrame(X), y),
        fitted(table.drop_columns("ill"), table["ill"]),
        fitted(tacit.read_source(tmp_path / "rows.csv")),
        fitted(tacit.read_source(tmp_path / "rows.parquet")),
    ]
    for other in others:
        assert other.model_.to_dict() == model.model_.to_dict()
    tacit.save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(tacit.load(tmp_path / "model.json").predict_proba(table), chances)
    labels = [label for feature in model.model_.features if feature.ordered for label in feature.bin_labels()]
    assert any(label.startswith("[2018-01, 20") for label in labels)
    assert any("day)" in label for label in labels)


def test_a_learner_of_vectors_takes_dates() -> None:
    frame = rows(1000)
    model = fitted(frame[["on", "day"]], frame["ill"], tacit.HalfspaceBoostClassifier)
    predictions = model.predict(frame[["on", "day"]])
    assert set(predictions) <= {"no", "yes"}
    bad = pd.DataFrame({"on": ["nothing", "2019-02-30"], "day": [3, "Monday"]})
    empty = pd.DataFrame({"on": [None, None], "day": [None, None]})
    np.testing.assert_array_equal(model.predict_proba(bad), model.predict_proba(empty))


def test_bad_dates_change_a_fit_as_missing_ones_do() -> None:
    frame = rows(500)
    texts = frame["on"].dt.strftime("%Y-%m-%d").astype(object)
    one, other = texts.copy(), texts.copy()
    one[:20], other[:20] = "31.12.2019", None
    models = [fitted(frame.assign(on=on)[["on", "day"]], frame["ill"]).model_.to_dict() for on in (one, other)]
    assert models[0] == models[1]


def test_a_canary_and_indicators_of_dates() -> None:
    assert ends_of(GRIDS["month"]) == ("2019-11-20", "2020-03-05")
    grid = NumericGrid.of_dates(GRIDS["weekday"])
    assert grid.encode(list(ends_of(GRIDS["weekday"]))).tolist() == [0, 6]
    encoder = tacit.DeclaredEncoder(DECLARED).fit(rows(3)[["on", "day"]])
    names = encoder.get_feature_names_out().tolist()
    assert names[:2] == ["on=2018-01", "on=2018-02"]
    assert names[-2:] == ["day=Sunday", "day=(missing)"]
    indicators = encoder.transform(pd.DataFrame({"on": ["2018-02-27", None], "day": ["2024-01-07", "?"]}))
    assert [[name for name, one in zip(names, line, strict=True) if one] for line in indicators] == [
        ["on=2018-02", "day=Sunday"],
        ["on=(missing)", "day=(missing)"],
    ]


def test_check_counts_what_is_no_date(tmp_path: Path) -> None:
    from tacit.cli.findings import find

    frame = rows(200)
    schema = Schema.from_dict(DECLARED)
    texts = frame.assign(on=frame["on"].dt.strftime("%Y-%m-%d"))
    texts.loc[1:9, "on"] = "31.12.2019"
    texts.loc[10:19, "on"] = "2017-12-31"
    texts.to_csv(tmp_path / "rows.csv", index=False)
    [on, day] = find(tmp_path / "rows.csv", schema).columns
    assert (on["kind"], on["missing"], on["unknown"], on["clipped_below"]) == ("date", 4, 9, 10)
    assert on["unknown_values"] == [["31.12.2019", 9]]
    assert (day["unknown"], day["missing"]) == (0, 0)
    said = find(tmp_path / "rows.csv", schema).complaints
    assert any("lie below lower = 2018-01-01" in words for words in said)
    assert any("hold no date" in words for words in said)
    frame.assign(on=[dt.time(1)] * len(frame)).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(FrameError, match="column 'on' is a date in the schema but has dtype time64"):
        find(tmp_path / "rows.parquet", schema)
    frame.to_parquet(tmp_path / "rows.parquet")
    [on, _] = find(tmp_path / "rows.parquet", schema).columns
    assert (on["missing"], on["unknown"], on["clipped_below"]) == (4, 0, 0)


def test_explanations_speak_of_dates() -> None:
    from tacit.report.model_card import public_column

    said = public_column("on", NumericGrid.of_dates(GRIDS["month"]))
    assert (said.kind, said.facts) == ("date", "by month, from 2019-11 to 2020-03")
    frame = rows()
    feature = fitted(frame[["on", "day"]], frame["ill"]).model_.features[0]
    condition = Condition(0, AT_LEAST, 18).text("on", feature.encoder)
    assert condition == "on >= 2019-07"


@pytest.mark.parametrize("written", ["", "%Y%m%d"])
@pytest.mark.parametrize("value", [np.complex128(20241231), np.timedelta64(2024, "D"), 2024j, True, np.bool_(True)])
def test_complex_numbers_durations_and_truths_are_no_dates(value: Any, written: str) -> None:
    grid = NumericGrid.of_dates(DateColumn("year", "2000-01-01", "2024-12-31", format=written))
    assert grid.encode([value]).tolist() == [grid.missing]
