"""What the page on parts says follows from fits with and without them."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from tools.ablation import PARTS, SOURCE, page
from tools.real_tables import RULE, WHOLE_BINS, rules, tuned


@pytest.mark.parametrize("name", PARTS)
def test_every_part_can_be_taken_out(name: str) -> None:
    part = PARTS[name]
    assert part.without == WHOLE_BINS or tuned(part.without) != tuned(RULE)
    assert all((SOURCE / file).exists() for file in part.files)


def test_what_is_lost_without_a_part_stands_in_its_row() -> None:
    earns = next(iter(PARTS))
    values = [*rules(2), *(part.without for part in PARTS.values())]
    lines = [
        {
            "study": study,
            "data": study,
            "seed": 0,
            "epsilon": 1.0,
            "q": q,
            "value": value,
            "seconds": 3.0 if value == PARTS[earns].without else 2.0,
            "auc": 0.7 - (study * 0.001 + 0.01) * (value == PARTS[earns].without),
        }
        for study, q, value in product(range(4), (1.0, 50.0, 200.0, 900.0), values)
    ]
    _, _, first, *others = page(pd.DataFrame(lines), "auc")
    assert first.startswith(f"| {earns} | **-0.0115** \u00b1 0.0006 |")
    assert "| 1.50 |" in first
    assert all(row.split("|")[2:6] == ["  "] * 4 for row in others)
