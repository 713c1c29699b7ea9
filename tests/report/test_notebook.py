"""A notebook that shows a fit: it runs, and its outputs are looked at."""

from __future__ import annotations

import nbclient
import nbformat
import pytest

FIT = """
import warnings
warnings.simplefilter("ignore")
from tacit import RandomTreesClassifier, private_score
from tacit.examples import hospital
X, y, schema = hospital(2000)
few = {name: column[:2] for name, column in X.items()}
estimator = RandomTreesClassifier(epsilon=2.0, schema=schema, n_trees=5).fit(X, y)
"""
CELLS = [
    FIT,
    "schema",
    "estimator.model_",
    "estimator.certificate_",
    "estimator.plot('What matters')",
    "estimator.plot()",
    "estimator.explain(few)",
    "estimator.report()",
    "private_score(estimator, X, y)",
]
SHOWN = [
    "Schema: what is public",
    "<svg",
    "Privacy certificate",
    "<svg",
    "<svg",
    "Row 1",
    "<iframe",
    "Private evaluation",
]


def test_a_notebook_shows_a_fit(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    for cell, words in zip(book.cells[1:], SHOWN, strict=True):
        [output] = cell.outputs
        assert words in output.data["text/html"], cell.source
        assert len(output.data["text/plain"]) <= 300, cell.source
    assert nbformat.validate(book) is None
