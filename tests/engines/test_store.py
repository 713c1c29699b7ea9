"""Rows on disk: what was written comes back, nobody else can read it, and what is damaged or full says so."""

from __future__ import annotations

import errno
import gc
import os
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.engines.store import (
    FIRST_SLAB,
    DamagedStoreError,
    DiskFullError,
    DiskWorkspace,
    Store,
    StoreWriter,
)
from tacit.whole_files import give_name, without_name

KINDS = [np.zeros(0, np.uint8), np.zeros(0, np.uint16), np.zeros((0, 3), np.int16)]


def some(rows: int, seed: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.integers(0, 200, (rows, *kind.shape[1:])).astype(kind.dtype) for kind in KINDS]


def written(path: Path, arrays: list[np.ndarray], cuts: list[int], block_rows: int) -> Path:
    with path.open("xb") as file, StoreWriter(file, KINDS, path.parent, block_rows) as writer:
        for low, high in pairwise([0, *cuts, len(arrays[0])]):
            writer.append([array[low:high] for array in arrays])
    return path


def opened(path: Path) -> Store:
    with path.open("r+b") as file:
        return Store(file, check=True)


@pytest.mark.parametrize("block_rows", [1, 7, 100, 1000])
@pytest.mark.parametrize("cuts", [[], [0, 3, 3, 50, 99], list(range(1, 100))])
def test_what_was_written_comes_back_in_blocks_of_one_size(tmp_path: Path, block_rows: int, cuts: list[int]) -> None:
    arrays = some(100)
    store = opened(written(tmp_path / "rows", arrays, cuts, block_rows))
    blocks = list(store.blocks())
    assert [len(block[0]) for block in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
    for place, array in enumerate(arrays):
        result = np.concatenate([block[place] for block in blocks])
        assert result.dtype == array.dtype
        np.testing.assert_array_equal(result, array)


def test_no_rows_are_one_empty_block(tmp_path: Path) -> None:
    [block] = opened(written(tmp_path / "rows", some(0), [], 8)).blocks()
    assert [array.shape for array in block] == [(0,), (0,), (0, 3)]


@pytest.mark.parametrize("named", [True, False])
def test_only_the_owner_can_read_it_and_a_name_is_taken_once(
    tmp_path: Path, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file system gives no name to a file without one, it is copied."""

    def no_names(*_: Any, **__: Any) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    if not named:  # neither by a link nor without a name from the beginning
        monkeypatch.setattr(os, "link", no_names)
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    before, path = os.umask(0), tmp_path / "rows"
    try:
        with without_name(tmp_path) as file:
            with StoreWriter(file, KINDS, tmp_path, 8) as writer:
                writer.append(some(10))
            assert list(tmp_path.iterdir()) == []  # whoever is killed here leaves nothing
            give_name(file, path)
            if named:
                give_name(file, path)
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    np.testing.assert_array_equal(next(opened(path).blocks())[0], some(10)[0][:8])


def test_a_flipped_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "rows", some(100), [], 40)
    whole = path.read_bytes()
    data = sum(array.nbytes for array in some(100))
    rows = np.random.default_rng(1).integers(0, data // 3, 20)  # padding lies between the arrays
    opened(path)
    noticed = 0
    for place in rows:
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        try:
            opened(path)
        except DamagedStoreError:
            noticed += 1
    assert noticed >= 10
    for cut in (whole[:-1], whole[:3], whole[: len(whole) // 2], b"", whole + b"x"):
        path.write_bytes(cut)
        with pytest.raises(DamagedStoreError):
            opened(path)


def test_a_file_without_its_end_is_none(tmp_path: Path) -> None:
    with (tmp_path / "rows").open("xb") as file:
        writer = StoreWriter(file, KINDS, tmp_path, 4)
        writer.append(some(9))
        writer.__exit__(RuntimeError, RuntimeError(), None)
    with pytest.raises(DamagedStoreError):
        opened(tmp_path / "rows")


def test_arrays_on_disk_are_zero_and_apart(tmp_path: Path) -> None:
    workspace = DiskWorkspace(tmp_path, 1)
    generator = np.random.default_rng(0)
    alive: list[tuple[np.ndarray, int]] = []
    for number in range(1, 200):
        shape: Any = (int(generator.integers(0, 3000)), 3) if number % 3 else int(generator.integers(0, 9000))
        made = workspace.zeros(shape, [np.uint8, np.int32, np.int8][number % 3])
        assert not made.any()
        assert np.shape(made) == (shape if isinstance(shape, tuple) else (shape,))
        made += number % 100 + 1
        alive.append((made[::-1], number % 100 + 1))  # a view keeps the room
        if len(alive) > 20:
            alive.pop(int(generator.integers(0, 20)))
        gc.collect(0)
    assert all((view == value).all() for view, value in alive)
    assert list(tmp_path.iterdir()) == []  # the files have no names


def test_room_that_is_given_back_is_taken_again(tmp_path: Path) -> None:
    workspace = DiskWorkspace(tmp_path, 1)
    for _ in range(50):
        kept = [workspace.zeros(FIRST_SLAB // 8, np.uint8) for _ in range(6)]
        del kept
    assert len(workspace._slabs) == 1


def test_a_full_disk_is_an_error_before_anything_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(DiskFullError, match=f"the disk of {tmp_path} is full: the rows need .* MiB more"):
        DiskWorkspace(tmp_path, 1).zeros(10, np.uint8)


def test_a_full_disk_stops_the_writer() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    writer = StoreWriter.__new__(StoreWriter)
    writer._place, writer._written, writer._file = Path("/dev"), 0, open("/dev/full", "wb", buffering=0)  # noqa: SIM115, PTH123
    with writer._file, pytest.raises(DiskFullError, match="the disk of /dev is full"):
        writer._write(b"rows")
