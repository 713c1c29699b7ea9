"""What several commands make of the same options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.failures import Mistake

if TYPE_CHECKING:
    from tacit.privacy.account import PrivacyAccount
    from tacit.schema import Schema


def schema_of(path: Path | None, unit: str | None, max_rows: int | None) -> Schema | None:
    """The schema of a file, with the unit of ``--unit`` and ``--max-rows``; None without a file."""
    from tacit.schema import Schema, Unit

    if max_rows is not None and unit is None:
        raise Mistake("--max-rows needs --unit, the column that identifies the protected person")
    if path is None:
        if unit is not None:
            raise Mistake("--unit needs a --schema, which declares the other columns")
        return None
    schema = Schema.from_toml(path)
    if unit is None:
        return schema
    protected = Unit(unit, 1 if max_rows is None else max_rows)
    if schema.unit is not None and schema.unit != protected:
        raise Mistake(
            f"--unit: {path} declares {schema.unit.column!r}, with at most {schema.unit.max_rows} rows: leave "
            "--unit out, or change the schema"
        )
    return replace(schema, unit=protected)


def check_account(url: str | None, dataset: str | None) -> None:
    """Raises :class:`Mistake` if one of the two options that name an account is missing. Opens nothing."""
    if (url is None) != (dataset is None):
        raise Mistake("--account and --dataset belong together: give both or neither")


def account_of(url: str | None, dataset: str | None) -> PrivacyAccount | None:
    """The account that two options name, if they do."""
    check_account(url, dataset)
    if url is None or dataset is None:
        return None
    from tacit.privacy.account import PrivacyAccount

    return PrivacyAccount(url, dataset)


def is_extract(account: str) -> bool:
    """Whether what stands for an account is a file of JSON, as ``tacit budget export`` writes it."""
    try:
        with Path(account).open("rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False


def target_column(target: str | None, schema: Schema | None, remembered: str | None = None) -> str:
    """The column to predict: the option's, the schema's, and an error when they differ; or what a model remembers."""
    declared = None if schema is None or schema.label is None else schema.label.column
    declared = declared if target is not None or declared is not None else remembered
    if target is None and declared is None:
        raise Mistake("which column is to be predicted? give --target, or a [label] in the schema")
    if target is not None and declared is not None and target != declared:
        raise Mistake(f"--target is {target!r}, but the schema's label is {declared!r}: they must be the same column")
    return str(target if target is not None else declared)


def listed(text: str | None) -> list[str] | None:
    """The parts of a comma-separated option."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def costs_of(text: str) -> tuple[float, float]:
    """The costs of a false positive and a false negative, from ``"1,5"``."""
    try:
        positive, negative = (float(part) for part in text.split(","))
    except ValueError:
        raise Mistake(
            f"--cost: give what a false positive and a false negative cost, such as 1,5; got {text!r}"
        ) from None
    return positive, negative
