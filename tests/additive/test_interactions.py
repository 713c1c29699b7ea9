"""The parameter `interactions`: every spelling of it means what it says, or is refused."""

import numpy as np
import pytest

from tacit import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.additive.boost import parts_wanted
from tacit.privacy.request import RequestError

COLUMNS = {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in "abc"}
CLASSES = {"label": {"column": "y", "classes": [0, 1]}, "columns": COLUMNS}
NUMBER = {"label": {"column": "y", "kind": "numeric", "lower": -3, "upper": 3}, "columns": COLUMNS}


@pytest.mark.parametrize("truth", [bool, np.bool_])
def test_truth_values_of_python_and_numpy_mean_the_same(truth):
    assert parts_wanted(truth(True)) == (True, True)
    assert parts_wanted(truth(False)) == (False, False)


def test_pairs_leave_the_trees_out():
    assert parts_wanted("pairs") == (True, False)


@pytest.mark.parametrize(
    "wrong", [0, 1, 1.0, np.int64(0), None, "", "trees", "True", ["pairs"], np.array([True, False])]
)
@pytest.mark.parametrize("schema", [CLASSES, NUMBER])
def test_everything_else_is_refused_before_anything_is_spent(schema, wrong):
    estimator = AdditiveBoostClassifier if schema is CLASSES else AdditiveBoostRegressor
    X, y = np.zeros((6, 3)), [0, 1, 0, 1, 0, 1]
    with pytest.raises(RequestError, match=r"interactions must be True, False or 'pairs'.*Nothing was spent"):
        estimator(schema=schema, interactions=wrong).fit(dict(zip("abc", X.T, strict=True)), y)


@pytest.mark.parametrize("schema", [CLASSES, NUMBER])
def test_numpy_false_gives_curves_alone(schema):
    generator = np.random.default_rng(0)
    X = {name: generator.uniform(-3, 3, 4000) for name in "abc"}
    y = (X["a"] * X["b"] > 0).astype(int)
    estimator = AdditiveBoostClassifier if schema is CLASSES else AdditiveBoostRegressor
    bare, numpys, whole = (
        estimator(8.0, schema=schema, random_state=0, interactions=wanted).fit(X, y)
        for wanted in (False, np.False_, np.True_)
    )
    assert bare.certificate_.releases == numpys.certificate_.releases
    assert set(bare.model_.importance()) == set(numpys.model_.importance()) == set("abc")
    assert set(whole.model_.importance()) > set("abc")
