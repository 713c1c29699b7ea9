"""The benchmark of scale: its tables, its exponent, and that its engines fit the same model."""

from __future__ import annotations

import math

import pyarrow.parquet as pq
import pytest

from benchmarks import scale

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


def test_a_folder_holds_the_rows_it_is_named_after_in_whole_files(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "FILE_ROWS", 500)
    monkeypatch.setattr(scale, "CHUNK_ROWS", 200)
    folder = scale.generate(tmp_path, 1_100, 12)
    files = sorted(folder.glob("*.parquet"))
    assert [pq.read_metadata(file).num_rows for file in files] == [500, 500, 100]
    table = pq.read_table(folder)
    assert table.column_names == [*(f"x{j}" for j in range(12)), "y"]
    assert set(table["y"].to_pylist()) == {0, 1}
    assert scale.width(folder) == len(scale.schema(12)["columns"]) == 12


def test_a_folder_that_was_left_half_made_is_made_again(tmp_path):
    folder = scale.generate(tmp_path, 300, 11)
    (folder / "_done").unlink()
    (folder / "00000.parquet").write_bytes(b"half")
    assert pq.read_table(scale.generate(tmp_path, 300, 11)).num_rows == 300


@pytest.mark.parametrize("power", [0.5, 1.0, 1.3])
def test_the_exponent_is_that_of_the_seconds(power):
    results = {rows: 3.0 * rows**power for rows in (1_000, 10_000, 1_000_000)}
    assert scale.exponent(results) == pytest.approx(power)
    assert math.isnan(scale.exponent({1_000: 1.0}))


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(
    "engines",
    [("memory", "encoded", "streamed"), ("memory", "dask-2")],
    ids=" ".join,
)
@pytest.mark.slow
def test_private_engines_fit_the_same_model_to_the_same_files(tmp_path, engines):
    folder, directory = scale.generate(tmp_path, 3_000, 20), tmp_path / "codes"
    directory.mkdir()
    models = []
    for engine in engines:
        with scale.cluster(engine) as client:
            models.append(scale.fit(engine, folder, directory, 1.0, client).model_.to_dict())
    assert all(model == models[0] for model in models)
    assert not list(directory.iterdir())
