"""The peers that learn from synthetic rows: public codes, environments, limits. Without the libraries, without data."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import accuracy, synthetic, synthetic_worker
from benchmarks.data import Table
from tacit.schema import Schema

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped

WORKER = f"""
import json, sys
import numpy as np
from pathlib import Path
sys.path.insert(0, {str(Path(synthetic.__file__).parents[1])!r})
from benchmarks.synthetic_worker import limit
job, arrays = json.loads(Path(sys.argv[1]).read_text()), np.load(sys.argv[2])
limit(job["seconds"])
while job["kind"] == "slow":
    pass
assert job["sizes"] == [5, 3, 2] and job["ordered"] == [True, False]
assert (job["epsilon"], job["delta"], job["seed"]) == (1.0, 1e-6, 3)
assert arrays["rows"].tolist()[0] == [0, 1, 1]
np.save(sys.argv[3], arrays["test"][:, 0] - 2.5)
"""


def table(numbers: list[float], colours: list[str | None], labels: list[int]) -> Table:
    columns: dict[str, Any] = {
        "number": {"kind": "numeric", "lower": 10.0, "upper": 20.0},
        "colour": {"kind": "categorical", "categories": ["red", "blue"]},
    }
    label = {"column": "target", "kind": "classes", "classes": [0, 1], "positive": 1}
    schema = Schema.from_dict({"label": label, "columns": columns})
    return Table("made_up", pd.DataFrame({"number": numbers, "colour": colours}), np.array(labels), schema)


def small() -> Table:
    return table([10.0, 19.0, 14.0, 16.0], ["blue", "red", "red", "blue"], [1, 0, 1, 0])


def test_codes_are_public_bins_and_places_and_the_last_one_is_what_is_missing() -> None:
    numbers = [10.0, 12.4, 12.6, 20.0, -3.0, 99.0, np.nan]
    rows = table(numbers, ["red", "blue", None, "green", "red", "red", "red"], [0] * 7)
    codes, sizes, ordered = synthetic.coded(rows, bins=4)
    assert codes[:, 0].tolist() == [0, 0, 1, 3, 0, 3, 4]
    assert codes[:, 1].tolist() == [0, 1, 2, 2, 0, 0, 0]
    assert (sizes, ordered) == ([5, 3], [True, False])


def test_the_code_of_a_row_does_not_depend_on_other_rows() -> None:
    whole = small()
    alone = [synthetic.coded(whole.rows(np.array([place])))[0][0].tolist() for place in range(4)]
    assert alone == synthetic.coded(whole)[0].tolist()


def test_tab_pe_has_numbers_within_their_bounds_and_the_gaps_that_there_are() -> None:
    train = table([10.0, 99.0, np.nan], ["red", "blue", "red"], [0, 1, 0])
    test = table([12.5, -3.0], ["blue", None], [0, 1])
    info, rows, others = synthetic.cells(train, test)
    assert info == [("int", {"min": 10.0, "max": 20.0}), ("cat", {"categories": [0, 1]})]
    assert rows.tolist() == [[10.0, 0.0], [20.0, 1.0], [10.0, 0.0]]
    assert others.tolist() == [[12.5, 1.0], [10.0, 2.0]]
    info = synthetic.cells(test, train)[0]
    assert info == [("float", {"min": 10.0, "max": 20.0}), ("cat", {"categories": [0, 1, 2]})]


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "worker.py"
    path.write_text(WORKER)
    monkeypatch.setattr(synthetic, "WORKER", path)
    monkeypatch.setattr(synthetic, "python_of", lambda library, folder: Path(sys.executable))
    monkeypatch.setattr(synthetic.coded, "__defaults__", (4,))
    monkeypatch.setattr(synthetic, "CLOCK", 300.0)  # a busy machine gives a second of its processor late
    return path


@pytest.mark.usefixtures("worker")
def test_a_learner_sends_codes_and_budget_and_brings_log_odds_back() -> None:
    learner = synthetic.SyntheticLearner("dpmm", "mst")
    assert learner(small(), small(), 1.0, 1e-6, 3).tolist() == [-2.5, 0.5, -1.5, -0.5]


@pytest.mark.usefixtures("worker")
def test_a_fit_that_needs_too_long_is_ended_and_becomes_a_line_without_figures() -> None:
    learner = synthetic.SyntheticLearner("dpmm", "slow", seconds=1)
    job = {"data": "made_up", "who": "dpmm_mst", "epsilon": 1.0, "delta": 1e-6, "seed": 3}
    line = accuracy.run(job, small(), small(), learner)
    assert line["failed"] == "longer than 1 s of the processor"
    assert "auc" not in line
    assert line["processor"] > 0.5


@pytest.mark.usefixtures("worker")
def test_a_fit_that_does_nothing_for_long_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "CLOCK", 0.002)
    with pytest.raises(TimeoutError, match="longer than 1 s by the clock"):
        synthetic.SyntheticLearner("dpmm", "slow", seconds=500)(small(), small(), 1.0, 1e-6, 3)


def test_a_worker_that_breaks_ends_the_run(worker: Path) -> None:
    worker.write_text("raise ValueError")
    with pytest.raises(SystemExit, match="ended with 1"):
        synthetic.SyntheticLearner("dpmm", "mst")(small(), small(), 1.0, 1e-6, 3)


def test_an_environment_is_made_once_and_again_when_what_it_needs_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[list[str]] = []

    def run(command: list[str], check: bool) -> None:
        queries.append(command)
        (tmp_path / "python-dpmm").mkdir(exist_ok=True)

    monkeypatch.setattr(subprocess, "run", run)
    for _ in range(2):
        python = synthetic.python_of("dpmm", tmp_path)
    assert python == tmp_path / "python-dpmm" / "bin" / "python"
    assert [command[1:3] for command in queries] == [["-m", "venv"], ["-m", "pip"]]
    assert queries[1][-2:] == list(synthetic.ENVIRONMENTS["dpmm"])
    monkeypatch.setitem(synthetic.ENVIRONMENTS, "dpmm", ("dpmm==9",))
    synthetic.python_of("dpmm", tmp_path)
    assert len(queries) == 4


def test_a_named_peer_can_be_run_alone_and_the_one_without_privacy_has_no_epsilon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        accuracy.data, "splits", lambda name, seeds: [(seed, small(), small()) for seed in range(seeds)]
    )
    command = [
        "accuracy",
        "--data",
        "made_up",
        "--who",
        "dpmm_privbayes",
        "binned_rows",
        "--epsilon",
        "1",
        "4",
        "--seeds",
        "2",
    ]
    monkeypatch.setattr(sys, "argv", [*command, "--seconds", "5"])
    args = accuracy.arguments()
    assert args.seconds == 5
    results = [(job["who"], job["epsilon"], job["seed"]) for job, _, _ in accuracy.jobs(args)]
    private = [("dpmm_privbayes", 1.0, 0), ("dpmm_privbayes", 4.0, 0), ("binned_rows", None, 0)]
    assert results == private + [(who, epsilon, 1) for who, epsilon, _ in private]
    assert set(synthetic.PEERS) == set(synthetic.learners())


@pytest.mark.parametrize("who", [*synthetic.GIVEN, "dp_sgd_mlp"])
def test_a_peer_of_another_python_asks_for_it(
    who: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["accuracy", "--synthetic", "--who", who])
    with pytest.raises(SystemExit):
        accuracy.arguments()
    assert "need --peer-python" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["accuracy", "--synthetic", "--who", who, "--peer-python", "python"])
    args = accuracy.arguments()
    assert (args.data, args.epsilon, args.seeds) == (list(synthetic.DATA), [1.0, 4.0], 1)
    monkeypatch.setattr(sys, "argv", ["accuracy", "--synthetic", "--peer-python", "python"])
    assert {who, "additive", "dp_ebm", *synthetic.PEERS} - {"dp_sgd_mlp"} <= set(accuracy.arguments().who)


def test_swift_has_all_of_the_allowance_and_its_columns_are_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []

    def mechanism(generator: np.random.Generator, columns: dict[str, Any]) -> Any:
        return types.SimpleNamespace(
            synthetic_data=types.SimpleNamespace(to_dict=lambda: dict(reversed(columns.items())))
        )

    def configured(mechanism: str) -> Any:
        assert mechanism == "swift"
        return types.SimpleNamespace(configure=lambda zcdp_rho: spent.append(zcdp_rho) or made)

    made = mechanism
    mbi, library = types.ModuleType("mbi"), types.ModuleType("dpsynth.discrete_mechanisms")
    mbi.Dataset, mbi.Domain = lambda columns, domain: columns, lambda names, sizes: None  # type: ignore[attr-defined]
    library.DiscreteConfig, library.SWIFTConfig = configured, lambda: "swift"  # type: ignore[attr-defined]
    for name, module in (("mbi", mbi), ("dpsynth", types.ModuleType("dpsynth")), (library.__name__, library)):
        monkeypatch.setitem(sys.modules, name, module)
    rows = np.array([[4, 0, 1], [3, 2, 0]])
    assert synthetic_worker.dpsynth({"mu": 0.4, "seed": 0, "sizes": [5, 3, 2]}, rows).tolist() == rows.tolist()
    assert spent == pytest.approx([0.08])


class Label:
    """As snsynth's: what it was shown decides its labels."""

    def __init__(self, nullable: bool) -> None:
        assert not nullable
        self.seen: set[int] = set()


class Transformer:
    def __init__(self, columns: list[Label]) -> None:
        self.columns = columns

    def fit(self, rows: list[tuple[int, ...]]) -> None:
        for row in rows:
            for column, value in zip(self.columns, row, strict=True):
                column.seen.add(value)


class Synthesizer:
    """As snsynth's AIM: a model that makes rows, their columns in its own order."""

    @property
    def synthesizer(self) -> Synthesizer:
        return self

    def synthetic_data(self, rows: int, method: str) -> Synthesizer:
        assert method == "sample"  # by rounding, columns come out sorted alike
        self.df = pd.DataFrame({"col2": [1] * rows, "col0": [3] * rows, "col1": [0] * rows})
        return self

    @staticmethod
    def create(kind: str, epsilon: float, delta: float) -> Synthesizer:
        assert (kind, epsilon, delta) == ("aim", 1.0, 1e-6)
        return Synthesizer()

    def fit(self, rows: np.ndarray, transformer: Transformer) -> None:
        assert [column.seen for column in transformer.columns] == [{0, 1, 2, 3, 4}, {0, 1, 2}, {0, 1}]


def test_smartnoise_is_told_the_declared_codes_and_its_columns_are_put_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library, transform = types.ModuleType("snsynth"), types.ModuleType("snsynth.transform")
    library.Synthesizer = Synthesizer  # type: ignore[attr-defined]
    transform.LabelTransformer, transform.TableTransformer = Label, Transformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "snsynth", library)
    monkeypatch.setitem(sys.modules, "snsynth.transform", transform)
    job = {"kind": "aim", "epsilon": 1.0, "delta": 1e-6, "sizes": [5, 3, 2]}
    made = synthetic_worker.smartnoise(job, np.array([[0, 0, 1], [1, 2, 0]]))
    assert made.tolist() == [[3, 0, 1], [3, 0, 1]]


def test_rows_of_one_class_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", types.ModuleType("lightgbm"))
    scores = synthetic_worker.trained({"ordered": [True], "seed": 0}, np.array([[1, 1], [2, 1]]), np.array([[1], [2]]))
    assert scores.tolist() == [0.0, 0.0]
