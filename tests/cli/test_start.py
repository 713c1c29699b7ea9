"""What a command loads: on a small table, loading takes longer than learning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SLOW = ("sklearn", "pandas", "scipy.stats", "scipy.optimize", "dp_accounting", "sqlalchemy", "pyarrow.parquet")

SCRIPT = f"""
import sys
from tacit.cli.main import app
try:
    app()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in {SLOW!r} if name in sys.modules])
"""


def test_a_fit_from_a_csv_file_waits_for_nothing_it_does_not_use(folder: Path) -> None:
    fit = ["fit", "data.csv", "--schema", "schema.toml", "--model", "m.json", "--report", "m.html"]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *fit], capture_output=True, text=True, cwd=folder, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
