"""The report that an officer files: what was stated, what was measured, in words, on a dozen pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli.main import app
from tacit.models.claims import claim_of_model
from tacit.models.halfspace import HalfspaceModel
from tacit.report.draw_rules import draw_halfspace
from tacit.report.drawing import NOTHING, Effect, bars, curve
from tacit.report.meta import Meta, filing
from tacit.report.page import render_claim
from tests import habits
from tests.export.models import halfspace

SCHEMA: dict[str, Any] = {
    "columns": {
        "patient_id": {"kind": "id"},
        **{f"n{k}": {"kind": "numeric", "lower": 0, "upper": 1} for k in range(14)},
        "pain": {"kind": "ordinal", "categories": ["none", "mild", "severe"]},
    },
    "label": {"column": "ill", "classes": ["no", "yes"]},
    "unit": {"column": "patient_id", "max_rows": 2, "name": "patient"},
}
SCORE = {
    "overall": {"auc": {"value": 0.74, "low": 0.71, "high": 0.77}, "threshold": 0.5},
    "subgroups": {"ward = a": {"auc": {"value": 0.7, "low": 0.6, "high": 0.8}}},
    "epsilon": 0.5,
    "delta": 1e-6,
}


@pytest.fixture(scope="module")
def fitted() -> tacit.AdditiveBoostClassifier:
    rng = np.random.default_rng(0)
    X: dict[str, Any] = {f"n{k}": rng.uniform(size=3000) for k in range(14)}
    X |= {"patient_id": np.arange(3000), "pain": rng.choice(["none", "mild", "severe"], 3000)}
    y = np.where(X["n0"] + (X["pain"] == "severe") > rng.uniform(0, 2, 3000), "yes", "no")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tacit.AdditiveBoostClassifier, "tuning", habits.FEW_ROUNDS)
        return tacit.AdditiveBoostClassifier(epsilon=2.0, schema=SCHEMA).fit(X, y)


@pytest.fixture(scope="module")
def model(fitted: tacit.AdditiveBoostClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filed") / "model.json"
    tacit.save(fitted, path)
    return path


def page_of(path: Path, **stated: Any) -> str:
    return render_claim(claim_of_model(json.loads(path.read_text())), papers=filing(**stated))


def test_the_command_says_who_and_what_for_and_how_well(model: Path, tmp_path: Path) -> None:
    (tmp_path / "card.toml").write_text('controller = "Hospital <A>"\ncontact = "dpo@example.org"\naccount_total = 3\n')
    (tmp_path / "score.json").write_text(json.dumps(SCORE))
    out = tmp_path / "report.html"
    papers = ["--meta", tmp_path / "card.toml", "--evaluation", tmp_path / "score.json"]
    result = CliRunner().invoke(
        app, [str(each) for each in ("report", model, "-o", out, *papers)], catch_exceptions=False
    )
    assert result.exit_code == 0
    text = out.read_text()
    assert re.search(r"<dt>controller</dt><dd>Hospital &lt;A&gt;</dd>.*<dt>account total</dt><dd>epsilon 3</dd>", text)
    assert "a release of its own, for epsilon 0.5, delta 1e-06" in text
    assert "<td>0.74 (0.71 to 0.77)</td><td>0.7 (0.6 to 0.8)</td>" in text
    assert "threshold" not in text.split('id="quality"')[1].split("</section>")[0]


def test_a_report_without_papers_has_no_empty_sections(model: Path) -> None:
    text = page_of(model, meta=Meta())
    assert 'id="stated"' not in text
    assert 'id="quality"' not in text
    assert page_of(model, meta=Meta(title="Beds <1>")).count("Beds &lt;1&gt;") == 2


def test_the_unit_is_called_as_the_schema_calls_it(model: Path) -> None:
    text = re.sub(r"<script.*?</script>", "", page_of(model, meta=Meta()), flags=re.DOTALL)
    assert "if any one patient had not been in the data" in text
    assert "Rows of one patient beyond 2 are dropped" in text
    assert "one patient_id" not in text
    assert text.count("patient_id") == 1  # by which column a patient's rows are known


def test_ordinal_values_keep_their_order_and_are_called_ordinal(
    model: Path, fitted: tacit.AdditiveBoostClassifier
) -> None:
    text = page_of(model, meta=Meta())
    drawn = text.split("<h3>pain</h3>")[1].split("</svg>")[0]
    for each in (drawn, fitted.plot("pain").to_svg(), fitted.plot()["pain"].to_svg()):
        places = [each.index(f">{value}</text>") for value in ("none", "mild", "severe", "other", "missing")]
        assert places == sorted(places)
    assert '<td class="kind">ordinal</td>' in text


def test_a_dozen_pages_hold_it_with_all_details_open(model: Path, visit: Any) -> None:
    page = visit(page_of(model, meta=Meta(), evaluation=SCORE)).page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    pages = len(re.findall(rb"/Type /Page\b", page.pdf(format="A4")))
    assert 4 <= pages <= 12
    page.emulate_media(media="print")
    printed = page.locator("figure:has(figcaption) details")
    captions = page.locator("figure:has(details) figcaption").all_inner_texts()
    shown = [text == NOTHING for text in captions]
    assert {True, False} == set(shown)
    assert [not each.is_visible() for each in printed.all()] == shown  # tables of noise are not printed


def test_noise_of_other_and_missing_does_not_set_the_scale() -> None:
    plain = [Effect(-0.5, 0.05, 900.0), Effect(0.5, 0.05, 900.0)]
    noise, clear = Effect(3.0, 4.0, 30.0), Effect(3.0, 0.5, 30.0)
    width = {}
    for name, last in (("noise", noise), ("clear", clear)):
        drawn = bars("c", ["a", "b", "missing"], [*plain, last], "x").markup
        lengths = {title: float(w) for w, title in re.findall(r'width="([\d.]+)"[^>]*><title>(\w+):', drawn)}
        width[name] = lengths["b"]
        assert ("faint" in drawn) == (name == "noise")
    assert width["noise"] > 2.5 * width["clear"]
    ticks = [
        set(re.findall(r"[×÷][\d.]+(?=</text>)", curve("c", [0, 1, 2], plain, e, "x").markup)) for e in (noise, clear)
    ]
    assert "×1.5" in ticks[0]
    assert "×10" in ticks[1]


def test_what_does_not_stand_out_is_not_in_the_overview(model: Path) -> None:
    text = page_of(model, meta=Meta())
    quiet = set(re.findall(r"<h3>(n\d+)</h3>(?:(?!</figure>).)*?" + NOTHING, text, re.DOTALL))
    overview = text.split("<h3>What matters most</h3>")[1].split("</svg>")[0]
    ranked = re.findall(r'class="name"[^>]*>(\w+)<', overview)
    assert quiet != set()
    assert ranked != []
    assert quiet.isdisjoint(ranked)


def test_whiskers_of_a_halfspace_are_in_the_units_of_its_bars() -> None:
    model: HalfspaceModel = halfspace(3, None, True)
    (drawing,) = draw_halfspace(model).drawings
    norm = model.encoder.clipper.norm
    noise = np.broadcast_to(4.0 * np.asarray(model.noise_sd) / norm, model.weights.shape)  # of slope 4
    assert {row[0]: float(row[2]) for row in drawing.rows} == pytest.approx(
        dict(zip(model.encoder.names, noise, strict=True)), abs=1e-4
    )
    weights = dict(model.coefficients())
    assert float(drawing.rows[0][1]) == pytest.approx(weights[drawing.rows[0][0]], abs=1e-4)
