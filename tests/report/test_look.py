"""What Python and notebooks show of a fit: figures, cards, explanations, the page, and short texts."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tacit
from tacit.display import MOST_CHARACTERS
from tacit.examples import hospital
from tacit.models.files import kinds
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.report.explanation import INTERCEPT
from tacit.report.figures import Figure, Figures
from tacit.report.model_card import ModelCard
from tests import habits
from tests.models.test_mutated_files import ROWS, models
from tests.models.test_terms import with_pair

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def fitted() -> Iterator[Any]:
    """The hospital, learned in few rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tacit.AdditiveBoostClassifier, "tuning", habits.FEW_ROUNDS)
        X, y, schema = hospital(6000)
        yield tacit.AdditiveBoostClassifier(epsilon=2.0, schema=schema, interactions="pairs").fit(X, y)


class Balanced(HTMLParser):
    """Raises for elements that are not closed in their order."""

    VOID = frozenset({"meta", "link", "br", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements(html: str) -> set[str]:
    """The elements of a fragment, which is well formed and loads nothing."""
    read = Balanced()
    read.feed(html)
    assert read.open == []
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "https://" not in html
    assert not read.seen & {"script", "link", "img"}
    return read.seen


def test_one_term_and_all_of_them_are_drawn(fitted: Any) -> None:
    age, every = fitted.plot("age"), fitted.plot()
    assert age.title == "age"
    assert {"svg", "figure", "details"} <= elements(age._repr_html_())
    titles = [figure.title for figure in every]
    assert titles[0] == "What matters most"
    assert set(fitted.schema_.features) <= set(titles)
    assert len(every) == len(titles)
    assert elements(every._repr_html_()) >= {"svg"}
    assert fitted.model_.plot("age").to_svg() == age.to_svg()
    assert with_pair(fitted.model_).plot("admitted x age").drawing.kind == "map"


def test_a_term_that_is_not_there_is_named_with_those_that_are(fitted: Any) -> None:
    with pytest.raises(RequestError, match=r"no drawing of 'agee'; did you mean 'age'\?"):
        fitted.plot("agee")


def test_a_figure_is_a_whole_svg(fitted: Any, tmp_path: Path) -> None:
    for figure in fitted.plot():
        root = ET.fromstring(figure.to_svg())
        assert root.tag == f"{SVG}svg"
        assert figure.title in [element.text for element in root.iter(f"{SVG}text")]
        assert root.find(f"{SVG}style") is not None
    fitted.plot("age").save(tmp_path / "age.svg")
    assert (tmp_path / "age.svg").read_text() == fitted.plot("age").to_svg()
    fitted.plot("age").save(tmp_path / "age.html")
    fitted.plot().save(tmp_path / "all.html")
    assert (tmp_path / "all.html").read_text().count("<figure") == len(fitted.plot())
    for figure, name in ((fitted.plot("age"), "age.png"), (fitted.plot(), "all.svg")):
        with pytest.raises(RequestError, match=r"\.svg"):
            figure.save(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_names_in_a_figure_are_escaped(sample_card: ModelCard) -> None:
    figures = Figures("<b>bold</b>", "&", tuple(Figure(drawing) for drawing in sample_card.drawings))
    assert "b" not in elements(figures.html())
    for figure in figures:
        ET.fromstring(figure.to_svg())


def test_styles_and_identifiers_stay_inside(fitted: Any) -> None:
    """A notebook has drawings of others, and several of ours."""
    html = fitted.plot("age")._repr_html_()
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)[0]
    rules = re.sub(r"@media[^{]*\{\s*", "", style)
    selectors = [each.strip() for rule in re.findall(r"([^{}]+)\{", rules) for each in rule.split(",")]
    assert len(selectors) > 40
    assert [each for each in selectors if ".tacit" not in each] == []
    identifiers = re.findall(r' id="([^"]+)"', fitted.plot().html())
    assert len(identifiers) == len(set(identifiers)) == 2 * len(fitted.plot())
    assert not set(re.findall(r' id="([^"]+)"', fitted.plot("age")._repr_html_())) - set(identifiers)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_model_is_shown_briefly_and_its_figures_are_specifications(kind: str) -> None:
    altair = pytest.importorskip("altair")
    model = models()[kind]
    own = [each for each in inside(model) if type(each).__module__.startswith("tacit")]
    assert [type(each) for each in own if len(repr(each)) > MOST_CHARACTERS] == []
    assert "style" in elements(model._repr_html_())
    for figure in model.plot():
        if not figure.drawing.points:
            with pytest.raises(RequestError, match="drawing of rules"):
                figure.to_vega_lite()
            continue
        specification = figure.to_vega_lite()
        assert json.loads(json.dumps(specification, allow_nan=False)) == specification
        altair.Chart.from_dict(specification)  # raises for what is no Vega-Lite
        values = specification["data"]["values"]
        assert len(values) == len(figure.drawing.points)
        assert all(point["low"] <= point["effect"] <= point["high"] for point in values if "low" in point)


def test_a_specification_has_the_numbers_of_the_model(fitted: Any) -> None:
    model = fitted.model_
    [main] = [main for main in model.mains if model.features[main.feature].name == "age"]
    points = fitted.plot("age").to_vega_lite()["data"]["values"]
    np.testing.assert_allclose([point["effect"] for point in points], main.effect)
    np.testing.assert_allclose([point["sd"] for point in points], main.sd)
    edges = model.features[main.feature].edges()
    assert [point["from"] for point in points[:-1]] == edges[:-1].tolist()
    assert "from" not in points[-1]
    assert points[-1]["value"] == "missing"


def test_cards_say_what_matters(fitted: Any, tmp_path: Path) -> None:
    promise = fitted.certificate_
    html = promise._repr_html_()
    assert elements(html) >= {"table", "h3"}
    for words in (
        "epsilon",
        "one patient, at most 3 rows",
        "any one patient had not been",
        promise.model_digest,
        "Internally consistent",
    ):
        assert words in html
    forged = Certificate.from_dict({**promise.to_dict(), "epsilon": 0.5})
    assert "Does not hold" in forged._repr_html_()
    columns = fitted.schema_._repr_html_()
    assert "code of the ward" in columns
    assert elements(columns)
    account = tacit.PrivacyAccount.create(str(tmp_path / "b.db"), "<ward>", 3.0, 1e-5)
    X, y, schema = hospital(500)
    tacit.RandomTreesClassifier(epsilon=1.0, schema=schema, account=account).fit(X, y)
    assert "&lt;ward&gt;" in account._repr_html_()
    assert "completed" in account._repr_html_()
    score = tacit.private_score(fitted, X, y, epsilon=1.0, subgroups="sex")
    assert elements(score._repr_html_()) >= {"table"}
    assert "auc" in score._repr_html_()
    with Reservation([Gaussian(4.0)], Neighbouring.ADD_OR_REMOVE_ONE, "a fit") as ledger:
        ledger.record(Gaussian(60.0), "number of rows", "one row, one cell")
    assert "number of rows" in ledger._repr_html_()
    assert elements(ledger._repr_html_())


def inside(thing: Any, depth: int = 4) -> Iterator[Any]:
    """An object and what its attributes hold."""
    yield thing
    parts = thing if isinstance(thing, tuple | list) else list(getattr(thing, "__dict__", {}).values())
    for part in parts[:6] if depth else []:
        if type(part).__module__.startswith("tacit") or isinstance(part, tuple | list):
            yield from inside(part, depth - 1)


def test_texts_of_a_fit_are_short(fitted: Any) -> None:
    things = [
        fitted,
        fitted.model_,
        fitted.certificate_,
        fitted.schema_,
        fitted.summary_,
        fitted.plot(),
        fitted.report(),
    ]
    things += [fitted.plot("age"), fitted.explain({name: column[:2] for name, column in hospital(9)[0].items()})]
    many = {"kind": "categorical", "categories": [f"C{place}" for place in range(5000)]}
    things.append(tacit.Schema.from_dict({"columns": {f"x{place}": many for place in range(50)}}))
    assert [(type(each), len(repr(each))) for each in things if len(repr(each)) > MOST_CHARACTERS] == []


def test_the_report_is_text_and_a_file(fitted: Any, tmp_path: Path) -> None:
    page = fitted.report(tmp_path / "page.html", title="Hospital & more")
    assert (tmp_path / "page.html").read_text() == page
    assert "<h1>Hospital &amp; more</h1>" in page
    assert "code of the ward" in page
    assert elements(page._repr_html_()) == {"iframe"}


def test_explanations_are_tables_that_add_up(fitted: Any) -> None:
    X = {name: column[:3] for name, column in hospital(3)[0].items()}
    explained = fitted.explain(X)
    table = explained.to_dict()
    assert list(table) == ["row", "outcome", "term", "value", "contribution", "sd"]
    sums = np.bincount(table["row"], table["contribution"])
    np.testing.assert_allclose(1 / (1 + np.exp(-sums)), fitted.predict_proba(X)[:, 1], rtol=1e-9)
    shown = {row.term: row for row in explained.rows() if row.row == 1}
    assert shown["age"].value == str(X["age"][1])
    assert shown["ward"].value == X["ward"][1]
    assert shown["age"].sd > 0
    assert shown[INTERCEPT].value == ""
    both = {row.term: row.value for row in with_pair(fitted.model_).explain(X).rows() if row.row == 1}
    assert both["admitted x age"] == f"{shown['admitted'].value}, {shown['age'].value}"
    assert elements(explained._repr_html_()) >= {"table", "i"}
    assert "Row 2: " in str(explained)


@pytest.mark.parametrize(
    "kind", ["additive_classes", "additive_regression", "halfspace", "recalibrated", "tree_ensemble"]
)
def test_explanations_say_what_noise_leaves_open(kind: str) -> None:
    explained = models()[kind].explain(ROWS)
    words = {"additive_classes": "noise in its log-odds", "recalibrated": "is not known"}.get(
        kind, "deviations of the noise)"
    )
    assert words in explained.says(0)
    assert "missing" in [row.value for row in explained.rows() if row.row == 4]
    strongest = [abs(row.contribution) for row in explained.strongest(0)[1:]]
    assert strongest == sorted(strongest, reverse=True)
    assert elements(explained._repr_html_())


def test_lines_of_noise_end_inside_their_cells_and_in_scale(fitted: Any) -> None:
    explained = fitted.explain({name: column[:20] for name, column in hospital(20)[0].items()})
    spans = [
        (float(left), float(width))
        for left, width in re.findall(r'<u style="left:(.*?)%;width:(.*?)%"', explained._repr_html_())
    ]
    sds = [each.sd for row in range(20) for each in explained.strongest(row)[1:]]
    assert len(spans) == len(sds)
    assert min(left for left, _ in spans) >= 2.0 - 0.05
    assert max(left + width for left, width in spans) <= 98.0 + 0.1
    np.testing.assert_allclose([width for _, width in spans] / np.array(sds), spans[0][1] / sds[0], rtol=0.05)


def test_open_ends_are_two_deviations_of_the_score() -> None:
    model = models()["additive"]
    explained = model.explain(ROWS)
    score, sd = model.decision_function(ROWS)[0], np.sqrt(model.score_variance(ROWS)[0])  # type: ignore[attr-defined]
    low, high = (100 / (1 + np.exp(-(score + side * 2 * sd))) for side in (-1, 1))
    assert f"({low:.1f} to {high:.1f} % within two" in explained.says(0)


def test_an_explanation_on_disk_is_its_owners_alone(fitted: Any, tmp_path: Path) -> None:
    """It holds values of rows."""
    path = tmp_path / "explained.html"
    fitted.explain({name: column[:1] for name, column in hospital(1)[0].items()}).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "Row 0" in path.read_text()


def test_explanations_take_any_table_and_escape_it(fitted: Any) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X = {name: column[:4] for name, column in hospital(4)[0].items()}
    X["ward"] = np.array(["<b>", None, "02", "03"], object)
    told = [fitted.explain(table).rows() for table in (X, pd.DataFrame(X), pl.DataFrame(X), pa.table(X))]
    wards = [[row.value for row in rows if row.term == "ward"] for rows in told]
    assert wards == [["<b>", "missing", "02", "03"]] * 4
    assert "&lt;b&gt;" in fitted.explain(X)._repr_html_()


def test_nothing_is_shown_before_a_fit() -> None:
    from sklearn.exceptions import NotFittedError

    learner = tacit.AdditiveBoostClassifier()
    for shown in (learner.plot, learner.report, lambda: learner.explain({"x": [1.0]})):
        with pytest.raises(NotFittedError):
            shown()
