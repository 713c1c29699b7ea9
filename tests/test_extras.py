"""What an optional package is for fails in one line where it is not installed, and says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in sys.argv[1].split(",") else find(name, *rest)
import tacit
from tacit.errors import TacitError
try:
    exec(sys.argv[2])
except TacitError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "extra", "code"),
    [
        ("opendp", "opendp", "tacit.options(noise='opendp').__enter__()"),
        ("msgpack", "sites", "tacit.join_sites"),
        ("msgpack", "sites", "tacit.serve_site"),
        ("websockets", "sites", "tacit.serve_site"),
        (
            "sqlglot",
            "sql",
            "from tacit.encoding.sql_sources import fault_of; fault_of('select 1', 'sqlite', lambda _: [])",
        ),
    ],
)
def test_a_missing_extra_is_one_line(package: str, extra: str, code: str) -> None:
    result = subprocess.run([sys.executable, "-c", WITHOUT, package, code], capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout == f"{package} is not installed: pip install 'tacit[{extra}]'. Nothing was spent.\n"


def test_a_fit_an_account_and_a_report_need_no_extra(tmp_path: object) -> None:
    code = f"""
from tacit.examples import hospital
X, y, schema = hospital(1000)
account = tacit.PrivacyAccount.create(r"{tmp_path}/budget.db", "stays", epsilon=1.0, delta=1e-6)
model = tacit.RandomTreesClassifier(epsilon=1.0, schema=schema, account=account).fit(X, y)
tacit.save(model, r"{tmp_path}/model.json")
from tacit.cli.main import app
app(["report", r"{tmp_path}/model.json"], standalone_mode=False)
"""
    absent = "opendp,msgpack,websockets,sqlglot,duckdb,distributed,psycopg,onnx,openpyxl,river"
    result = subprocess.run([sys.executable, "-c", WITHOUT, absent, code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "written" in result.stdout
