"""What the accuracy page says of the peers that learn from synthetic rows."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import synthetic_page

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


def line(who: str, epsilon: float | None, auc: float | None, seed: int = 0, **more: Any) -> dict[str, Any]:
    figures = {"auc": auc, "log_loss": 0.5, "processor": 7.0} if auc is not None else {"failed": "longer"}
    return {"data": "magic", "who": who, "epsilon": epsilon, "seed": seed, "n": 1234, **figures, **more}


def lines() -> list[dict[str, Any]]:
    return [
        line("dpmm_mst", 1.0, 0.71),
        line("dpmm_mst", 4.0, None),
        line("binned_rows", None, 0.92),
        line("additive", 1.0, 0.5, version="old"),
        line("additive", 1.0, 0.81, version="new"),
        line("additive", 1.0, 0.1, seed=4, version="new"),  # a split that no synthetic peer has
        line("additive", 1.0, 0.1, protocol="s-bdt"),
        line("additive", 2.0, 0.1),
        {**line("additive", 1.0, 0.1), "data": "yeast"},  # a set that no synthetic peer has
    ]


def test_only_common_splits_count_and_the_newest_line_of_each() -> None:
    facts = synthetic_page.summary(lines(), [line("dp_ebm", 1.0, 0.75)])
    assert list(facts) == ["magic"]
    assert facts["magic"]["auc"]["1"] == {"dpmm_mst": 0.71, "binned_rows": 0.92, "additive": 0.81, "dp_ebm": 0.75}
    assert facts["magic"]["auc"]["4"] == {"dpmm_mst": "late", "binned_rows": 0.92}
    assert facts["magic"]["rows"] == 1234


def test_splits_are_averaged_and_sets_stand_by_size() -> None:
    more = [line("dpmm_mst", 1.0, 0.73, seed=1), {**line("dpmm_mst", 1.0, 0.6), "data": "abalone", "n": 99}]
    facts = synthetic_page.summary([*lines(), *more], [])
    assert list(facts) == ["abalone", "magic"]
    assert facts["magic"]["auc"]["1"]["dpmm_mst"] == 0.72


def test_the_section_shows_every_figure_and_what_was_ended() -> None:
    text = synthetic_page.section(synthetic_page.summary(lines(), []))
    rows = [row.split(" | ") for row in text.splitlines() if row.startswith("| magic")]
    assert len(rows) == len(synthetic_page.FIGURES)
    shown = dict(zip(synthetic_page.NAMES, rows[0][2:], strict=True))
    assert [shown[who] for who in ("dpmm_mst", "additive", "dp_ebm")] == ["0.710/late", "0.810/–", ""]
    assert shown["binned_rows"] == "0.920"
    assert "dpmm 0.1.9" in text
    assert "{" not in text
    assert "by over 0.01: none." in text


def test_the_section_names_the_peers_above_the_default() -> None:
    more = [line("dpsynth_swift", 1.0, 0.83), line("tab_pe", 1.0, 0.815), line("tab_pe", 4.0, 0.9)]
    text = synthetic_page.section(synthetic_page.summary([*lines(), *more], []))
    assert "by over 0.01: SWIFT on `magic` at 1. " in text
