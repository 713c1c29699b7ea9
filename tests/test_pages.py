"""Every block of code of every page runs, and prints what the page shows."""

from __future__ import annotations

import socket
import warnings
from pathlib import Path

import pytest

from tests.habits import people
from tests.pages import ROOT, pages, run_page

SCHEMA_FILE = """
[label]
column = "sick"
classes = ["no", "yes"]
positive = "yes"

[columns.age]
kind = "numeric"
lower = 0
upper = 100
"""


def files_of_arriving_rows(folder: Path) -> None:
    """What the page has from elsewhere: two months of rows, and what is public about them."""
    (folder / "schema.toml").write_text(SCHEMA_FILE)
    for seed, month in enumerate(("january", "february")):
        frame, labels = people(300, seed)
        frame[["age"]].assign(sick=labels).to_csv(folder / f"{month}.csv", index=False)


def files_of_scale(folder: Path) -> None:
    """Rows in files of several parts, and a directory on another disk."""
    (folder / "rows.toml").write_text(SCHEMA_FILE)
    for place in ("rows", "big-disk"):
        (folder / place).mkdir()
    for seed in range(2):
        frame, labels = people(300, seed)
        frame[["age"]].assign(sick=labels).to_parquet(folder / "rows" / f"{seed}.parquet", index=False)


FILES = {
    "docs/arriving-rows.md": files_of_arriving_rows,
    "docs/online.md": files_of_arriving_rows,
    "docs/scale.md": files_of_scale,
}


@pytest.mark.parametrize("name", pages())
def test_the_page_runs_and_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    FILES.get(name, lambda folder: None)(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_page(ROOT / name, tmp_path)


def test_two_runs_of_a_page_do_not_share_a_port(tmp_path: Path) -> None:
    """A port that the page names may be taken: here it is."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        listen = "host, port = place.split(':')\nsocket.create_server((host, int(port))).close()"
        (tmp_path / "page.md").write_text(f"```python\nimport socket\n\nplace = '{place}'\n{listen}\n```\n")
        run_page(tmp_path / "page.md", tmp_path)


@pytest.mark.parametrize(
    ("block", "error"),
    [
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", AssertionError),
        ("```python\nmodel.fit(X, y)\n```\n", NameError),
        ("```sh\ntacit fit nothing.csv\n```\n", AssertionError),
        ("```toml\n[columns.debt]\nkind = 'number'\n```\n", ValueError),
        ("```\nmake everything\n```\n", AssertionError),
    ],
)
def test_a_block_that_does_not_run_fails(block: str, error: type[Exception], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(block)
    with pytest.raises(error):
        run_page(page, tmp_path)
