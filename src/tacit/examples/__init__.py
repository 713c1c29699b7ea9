"""Made-up tables for documentation and tests."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.arrays import Floats, Ints

if TYPE_CHECKING:
    from tacit.schema import Schema


__all__ = ["TARGET", "hospital"]


TARGET = "readmitted"
"""Name of the label's column."""

FIRST_DAY, DAYS = np.datetime64("2023-01-01"), 730


def hospital(stays: int = 20_000) -> tuple[dict[str, Any], Any, Schema]:
    """Returns made-up hospital stays: which patients came back within thirty days?

    Args:
        stays: number of rows, at least 1. One patient has up to three.

    Returns:
        The columns by name, each of shape ``(stays,)``; the labels ``"yes"`` and ``"no"``, shape ``(stays,)``; and the
        schema, in which the protected unit is a patient with at most three stays.

    Example:
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> print(len(y), list(X)[:3], schema.unit.column)
        20000 ['patient_id', 'admitted', 'age']
    """
    from tacit.schema import Schema

    if stays < 1:
        raise ValueError(f"stays must be at least 1, got {stays}")
    patients = np.arange(stays)
    per_patient = np.searchsorted([0.65, 0.9], _uniform(patients, 0)) + 1
    patient = np.repeat(patients, per_patient)[:stays]
    stay = np.arange(stays)
    age = np.clip(np.round(58 + 17 * _normal(patient, 1)), 18, 100)
    previous = np.minimum(np.floor(-1.2 * np.log(_uniform(stay, 5))), 8)
    medications = np.clip(np.round(5 + 0.05 * (age - 58) + 2.5 * _normal(stay, 9)), 0, 20)
    systolic = np.round(128 + 0.3 * (age - 58) + 16 * _normal(stay, 13))
    smoker = np.searchsorted([0.55, 0.8], _uniform(patient, 17))
    ward = np.floor(6 * _uniform(stay, 18)).astype(int)
    score = (
        -3.4
        + 0.8 * previous
        + 0.2 * (medications - 5)
        + np.where((systolic < 105) | (systolic > 165), 1.6, 0.0)
        + np.where(age > 75, 1.2, 0.0)
        + np.where((smoker == 2) & (age > 50), 1.2, 0.0)
        + np.array([0.0, 0.4, -0.4, 1.0, 0.0, -0.6])[ward]
    )
    labels = np.where(_uniform(stay, 20) < 1 / (1 + np.exp(-score)), "yes", "no")
    columns = {
        "patient_id": np.array([f"P{number:05d}" for number in patient.tolist()]),
        "admitted": (FIRST_DAY + np.floor(DAYS * _uniform(stay, 21)).astype(int)).astype("datetime64[D]"),
        "age": age.astype(int),
        "sex": np.where(_uniform(patient, 22) < 0.52, "f", "m"),
        "ward": np.array([f"{number + 1:02d}" for number in ward.tolist()]),
        "systolic": np.where(_uniform(stay, 23) < 0.06, np.nan, np.clip(systolic, 70, 220)),
        "smoker": np.array(["never", "former", "current"])[smoker],
        "medications": medications.astype(int),
        "previous_stays": previous.astype(int),
    }
    with resources.as_file(resources.files("tacit.examples").joinpath("hospital.toml")) as path:
        return columns, labels, Schema.from_toml(path)


def _uniform(rows: Ints, column: int) -> Floats:
    """Numbers in (0, 1) that look uniform: SplitMix64 of row and column (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        state = (np.asarray(rows, np.uint64) * np.uint64(64) + np.uint64(column + 1)) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return (np.asarray(state >> np.uint64(11), np.float64) + 0.5) / 2.0**53


def _normal(rows: Ints, column: int) -> Floats:
    """Numbers that look standard normal: four uniform ones, centred and scaled."""
    total = sum(_uniform(rows, column + offset) for offset in range(4))
    return np.asarray((total - 2.0) * np.sqrt(3.0))
