"""`tacit plan --margin`: figures with their source, as a table, as JSON, as a drawing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ASK = ("plan", "--margin", "0.3", "--dimension", "10", "--repeats", "1")


def test_errors_and_rows_are_told_with_their_source(folder: Path, tacit: Callable[..., Any]) -> None:
    done = tacit(*ASK, "--rows", "1000")
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    assert "simulation" in words
    assert "theorem" in words
    assert "no bound" in words
    assert "Nothing was spent" in words


def test_json_and_drawing(folder: Path, tacit: Callable[..., Any]) -> None:
    done = tacit(*ASK, "--error", "0.1", "--plot", "plan.svg", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert {figure["source"] for figure in told["figures"]} == {"theorem", "simulation"}
    tree = ET.fromstring(Path("plan.svg").read_text())
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    titles = [element.text or "" for element in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert sum("simulation" in title for title in titles) == len(told["figures"]) - 2


def test_a_drawing_without_a_power_of_ten(folder: Path, tacit: Callable[..., Any]) -> None:
    done = tacit(*ASK, "--rows", "500", "--plot", "plan.svg")
    assert done.exit_code == 0, done.output
    assert ET.fromstring(Path("plan.svg").read_text()).tag.endswith("svg")


def test_mistakes_end_with_code_two(folder: Path, tacit: Callable[..., Any]) -> None:
    for arguments in ((), ("--rows", "10", "--error", "0.1"), ("--rows", "0")):
        done = tacit(*ASK, *arguments)
        assert done.exit_code == 2, done.output
    done = tacit("plan", "--margin", "1.5", "--rows", "10")
    assert done.exit_code == 2
