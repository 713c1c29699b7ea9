"""The JSON Schema (2020-12) of model files and certificates: what a reader in another language may rely on."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
VALUE: Schema = {"type": ["string", "number", "boolean"]}
DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
ENDLESS: Schema = {"anyOf": [NUMBER, {"enum": ["inf", "-inf"]}]}


def _list(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least}


def _or_null(kind: Schema) -> Schema:
    return {"anyOf": [kind, {"type": "null"}]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _object(_optional: Any = None, _open: Any = False, **required: Any) -> Schema:
    """An object with these members, and these that may be missing."""
    return {
        "type": "object",
        "properties": {**required, **(_optional or {})},
        "required": list(required),
        **({} if _open else {"additionalProperties": False}),
    }


NUMBERS = _list(NUMBER)
NESTED_NUMBERS: Schema = {"type": "array", "items": {"anyOf": [NUMBER, _ref("numbers")]}}
CLASSES = _list(VALUE, 2)

_GRID: Schema = {
    "kind": {"const": "numeric_grid"}, "lower": NUMBER, "upper": NUMBER, "cells": {**INTEGER, "minimum": 2},
    "spacing": {"anyOf": [{"enum": ["linear", "log"]}, NUMBERS]},
}  # fmt: skip
_CATEGORIES: Schema = {"kind": {"const": "category_index"}, "categories": _list(VALUE, 1)}


def _encoders(**more: Schema) -> Schema:
    written = _object({"symbol": TEXT, "thousands": TEXT, "missing_values": NUMBERS, "date": TEXT})
    grid = _object({"dates": {"enum": ["year", "month", "weekday"]}, "format": written}, **_GRID, **more)
    categories = _object({"exact": TRUTH}, **_CATEGORIES, **more)
    return {"oneOf": [grid, categories, _object(kind={"const": "boolean_index"}, **more)]}


def _effect(**more: Schema) -> Schema:
    return _object(**more, effect=_ref("numbers"), sd=_ref("numbers"), counts=_ref("numbers"))


_SPLITS = _list(
    _object({"above": INTEGER, "in": _list(COUNT)}, column=COUNT, children={**_list(INTEGER, 2), "maxItems": 2})
)
_TESTS = _list({"anyOf": [INTEGER, _list(COUNT)]})

PARTS: dict[str, Schema] = {
    "numbers": NESTED_NUMBERS,
    "encoder": _encoders(),
    "feature": _object(
        {"monotone": {"enum": ["increasing", "decreasing"]}},
        name=TEXT, encoder=_ref("encoder"), ordered=TRUTH, starts=_list(COUNT, 1), bins=_list(COUNT, 1),
    ),
    "main": _effect(feature=COUNT),
    "pair": _effect(features={**_list(COUNT, 2), "maxItems": 2}, groups={**_list(_list(COUNT), 2), "maxItems": 2}),
    "tree": {
        "oneOf": [
            _object({"sd": _ref("numbers")}, **{key: part}, values=_ref("numbers"), support=NUMBERS)
            for key, part in (("splits", _SPLITS), ("complete", _object(columns=_list(COUNT), right=_TESTS)))
        ]
    },
    "scores": _object(
        {"intercept_sd": NUMBERS},
        intercept=_list(NUMBER, 1), features=_list(_ref("feature")), mains=_list(_ref("main")),
        pairs=_list(_ref("pair")), trees=_list(_ref("tree")),
    ),
    "table_encoding": _object(columns=_list(_encoders(name=TEXT))),
    "clipper": _object(kind={"const": "row_clipper"}, norm=NUMBER, radius=INTEGER),
    "evidence": _object(
        wrong=NUMBER, right=NUMBER, wrong_cells=COUNT, right_cells=COUNT, sd=NUMBER, log_models=NUMBER
    ),
    "members": _list(_ref("any_model")),
    "any_model": _object(kind=_ref("kind"), model={"type": "object"}),
}  # fmt: skip

_MODEL_EVIDENCE = {"evidence": _or_null(_ref("evidence"))}
_PROMISE = _object(
    error=NUMBER, failure=NUMBER, margin=NUMBER, violating=NUMBER, errors_on={"enum": ["new_rows", "training_rows"]},
    rows=COUNT, counted=NUMBER, sd=NUMBER,
)  # fmt: skip
_ROW_ENCODER = _object(
    kind={"const": "row_encoder"}, encoding=_ref("table_encoding"), ordinal=_list(TRUTH), clipper=_ref("clipper"),
    intercept={"type": ["boolean", "number"]},
)  # fmt: skip
_MATRIX_ENCODER = _object(kind={"const": "matrix_encoder"}, n_features=COUNT, clipper=_ref("clipper"), intercept=NUMBER)
_RULES = _list(
    _object(
        **{"if": _list(_object(feature=COUNT, test={"enum": ["at_least", "below", "is", "is_not"]}, code=COUNT))},
        then=COUNT, counts=_or_null(NUMBERS),
    ),
    1,
)  # fmt: skip

BODIES: dict[str, Schema] = {
    "additive": _object(
        classes=CLASSES, intercept=NUMBER, features=_list(_ref("feature")), mains=_list(_ref("main")),
        pairs=_list(_ref("pair")), trees=_list(_ref("tree")), intercept_sd=NUMBER,
    ),
    "additive_classes": _object(classes=CLASSES, scores=_ref("scores")),
    "additive_ordered": _object(classes=CLASSES, cuts=NUMBERS, scores=_ref("scores")),
    "additive_regression": _object(
        {"power": NUMBER},
        target=TEXT, lower=NUMBER, upper=NUMBER, loss={"enum": ["squared", "quantile", "poisson", "gamma", "tweedie"]},
        quantile=NUMBER, scores=_ref("scores"),
    ),
    "composed": _object(
        classes=CLASSES, function=_list({"enum": [0, 1]}, 1), members=_ref("members"), text=TEXT
    ),
    "decision_list": _object(
        _MODEL_EVIDENCE, classes=CLASSES, encoding=_ref("table_encoding"), rules=_RULES, sd=NUMBER, text=_list(TEXT)
    ),
    "halfspace": _object(
        {**_MODEL_EVIDENCE, "promise": _PROMISE},
        classes=CLASSES, encoder={"oneOf": [_ROW_ENCODER, _MATRIX_ENCODER]}, weights=NUMBERS,
        noise_sd={"anyOf": [NUMBER, NUMBERS]}, slope=NUMBER, offset=NUMBER,
    ),
    "mean": _object(members=_ref("members"), weights=NUMBERS),
    "mean_number": _object(members=_ref("members"), weights=NUMBERS),
    "recalibrated": _object(base=_ref("any_model"), knots=NUMBERS, values=NUMBERS),
    "rule": _object(
        classes=CLASSES, names=_list(TEXT, 1), encoders=_list(_ref("encoder"), 1),
        positive={"type": "string", "pattern": "^([0-9a-f]{2})*$"}, text=TEXT,
        rates={**_list(NUMBER, 2), "maxItems": 2},
    ),
    "tree_classes": _object(
        classes=CLASSES, intercept=NUMBERS, features=_list(_ref("feature")), masses=_list(NUMBERS),
        trees=_list(_ref("tree")), intercept_sd=NUMBERS,
    ),
    "tree_ensemble": _object(
        classes=CLASSES, intercept=NUMBER, features=_list(_ref("feature")), trees=_list(_ref("tree")),
        link=_object({"scale": NUMBER}, name={"enum": ["logistic", "m_alpha", "share"]}, alpha=NUMBER),
        spending=_object(levels=NUMBERS, leaves=NUMBER), intercept_sd=NUMBER,
    ),
    "vote": _object(classes=CLASSES, members=_ref("members")),
}  # fmt: skip
"""The body of every kind of model."""

_CHARGE = _object(_open=True, kind=TEXT)

CERTIFICATE = _object(
    {
        "signature": _object(statement={"type": "object"}, key=TEXT, signature=TEXT), "tape": DIGEST, "unit_name": TEXT,
    },
    format={"const": "tacit certificate"}, version={"const": 1}, epsilon=ENDLESS, delta=NUMBER, neighbouring=TEXT,
    n_public=TRUTH, rows_per_unit={**INTEGER, "minimum": 1}, charges=_list(_CHARGE),
    entries=_list(_object(_open=True, label=TEXT, charge=_CHARGE, theorem=TEXT)), noise_source=TEXT, releasable=TRUTH,
    reasons=_list(TEXT), algorithm=TEXT, outcome=TEXT, schema_fingerprint=_or_null(DIGEST), dataset=_or_null(TEXT),
    versions={"type": "object", "additionalProperties": TEXT}, created=TEXT, unit=_or_null(TEXT),
    target=_or_null(TEXT), columns={"anyOf": [COUNT, _list(TEXT), {"type": "null"}]}, parameters={"type": "object"},
    assumptions=_list({"type": "object"}), model_digest=_or_null(DIGEST), schema_digest=_or_null(DIGEST),
    ledger_digest=DIGEST, data=_or_null(TEXT),
    digest=DIGEST,
)  # fmt: skip


def json_schema() -> Schema:
    """The schema of a model file, with that of a certificate among its definitions."""
    file = _object(
        {"schema": _object(_open=True, columns=_list({"type": "array", "minItems": 2, "maxItems": 2}))},
        format={"const": "tacit model"}, version={"const": 1}, kind=_ref("kind"), model={"type": "object"},
        certificate=_or_null(_ref("certificate")),
    )  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tacit model",
        **file,
        "allOf": _by_kind(),
        "$defs": {
            "kind": {"enum": list(BODIES)},
            "certificate": CERTIFICATE,
            **PARTS,
            "any_model": {**PARTS["any_model"], "allOf": _by_kind()},
            **{f"model_{kind}": body for kind, body in BODIES.items()},
        },
    }


def _by_kind() -> list[Schema]:
    return [
        {"if": {"properties": {"kind": {"const": kind}}}, "then": {"properties": {"model": _ref(f"model_{kind}")}}}
        for kind in BODIES
    ]
