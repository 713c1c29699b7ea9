"""tacit-predict: the wheel, in an environment with numpy and rfc8785 alone, says what the library says, bit by bit."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import RandomTreesClassifier, load_model, save, save_model
from tacit.encoding import frames, numbers
from tacit.encoding.dense import RowEncoder
from tacit.encoding.errors import FrameError
from tacit.models.base import Model
from tacit.models.files import kinds
from tacit.models.halfspace import HalfspaceModel
from tests.export.models import models, rows_of

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import pickle, sys
from tacit import load_model

def answer(path, table):
    try:
        model, _ = load_model(path)
        return model.predict_proba(table) if hasattr(model, "classes") else model.predict(table)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"

given = pickle.load(open(sys.argv[1], "rb"))
answers = {name: answer(*each) for name, each in given.items()}
slow = {"asyncio", "concurrent.futures.thread", "importlib.metadata", "logging", "socket"}
packages = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) | slow & set(sys.modules)
pickle.dump((answers, packages), open(sys.argv[2], "wb"))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], tuple[dict[str, Any], set[str]]]:
    """Answers of the installed wheel to model files and tables, and the packages that it imported."""
    place = tmp_path_factory.mktemp("alone")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=ROOT / "predict", check=True, capture_output=True)
    venv.create(place / "env", with_pip=False, symlinks=True)
    (packages,) = (place / "env").glob("lib/python*/site-packages")
    zipfile.ZipFile(next(place.glob("*.whl"))).extractall(packages)
    for name in ("numpy", "rfc8785"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        for part in folder.parent.glob(f"{name}*"):
            (packages / part.name).symlink_to(part)
    (place / "child.py").write_text(CHILD)

    def answers(given: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
        (place / "given").write_bytes(pickle.dumps(given))
        # numpy warns of a name in NPY_DISABLE_CPU_FEATURES that its version does not know
        warnings = ["-W", "error", "-W", "ignore::ImportWarning"]
        command = [place / "env/bin/python", "-I", *warnings, place / "child.py", place / "given", place / "said"]
        subprocess.run(command, check=True)
        summary: tuple[dict[str, Any], set[str]] = pickle.loads((place / "said").read_bytes())
        return summary

    return answers


def in_numpy(table: pd.DataFrame, model: Model) -> Any:
    """A table as numpy's vectors and lists; as a matrix for a model that takes one."""
    columns = {name: np.array([*table[name].astype(object), None], object)[:-1] for name in table}
    if isinstance(model, HalfspaceModel) and not isinstance(model.encoder, RowEncoder):
        return table[[f"x{k}" for k in range(4)]].to_numpy()
    for name, column in columns.items():
        columns[name] = np.array([None if value is pd.NA else value for value in column], object)
        if table[name].dtype.kind in "fM":
            columns[name] = table[name].to_numpy()
    columns["price"] = columns["price"].tolist()
    columns["grade"] = columns["grade"].astype(np.float32)
    return columns


def answer(path: str, table: Any) -> Any:
    """What the whole library says."""
    try:
        model, _ = load_model(path)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    said: Any = model
    return said.predict_proba(table) if hasattr(said, "classes") else said.predict(table)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, Any]]:
    """Model files of every kind with rows; a fit with its certificate, and files that are not what they say."""
    place = tmp_path_factory.mktemp("files")
    results: dict[str, tuple[str, Any]] = {}
    for number, (name, model) in enumerate(models().items()):
        save_model(model, place / f"{number}.json")
        results[name] = (str(place / f"{number}.json"), in_numpy(rows_of(model, 400, number), model))
    table = pd.DataFrame({"a": np.linspace(0, 1, 300), "b": ["x", "y", None] * 100})
    columns = {"a": {"kind": "numeric", "lower": 0, "upper": 1}, "b": {"kind": "categorical", "categories": ["x", "y"]}}
    schema = {"columns": columns, "label": {"column": "c", "kind": "classes", "classes": [0, 1]}}
    save(RandomTreesClassifier(epsilon=1.0, schema=schema).fit(table, np.arange(300) % 2), place / "fit.json")
    text = (place / "fit.json").read_text()
    rows = {"a": [0.25, None, "0.5"], "b": np.array(["x", "zebra", ""])}
    damaged = json.loads(text)
    damaged["model"]["intercept"] = damaged["model"]["intercept"] + 2.0**-40
    for name, written in {
        "a fit": text,
        "another intercept": json.dumps(damaged),
        "another certificate": text.replace('"epsilon": 1.0', '"epsilon": 0.5'),
        "not a number": text.replace('"intercept": ', '"intercept": NaN, "x": '),
        "twice": text.replace('"kind"', '"kind": "additive", "kind"', 1),
        "of a newer version": text.replace('"version": 1', '"version": 2', 1),
        "without a certificate": json.dumps({**json.loads(text), "kind": "unheard of", "certificate": None}),
        "no JSON": text[:-10],
    }.items():
        (place / f"{name}.json").write_text(written)
        results[name] = (str(place / f"{name}.json"), rows)
    return results


@pytest.fixture(scope="module")
def said(alone: Any, given: dict[str, tuple[str, Any]]) -> tuple[dict[str, Any], set[str]]:
    result: tuple[dict[str, Any], set[str]] = alone(given)
    return result


def test_every_kind_of_model_predicts_the_same_bits(given: dict[str, Any], said: Any) -> None:
    assert {type(model) for model in models().values()} == set(kinds().values())
    for name in models():
        np.testing.assert_array_equal(said[0][name], answer(*given[name]), name)


def test_nothing_but_numpy_and_the_canonical_text_is_imported(said: Any) -> None:
    assert said[1] == {"__main__", "numpy", "rfc8785", "tacit"}


def test_a_file_is_read_or_refused_as_by_the_library(given: dict[str, Any], said: Any) -> None:
    refused = {name: said[0][name] for name in given if name not in models() and name != "a fit"}
    assert refused == {name: answer(*given[name]) for name in refused}
    assert {type(error) for error in refused.values()} == {str}
    assert "the certificate belongs to another model" in refused["another intercept"]
    np.testing.assert_array_equal(said[0]["a fit"], answer(*given["a fit"]))


@pytest.mark.parametrize("table", [pd.DataFrame({"a": [1.0], "b": ["x"]}), {"a": pd.Series(["1.0"]), "b": ["x"]}])
def test_tables_of_other_libraries_are_refused_with_advice(
    table: Any, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (frames, numbers):
        monkeypatch.setattr(module, "is_installed", lambda package: False)
    with pytest.raises(FrameError, match="give numpy's vectors or lists, or install tacit in place of tacit-predict"):
        load_model(given["a fit"][0])[0].predict_proba(table)
