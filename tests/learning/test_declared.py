"""What is declared about a label: by an estimator, its schema, and the estimators inside it, which must agree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tacit.learning.declared import classes_declared, common_classes, common_schema, number_declared
from tacit.learning.learner import ANY_BOUNDS, Target, Task, monotone_of
from tacit.privacy.request import RequestError
from tacit.schema import Schema

COLUMNS = {
    "age": {"kind": "numeric", "lower": 0, "upper": 9, "monotone": "increasing"},
    "city": {"kind": "categorical", "categories": ["N", "S"]},
}
CLASSES = Schema.from_dict({"label": {"column": "ill", "classes": ["no", "yes"]}, "columns": COLUMNS})
NUMBER = Schema.from_dict({"label": {"column": "cost", "kind": "numeric", "lower": -1, "upper": 3}, "columns": COLUMNS})


def inner(**parameters: Any) -> Any:
    return SimpleNamespace(**parameters)


def test_classes_come_from_the_schema_or_the_argument_or_are_zero_and_one() -> None:
    assert classes_declared(CLASSES, None, (), "it").label.classes == ("no", "yes")  # type: ignore[union-attr]
    named = classes_declared(None, ["a", "b", "c"], (), "it")
    assert (named.label.classes, named.names_no_classes) == (("a", "b", "c"), False)  # type: ignore[union-attr]
    result = classes_declared(None, None, (), "it")
    assert (result.label.classes, result.names_no_classes) == ((0, 1), True)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("schema", "classes", "inside", "said"),
    [
        (NUMBER, None, (), "label 'cost' is numeric, and it learns classes"),
        (None, "ab", (), r"must list the classes, such as \('no', 'yes'\), got the text 'ab'"),
        (None, b"ab", (), "must list the classes"),
        (None, ["a"], (), "must name at least two classes"),
        (None, [], (), "must name at least two classes"),
        (CLASSES, None, (inner(classes=("no", "maybe")),), "the schema's classes and those of SimpleNamespace"),
    ],
)
def test_classes_that_are_refused(schema: Schema | None, classes: Any, inside: Any, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        classes_declared(schema, classes, inside, "it")


def test_numbers_have_the_bounds_of_the_schema_or_of_the_argument() -> None:
    declared = number_declared(NUMBER, None, "it").label
    assert isinstance(declared, Target)
    assert (declared.name, declared.index.lower, declared.index.upper) == ("cost", -1.0, 3.0)
    given = number_declared(None, (0, 5), "it").label
    assert isinstance(given, Target)
    assert (given.name, given.index.lower, given.index.upper) == ("target", 0.0, 5.0)
    unknown = number_declared(None, None, "it").label
    assert isinstance(unknown, Target)
    assert unknown.bounds is None
    with pytest.raises(TypeError, match="still to be found"):
        unknown.index  # noqa: B018
    with pytest.raises(RequestError, match="label 'ill' has classes, and it learns numbers"):
        number_declared(CLASSES, None, "it")
    for wrong in ((5, 0), (0, float("inf")), (0,), "05"):
        with pytest.raises(RequestError, match="target_bounds"):
            number_declared(None, wrong, "it")


def test_an_estimator_and_those_inside_it_declare_the_same() -> None:
    assert common_schema(None, (), "it") is None
    assert common_schema(CLASSES, (inner(schema=CLASSES), inner()), "it") == CLASSES
    assert common_schema(None, (inner(schema=CLASSES),), "it") == CLASSES
    with pytest.raises(RequestError, match="the schema of it and those of the learners inside it differ"):
        common_schema(CLASSES, (inner(schema=NUMBER),), "it")
    assert common_classes(None, (inner(classes=(0, 1)), inner()), "it") == (0, 1)
    assert common_classes([0, 1], (inner(classes=(0, 1)),), "it") == [0, 1]
    with pytest.raises(RequestError, match="the classes of it and those of the learners inside it differ"):
        common_classes((0, 1), (inner(classes=(1, 0)),), "it")


def test_a_task_tells_classes_from_numbers() -> None:
    classes = Task(CLASSES, ("age",), classes_declared(CLASSES, None, (), "it").label, None)
    number = Task(None, ("age",), number_declared(None, None, "it").label, None)
    assert classes.label_codes is classes.label_index
    assert number.label_codes is ANY_BOUNDS
    with pytest.raises(TypeError, match="the label is a number"):
        number.label_index  # noqa: B018
    with pytest.raises(TypeError, match="the label has classes"):
        classes.target  # noqa: B018
    assert [monotone_of(classes, name) for name in ("age", "city", "gone")] == ["increasing", None, None]
    assert monotone_of(number, "age") is None
