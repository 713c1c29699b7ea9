"""What rows hold against a schema, counted exactly and without privacy. Used by `tacit check` alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Floats
from tacit.cli.console import finite
from tacit.encoding.arrow import dictionary_of, listed, positions
from tacit.encoding.dates import bounds_of, dates_as_numbers, days_of
from tacit.encoding.errors import DataError, FrameError
from tacit.encoding.folders import files_of
from tacit.encoding.numbers import decimal_points, number_or_nan, parse_numbers
from tacit.encoding.read import check_columns, check_decimals, column_names, is_parquet, structure
from tacit.encoding.sources import read_files
from tacit.encoding.table import encoder_of
from tacit.encoding.tokens import as_tokens
from tacit.encoding.values import (
    DROPPED,
    BooleanIndex,
    CategoryIndex,
    LabelIndex,
    is_missing,
    plain,
    spelled_as_numbers,
)
from tacit.schema import Column, DateColumn, Label, NumericColumn, Schema, Unit
from tacit.schema.alike import difference, spelled_apart
from tacit.schema.cell_format import DATE_FORMATS, parse_date
from tacit.schema.columns import is_plain_number
from tacit.schema.csv_format import COMMA, PLAIN, POINT, CsvFormat
from tacit.schema.errors import SchemaError
from tacit.schema.identifiers import refuse_identifiers

NOTABLE = 0.01
"""Share of rows from which on clipping and unknown values are complained of."""

LONGEST_EXAMPLE = 100
"""Characters of an unknown value that are listed."""

MOST_EXAMPLES = 10
"""Unknown values listed per column, the most frequent first."""


@dataclass
class Findings:
    """Exact counts, which must not be released.

    Attributes:
        rows: number of rows.
        columns: per feature, counts of rows that are missing, clipped, or hold what is not declared.
        label: rows per class, and rows a fit would drop.
        unit: how many units there are, and how many have more rows than may count.
        cells_with_line_breaks: of CSV files, where they are allowed.
        complaints: what a person should look at, in words.
    """

    rows: int = 0
    columns: list[dict[str, Any]] = field(default_factory=list)
    label: dict[str, Any] = field(default_factory=dict)
    unit: dict[str, Any] = field(default_factory=dict)
    cells_with_line_breaks: int = 0
    complaints: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain JSON data."""
        facts = asdict(self)
        for counted in (*facts["columns"], facts["label"]):
            for pair in counted.get("unknown_values", []):
                pair[0] = finite(pair[0]) if isinstance(pair[0], float) else pair[0]
        return facts


def find(
    path: Path, schema: Schema, on_rows: Callable[[int], None] | None = None, dialect: CsvFormat = PLAIN
) -> Findings:
    """Counts what rows hold against a schema; raises where a fit would, for a file or a dtype."""
    names = list(schema.features) + ([schema.label.column] if schema.label is not None else [])
    first = files_of(path)[0]
    present = column_names(first, dialect)
    identifier = schema.id_column
    if identifier is not None and (schema.unit is not None or identifier in present) and identifier not in names:
        names.append(identifier)
    check_columns(names, present, str(path))  # of a title above the names each row would be a fault
    as_written = replace(dialect, decimal=POINT)  # all as texts, to tell what is empty from what is no number
    try:
        frame, decimal = read_files(path, names, (), on_rows, as_written), dialect.decimal
    except DataError as error:
        raise _with_all_faults(path, dialect) or error from None
    if is_parquet(first):
        decimal = POINT
        for name in schema.features:
            if is_plain_number(schema.columns[name]):
                frame.numbers(name)  # raises on the dtype that a fit would raise on
    findings = Findings(rows=frame.n_rows, complaints=_refusals(path, schema, dialect))
    if dialect.multiline:
        findings.cells_with_line_breaks = sum(structure(each, dialect).breaks for each in files_of(path))
    if not frame.n_rows:
        findings.complaints.append("there are no rows")
        return findings
    for name in schema.features:
        declared = schema.columns[name]
        days = _distinct_days(frame.column(name), declared, name) if isinstance(declared, DateColumn) else None
        _look_at_feature(findings, name, declared, days or _distinct(frame.column(name), name), decimal)
    if schema.label is not None:
        name = schema.label.column
        _look_at_label(findings, schema.label, _distinct(frame.column(name), name), decimal)
    if identifier is not None and identifier in frame.names:
        _look_at_unit(findings, identifier, schema.unit, _distinct(frame.column(identifier), identifier))
    return findings


def _refusals(path: Path, schema: Schema, dialect: CsvFormat) -> list[str]:
    """What a fit would say where it refuses identifiers of a schema, or a file for its semicolons."""
    numeric = [name for name in schema.features if is_plain_number(schema.columns[name])]
    numeric += [schema.label.column] if schema.label is not None and schema.label.is_plain_number else []
    try:
        refuse_identifiers(schema)
        for file in files_of(path):
            check_decimals(file, numeric, dialect)
    except (DataError, SchemaError) as error:
        return [f"a fit refuses this: {error}"]
    return []


def _with_all_faults(path: Path, dialect: CsvFormat) -> DataError | None:
    """The error that names the faults of the first file with several, where a reader stops at its first."""
    for file in files_of(path):
        faults = None if is_parquet(file) else structure(file, dialect)
        if faults is not None and faults.n_faults > 1:
            more = "; ..." if faults.n_faults > len(faults.faults) else ""
            return DataError(f"{file} has {faults.n_faults:,} faults: {'; '.join(faults.faults)}{more}")
    return None


def readable_rows(path: Path, dialect: CsvFormat = PLAIN) -> int | None:
    """How many rows of CSV files have no fault, where others have one; None if no row has, or nothing can be read."""
    try:
        structures = [structure(each, dialect) for each in files_of(path) if not is_parquet(each)]
    except DataError:
        return None
    return sum(each.rows for each in structures) if any(each.n_faults for each in structures) else None


def _distinct(values: Any, name: str) -> list[tuple[Any, int]]:
    """Distinct values with their counts, the most frequent first; what is missing as None."""
    kind = getattr(values, "type", None)
    if kind is not None and pa.types.is_temporal(kind):
        values = pc.cast(values, pa.string())
    tokens = as_tokens(values, name)
    if isinstance(tokens, np.ndarray):
        raise FrameError(f"column '{name}' mixes types; convert it")
    counts: dict[Any, int] = {}
    for chunk in tokens.chunks:
        coded = dictionary_of(chunk)
        values = [*map(plain, listed(coded.dictionary)), None]
        numbers = np.bincount(positions(coded, len(values) - 1), minlength=len(values)).tolist()
        for value, count in zip(values, numbers, strict=True):
            key = None if is_missing(value) else value.strip() if isinstance(value, str) else value
            counts[key] = counts.get(key, 0) + count
    counts = {key: count for key, count in counts.items() if count}
    return sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))


def _distinct_days(values: Any, column: DateColumn, name: str) -> list[tuple[Any, int]] | None:
    """The same for a column of dates or times, as a fit reads them; None for another."""
    days = days_of(values) if isinstance(values, pa.ChunkedArray) else None
    if days is None:
        dates_as_numbers(values[:0], column.granularity, column.format, name)  # refuses a type as a fit does
        return None
    distinct, counts = np.unique(days, return_counts=True)
    return [(None if np.isnat(day) else day, int(count)) for day, count in zip(distinct, counts, strict=True)]


def _pointed(counted: list[tuple[Any, int]], decimal: str) -> list[Any]:
    """Values as columns without numbers are read."""
    values = [value for value, _ in counted]
    return decimal_points(pa.array(values, pa.string())).to_pylist() if decimal == COMMA else values


def _numbers(counted: list[tuple[Any, int]], decimal: str) -> Floats:
    """Values as columns of numbers are read."""
    if decimal == COMMA:
        return parse_numbers(pa.array([value for value, _ in counted], pa.string()), decimal)
    return np.array([number_or_nan(value) for value, _ in counted])


def _look_at_feature(
    findings: Findings, name: str, column: Column, values: list[tuple[Any, int]], decimal: str
) -> None:
    facts: dict[str, Any] = {"name": name, "kind": column.kind, "missing": dict(values).get(None, 0)}
    counted = [(value, count) for value, count in values if value is not None]
    if isinstance(column, NumericColumn):
        unknown = _look_at_numbers(facts, column, counted, decimal)
    elif isinstance(column, DateColumn):
        unknown = _look_at_dates(facts, column, counted)
    else:
        encoder = encoder_of(column)
        assert isinstance(encoder, CategoryIndex | BooleanIndex)
        stray = encoder.other if isinstance(encoder, CategoryIndex) else encoder.missing
        codes = [encoder.code_of(value) for value in _pointed(counted, decimal)]
        unknown = [pair for pair, code in zip(counted, codes, strict=True) if code == stray]
        if isinstance(encoder, CategoryIndex):
            codes_present = set(codes)
            facts["never_seen"] = [
                str(value) for code, value in enumerate(encoder.categories) if code not in codes_present
            ]
    unknown = [(_short(value), count) for value, count in unknown]
    facts["unknown"] = sum(count for _, count in unknown)
    facts["unknown_values"] = [[value, count] for value, count in unknown[:MOST_EXAMPLES]]
    findings.columns.append(facts)
    remedy = _remedy(column, counted, unknown)
    findings.complaints.extend(
        f"column '{name}': {words}" for words in _complaints(facts, column, findings.rows, remedy)
    )


def _look_at_numbers(
    facts: dict[str, Any], column: NumericColumn, counted: list[tuple[Any, int]], decimal: str
) -> list[tuple[Any, int]]:
    """Counts what is clipped or declared to be missing; returns what is no finite number."""
    cell_format = column.cell_format
    if not cell_format.is_plain:
        numbers = spelled_as_numbers([value for value, _ in counted], cell_format)
    else:
        numbers = _numbers(counted, decimal)
    marks = np.isin(numbers, cell_format.missing_values)
    facts["missing"] = facts.get("missing", 0) + sum(
        count for (_, count), mark in zip(counted, marks, strict=True) if mark
    )
    counted, numbers = [pair for pair, mark in zip(counted, marks, strict=True) if not mark], numbers[~marks]
    counts = np.array([count for _, count in counted], np.int64)
    facts["clipped_below"] = int(counts[numbers < column.lower].sum())
    facts["clipped_above"] = int(counts[np.isfinite(numbers) & (numbers > column.upper)].sum())
    return [pair for pair, number in zip(counted, numbers, strict=True) if not np.isfinite(number)]


def _look_at_dates(facts: dict[str, Any], column: DateColumn, counted: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """The same for dates."""
    lower, upper, _ = bounds_of(column)
    numbers = dates_as_numbers([value for value, _ in counted], column.granularity, column.format)
    counts = np.array([count for _, count in counted], np.int64)
    facts["clipped_below"] = int(counts[numbers < lower].sum())
    facts["clipped_above"] = int(counts[numbers > upper].sum())
    return [pair for pair, number in zip(counted, numbers, strict=True) if not np.isfinite(number)]


def _bound(column: Column, name: str) -> str:
    bound = getattr(column, name)
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _complaints(facts: dict[str, Any], column: Column, rows: int, remedy: str) -> list[str]:
    words = []
    for end, bound in (("below", "lower"), ("above", "upper")):
        count = facts.get(f"clipped_{end}", 0)
        if count > NOTABLE * rows:
            words.append(f"{_percent(count, rows)} lie {end} {bound} = {_bound(column, bound)} and are clipped")
    place = "go to 'other'" if "never_seen" in facts else "count as missing"
    what = {"numeric": "hold no number", "date": "hold no date"}.get(column.kind, "hold values that are not declared")
    if facts["unknown"] > NOTABLE * rows or (facts["unknown"] and "never_seen" not in facts):
        examples = ", ".join(repr(value) for value, _ in facts["unknown_values"][:3])
        words.append(f"{_percent(facts['unknown'], rows)} {what} and {place}: {examples}{remedy}")
    declared = getattr(column, "categories", ())
    words.extend(_alike([value for value, _ in facts["unknown_values"]], declared))
    if facts["missing"] + facts["unknown"] == rows:
        words.append("no row holds a declared value")
    elif facts["missing"] > 0.5 * rows:
        words.append(f"{_percent(facts['missing'], rows)} are missing")
    elif facts["missing"] and getattr(column, "missing", True) is False:
        words.append(f"{_percent(facts['missing'], rows)} are missing, which the schema does not expect")
    return words


def _alike(unknown: list[Any], declared: Iterable[Any]) -> list[str]:
    """Which unknown values look like declared ones, and in what they differ."""
    texts = [str(value) for value in declared]
    alike = [(value, difference(value, texts)) for value in unknown if isinstance(value, str)]
    words = [f"{value!r} differs only {why}: write both the same way" for value, why in alike if why][:3]
    return [*words, *filter(None, [spelled_apart(texts)])]


def _remedy(column: Column, counted: list[tuple[Any, int]], unknown: list[tuple[Any, int]]) -> str:
    """What helps against values that are no numbers or dates as they are written, where they are no mere strays."""
    if column.kind == "numeric":
        commas = sum(count for value, count in unknown if _has_decimal_comma(value))
        points = sum(count for value, count in counted if "." in str(value) and np.isfinite(number_or_nan(value)))
        return "; give --decimal , where numbers have a decimal comma" if commas > points else ""
    if column.kind != "date" or not unknown:
        return ""
    first = [value for value, _ in unknown[:MOST_EXAMPLES]]
    fitting = {
        shape: sum(count for value, count in unknown if parse_date(str(value), shape))
        for shape in DATE_FORMATS
        if any(parse_date(str(value), shape) for value in first)
    }
    best = max(fitting, key=fitting.__getitem__, default="")
    n_read = sum(count for _, count in counted) - sum(count for _, count in unknown)
    return f"; declare how they are written, such as format = '{best}'" if best and fitting[best] > n_read else ""


def _has_decimal_comma(value: Any) -> bool:
    """Whether a text would be a number with a point in place of its one comma."""
    return (
        isinstance(value, str) and value.count(",") == 1 and bool(np.isfinite(number_or_nan(value.replace(",", "."))))
    )


def _short(value: Any) -> Any:
    """A value for people: of a long text, its start."""
    long = isinstance(value, str) and len(value) > LONGEST_EXAMPLE
    return f"{value[: LONGEST_EXAMPLE - 1]}…" if long else value


def _percent(count: int, rows: int) -> str:
    percent = 100.0 * count / rows
    return f"{percent:.1f} % of rows" if percent >= 0.05 else f"{count:,} rows"


def _look_at_label(findings: Findings, label: Label, values: list[tuple[Any, int]], decimal: str) -> None:
    facts = findings.label
    missing = dict(values).get(None, 0)
    counted = [(value, count) for value, count in values if value is not None]
    if label.is_numeric:
        assert label.lower is not None
        assert label.upper is not None
        unknown = _look_at_numbers(facts, NumericColumn(label.lower, label.upper, **_written(label)), counted, decimal)
        missing += facts.pop("missing", 0)
    else:
        index = LabelIndex.of(label)
        codes = [index.code_of(value) for value in _pointed(counted, decimal)]
        unknown = [pair for pair, code in zip(counted, codes, strict=True) if code == DROPPED]
        per_class = np.zeros(index.n_classes, np.int64)
        for (_, count), code in zip(counted, codes, strict=True):
            if code != DROPPED:
                per_class[code] += count
        facts["classes"] = {str(name): int(count) for name, count in zip(index.names, per_class, strict=True)}
        if np.count_nonzero(per_class) == 1:
            findings.complaints.append("label: all rows are of one class; a fit would return the prior")
    unknown = [(_short(value), count) for value, count in unknown]
    facts["dropped"] = missing + sum(count for _, count in unknown)
    facts["unknown_values"] = [[value, count] for value, count in unknown[:MOST_EXAMPLES]]
    if facts["dropped"] == findings.rows:
        findings.complaints.append("label: no row has a declared label; a fit would return the prior")
    elif facts["dropped"]:
        examples = ", ".join(repr(value) for value, _ in unknown[:3]) or "they are empty"
        findings.complaints.append(
            f"label: {_percent(facts['dropped'], findings.rows)} have no declared label and are dropped: {examples}"
        )
    findings.complaints += [f"label: {words}" for words in _alike([value for value, _ in unknown], label.classes or ())]


def _written(label: Label) -> dict[str, Any]:
    """How the cells of a numeric label are written, as arguments of a column."""
    return {name: getattr(label, name) for name in ("symbol", "thousands", "missing_values")}


def _look_at_unit(findings: Findings, name: str, unit: Unit | None, values: list[tuple[Any, int]]) -> None:
    limit = 1 if unit is None else unit.max_rows
    sizes = np.array([count for value, count in values if value is not None], np.int64)
    facts = findings.unit
    facts.update(
        column=name,
        units=len(sizes),
        most_rows=int(sizes.max(initial=0)),
        units_above_limit=int((sizes > limit).sum()),
        rows_above_limit=int(np.maximum(sizes - limit, 0).sum()),
        without=dict(values).get(None, 0),
    )
    if facts["units_above_limit"] and unit is None:
        findings.complaints.append(
            f"unit: {facts['units_above_limit']:,} values of '{name}' stand in several rows (up to "
            f"{facts['most_rows']}): privacy is promised per row unless [unit] says who is protected"
        )
    elif facts["units_above_limit"]:
        findings.complaints.append(
            f"unit: {facts['units_above_limit']:,} units have more than {limit} rows (up to {facts['most_rows']}); "
            f"{facts['rows_above_limit']:,} rows are too many"
        )
    if facts["without"]:
        findings.complaints.append(f"unit: {_percent(facts['without'], findings.rows)} name no unit, and do not count")
