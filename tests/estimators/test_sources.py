"""Fits to sources: the models of fits to tables, bit by bit, whatever the files and blocks; and what goes wrong."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
import tacit.curator.source_rows as source_rows
from tacit.additive.boost import AdditiveBoost
from tacit.additive.tuning import Tuning
from tacit.closure import FiniteClassClassifier, Thresholds
from tacit.encoding.errors import DataError
from tacit.engines.store import DirectoryError, DiskFullError, DiskWorkspace
from tacit.privacy.ledger import BudgetExceeded
from tacit.privacy.request import RequestError
from tests.golden.case import Seen
from tests.golden.tables import schema, table
from tests.pairwise import in_turn

ROWS = 3000

LEARNERS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "additive": (tacit.AdditiveBoostClassifier, "two", {}),
    "additive, three classes": (tacit.AdditiveBoostClassifier, "three", {}),
    "additive, ordered classes": (tacit.AdditiveBoostClassifier, "three", {"ordered": True}),
    "additive, number": (tacit.AdditiveBoostRegressor, "number", {}),
    "additive, balanced": (tacit.AdditiveBoostClassifier, "two", {"class_weight": "balanced"}),
    "additive, replace_one": (tacit.AdditiveBoostClassifier, "two", {"neighbouring": "replace_one"}),
    "trees": (tacit.BoostedTreesClassifier, "two", {}),
    "trees that choose": (tacit.BoostedTreesClassifier, "two", {"epsilon": 50.0, "n_trees": 3}),
    "m-alpha": (tacit.MAlphaBoostClassifier, "two", {"alpha": 0.5, "n_trees": 3}),
    "forest": (tacit.RandomTreesClassifier, "two", {"n_trees": 4}),
    "forest, exponential": (tacit.RandomTreesClassifier, "two", {"n_trees": 3, "mechanism": "exponential"}),
    "halfspaces, capped": (tacit.HalfspaceBoostClassifier, "two", {"measure": "lazy_bregman", "epsilon": 4.0}),
    "halfspaces, smooth": (tacit.HalfspaceBoostClassifier, "two", {"measure": "smooth", "row_norm": 1.5}),
    "halfspaces, stopping": (tacit.HalfspaceBoostClassifier, "two", {"measure": "smooth", "stop_density": 0.2}),
    "lists": (tacit.DecisionListClassifier, "two", {"k": 2}),
    "lists, paper": (tacit.DecisionListClassifier, "two", {"k": 1, "analysis": "paper"}),
}


def written(place: Path, kind: str, parts: int = 3) -> Path:
    """The table as Parquet files of uneven sizes."""
    rows = table(ROWS).X.assign(label=getattr(table(ROWS), kind))
    cuts = np.sort(np.random.default_rng(parts).integers(0, ROWS, parts - 1))
    place.mkdir(exist_ok=True)
    for number, part in enumerate(np.split(np.arange(ROWS), cuts)):
        rows.iloc[part].to_parquet(place / f"{number:02}.parquet", index=False)
    return place


def declared(kind: str) -> Any:
    """The schema of the golden net, with its label in the column that the files have."""
    made = schema(kind).to_dict()
    made["label"]["column"] = "label"
    return tacit.Schema.from_dict(made)


def made(name: str, **more: Any) -> Any:
    estimator, kind, asked = LEARNERS[name]
    return estimator(schema=declared(kind), random_state=1, **asked, **more)


def facts(fitted: Any) -> Any:
    return Seen.of(fitted)


def in_memory(name: str) -> Any:
    """The fit that all others of as many rounds are held against: one for all of them."""
    return _in_memory(name, AdditiveBoost.tuning)


@cache
def _in_memory(name: str, tuning: Tuning) -> Any:
    kind = LEARNERS[name][1]
    return made(name).fit(table(ROWS).X, getattr(table(ROWS), kind))


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.usefixtures("few_rounds_always")
@pytest.mark.parametrize(("name", "parts"), in_turn(list(LEARNERS), [(1,), (3,), (17,)]))
def test_a_streamed_fit_is_the_fit_in_memory(
    name: str, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = facts(in_memory(name))
    folder = written(tmp_path / "rows", LEARNERS[name][1], parts)
    monkeypatch.setattr(source_rows, "BLOCK_ROWS", 611)
    assert facts(made(name).fit(tacit.read_source(folder, directory=tmp_path / "files"))) == expected
    assert list((tmp_path / "files").iterdir()) == []


@pytest.mark.parametrize(("parts", "block_rows"), [(17, 1), (1, 200), (17, 200), (1, 1 << 20)])
def test_partitions_and_blocks_change_no_bit(
    parts: int, block_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_rows, "BLOCK_ROWS", block_rows)
    for name in ("additive", "halfspaces, capped"):
        folder, engine = written(tmp_path / "rows", "two", parts), "streamed" if block_rows > 1 else "memory"
        source = tacit.read_source(folder, directory=tmp_path, engine=engine)
        assert facts(made(name).fit(source)) == facts(in_memory(name))


def test_what_is_left_on_the_estimator_is_what_a_table_leaves(tmp_path: Path) -> None:
    fitted = made("additive").fit(tacit.read_source(written(tmp_path, "two")))
    rows = table(ROWS).X
    usual = in_memory("additive")
    assert fitted.n_features_in_ == usual.n_features_in_ == 5
    assert fitted.feature_names_in_.tolist() == usual.feature_names_in_.tolist()
    np.testing.assert_array_equal(fitted.predict_proba(rows), usual.predict_proba(rows))
    assert fitted.summary_ == usual.summary_
    assert fitted.certificate_.verify() == []


# Files that stay.


def kept(place: Path) -> list[Path]:
    return sorted(place.glob("*.rows"))


def test_kept_rows_are_read_again_and_not_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, place = written(tmp_path / "rows", "two"), tmp_path / "kept"
    expected = facts(made("additive").fit(tacit.read_source(folder, directory=place, keep=True)))
    [file] = kept(place)
    assert file.stat().st_mode & 0o777 == 0o600
    assert place.stat().st_mode & 0o777 == 0o700

    def unread(*_: Any) -> Any:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(source_rows.DeclaredSource, "chunks", unread)
        again = made("additive").fit(tacit.read_source(folder, directory=place, keep=True))
    assert facts(again) == expected
    damaged = bytearray(file.read_bytes())
    damaged[100] ^= 255
    file.write_bytes(damaged)
    assert facts(made("additive").fit(tacit.read_source(folder, directory=place, keep=True))) == expected
    assert kept(place) == [file]
    assert file.read_bytes() != bytes(damaged)


def test_kept_rows_of_a_source_that_changed_or_of_another_version_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, place = written(tmp_path / "rows", "two"), tmp_path / "kept"
    made("trees").fit(tacit.read_source(folder, directory=place, keep=True))
    before = (folder / "01.parquet").stat()
    (folder / "01.parquet").write_bytes((folder / "01.parquet").read_bytes())
    os.utime(folder / "01.parquet", ns=(before.st_atime_ns, before.st_mtime_ns))  # as a script that sets times back
    made("trees").fit(tacit.read_source(folder, directory=place, keep=True))
    assert len(kept(place)) == 2
    monkeypatch.setattr(source_rows, "library_version", lambda: "of another year")
    made("trees").fit(tacit.read_source(folder, directory=place, keep=True))
    assert len(kept(place)) == 3


def test_two_fits_on_one_directory_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins, and ends, while the first is reading; both keep their rows."""
    folder, place = written(tmp_path / "rows", "two"), tmp_path / "kept"
    source = tacit.read_source(folder, directory=place, keep=True)
    chunks, inner = source_rows.DeclaredSource.chunks, []

    def chunks_and_a_fit(self: Any, *more: Any) -> Any:
        yield from chunks(self, *more)
        if not inner:
            inner.append(None)
            inner[0] = facts(made("trees").fit(source))

    monkeypatch.setattr(source_rows.DeclaredSource, "chunks", chunks_and_a_fit)
    outer = facts(made("trees").fit(source))
    assert outer == inner[0] == facts(in_memory("trees"))
    assert len(kept(place)) == 1


KILLED = """
import itertools, os, signal, sys
import tacit
from tacit.engines.store import StoreWriter
from tests.estimators.test_sources import made
finish = StoreWriter._finish
def killed(self):
    if after:
        finish(self)
    else:
        self._flush()
    self._file.flush()
    assert os.fstat(self._file.fileno()).st_size > 1000
    os.kill(os.getpid(), signal.SIGKILL)
StoreWriter._finish = killed
for after, keep in itertools.product((False, True), repeat=2):
    child = os.fork()
    if not child:
        made("trees").fit(tacit.read_source(sys.argv[1], directory=sys.argv[2], keep=keep))
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert os.listdir(sys.argv[2]) == []
"""


def test_a_killed_fit_leaves_no_rows(tmp_path: Path) -> None:
    """Killed before or after its last write, with or without the wish to keep the codes."""
    folder, place, root = written(tmp_path / "rows", "two"), tmp_path / "codes", Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    subprocess.run([sys.executable, "-c", KILLED, folder, place], env={**os.environ, "PYTHONPATH": path}, check=True)


# What goes wrong, and what it costs.


def refused(message: str, estimator: Any, source: Any, *more: Any, **named: Any) -> None:
    with pytest.raises((RequestError, DataError), match=message) as failed:
        estimator.fit(source, *more, **named)
    assert not getattr(failed.value, "spent", False)


def test_what_is_public_and_wrong_is_refused_before_a_row_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    source = tacit.read_source(written(tmp_path, "two"))

    def unread(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(source_rows.DeclaredSource, "chunks", unread)
    refused("needs a schema", tacit.AdditiveBoostClassifier(), source)
    bare = declared("two").to_dict()
    del bare["label"]
    refused(r"a schema with a \[label\]", tacit.AdditiveBoostClassifier(schema=tacit.Schema.from_dict(bare)), source)
    refused("leave y out", made("additive"), source, [1, 0])
    refused("no weights", made("additive"), source, sample_weight=np.ones(ROWS))
    refused("learns from tables in memory", FiniteClassClassifier(Thresholds("a"), schema=declared("two")), source)
    unit = {**declared("two").to_dict(), "unit": {"column": "who", "max_rows": 2}}
    refused(
        "declares a unit, and rows that are read in chunks",
        tacit.AdditiveBoostClassifier(schema=tacit.Schema.from_dict(unit)),
        source,
    )
    refused("has no column 'e'", made("additive"), tacit.read_source(_without_e(tmp_path / "other")))


def _without_e(place: Path) -> Path:
    place.mkdir()
    table(100).X.drop(columns=["e"]).assign(label=0).to_parquet(place / "rows.parquet")
    return place


def account(place: Path) -> Any:
    return tacit.PrivacyAccount.create(f"sqlite:///{place / 'account.db'}", "people", epsilon=5.0, delta=1e-4)


def test_a_broken_file_costs_nothing(tmp_path: Path) -> None:
    for number in range(3):
        table(500 + number).X.assign(label=table(500 + number).two).to_csv(tmp_path / f"{number}.csv", index=False)
    with (tmp_path / "2.csv").open("a") as file:
        file.write("1,2\n")
    payer = account(tmp_path)
    before = payer.remaining
    source = tacit.read_source(str(tmp_path / "*.csv"))
    refused("2.csv has a row with 2 cells", made("additive", account=payer), source)
    assert payer.remaining == before


def test_a_full_disk_costs_nothing_before_the_charge_and_says_so_after_it(tmp_path: Path, monkeypatch: Any) -> None:
    source = tacit.read_source(written(tmp_path / "rows", "two"), directory=tmp_path)
    payer = account(tmp_path)
    before = payer.remaining

    def full(*_: Any) -> Any:
        raise DiskFullError.of(tmp_path, 1 << 22)

    def full_place(writer: Any, *_: Any) -> Any:
        raise DiskFullError.of(writer._place, 1 << 22)

    with monkeypatch.context() as patch:
        patch.setattr(source_rows.StoreWriter, "_write", full_place)
        with pytest.raises(DiskFullError, match=f"disk of {tmp_path} is full.*4 MiB more.*Nothing was spent"):
            made("additive", account=payer).fit(source)
    assert payer.remaining == before
    monkeypatch.setattr(DiskWorkspace, "zeros", full)
    with pytest.raises(DiskFullError, match=r"4 MiB more.*The charge stands") as failed:
        made("additive", account=payer).fit(source)
    assert failed.value.spent
    assert payer.remaining < before
    assert [file.name for file in tmp_path.glob(".tacit-*")] == []


def test_rows_that_change_after_the_charge_are_noticed(tmp_path: Path, monkeypatch: Any) -> None:
    """Halfspaces read the source again, under the length that they found."""
    folder = written(tmp_path / "rows", "two")
    estimator, seen = made("halfspaces, capped"), source_rows.PreparedSource.rows

    def later(self: Any, *more: Any) -> Any:
        os.utime(folder / "00.parquet", ns=(7, 7))
        return seen(self, *more)

    monkeypatch.setattr(source_rows.PreparedSource, "rows", later)
    with pytest.raises(DataError, match="changed since this fit began"):
        estimator.fit(tacit.read_source(folder))


def test_a_source_without_rows_is_learned_from(tmp_path: Path) -> None:
    rows = table(ROWS).X.iloc[:0].assign(label=table(ROWS).two[:0])
    rows.to_parquet(tmp_path / "none.parquet")
    streamed = made("additive").fit(tacit.read_source(tmp_path / "none.parquet"))
    assert facts(streamed) == facts(made("additive").fit(rows.drop(columns=["label"]), rows["label"]))


def test_an_account_that_cannot_pay_is_refused_before_the_source_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    payer = account(tmp_path)
    source = tacit.read_source(written(tmp_path / "rows", "two"))
    monkeypatch.setattr(source_rows.PreparedSource, "encoded", lambda *_: pytest.fail("the source was read"))
    too_much = made("additive", account=payer).set_params(epsilon=100.0)
    with pytest.raises(BudgetExceeded, match="nothing was spent or read"):
        too_much.fit(source)
    other = made("additive", account=payer).set_params(neighbouring="replace_one")
    with pytest.raises(ValueError, match="one ledger has one relation"):
        other.fit(source)


def test_a_directory_that_cannot_be_used_is_no_full_disk(tmp_path: Path, monkeypatch: Any) -> None:
    file = tmp_path / "file"
    file.write_text("")
    source = tacit.read_source(written(tmp_path / "rows", "two"), directory=file / "below", engine="streamed")
    with pytest.raises(DirectoryError, match=r"cannot be used for files: Not a directory.*Nothing was spent"):
        made("additive").fit(source)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = tacit.read_source(written(tmp_path / "rows", "two"), directory=tmp_path / "new", engine="streamed")
    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(DiskFullError, match="is full"):
        made("additive").fit(source)
