"""The small functions that draw."""

from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from tacit.privacy import accountants
from tacit.privacy.charges import ZCDP, BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Renyi, Repeated
from tacit.privacy.gaussian import range_of_gaussian
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Entry
from tacit.report import svg
from tacit.report.budget import stages
from tacit.report.class_drawing import class_curves
from tacit.report.draw_additive import Side, heat_map
from tacit.report.drawing import Drawing, Effect, bars, curve, weights, worth_naming
from tacit.report.places import factor


def release(label: Label | str, charge: Charge) -> Entry:
    return Entry(0, Label.of(label), charge, "a theorem")


def parsed(drawing: Drawing) -> ET.Element:
    return ET.fromstring(drawing.markup)


def test_a_step_has_the_height_of_its_value() -> None:
    drawing = curve("x", [0.0, 1.0, 2.0, 3.0], [Effect(0.0, 0, 10), Effect(1.0, 0, 10), Effect(2.0, 0, 10)], None, "i")
    [path] = [e for e in parsed(drawing).iter("path") if e.get("class") == "curve"]
    points = [tuple(map(float, p.split())) for p in (path.get("d") or "")[1:].split("L")]
    heights = [points[0][1], points[2][1], points[4][1]]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.02)
    assert heights[0] > heights[1] > heights[2]
    widths = [points[1][0] - points[0][0], points[5][0] - points[4][0]]
    assert widths[0] == pytest.approx(widths[1], abs=0.02)


def test_the_band_is_two_standard_deviations_each_way() -> None:
    drawing = curve("x", [0.0, 1.0, 2.0], [Effect(0.0, 0.25, 10), Effect(1.0, 0.25, 10)], None, "i")
    root = parsed(drawing)
    [band] = [e for e in root.iter("path") if e.get("class") == "band"]
    [line] = [e for e in root.iter("path") if e.get("class") == "curve"]
    ys = [float(p.split()[1]) for p in (line.get("d") or "")[1:].split("L")]
    edge = [float(p.split()[1]) for p in (band.get("d") or "")[1:-1].split("L")]
    unit = ys[0] - ys[2]
    assert ys[0] - edge[0] == pytest.approx(0.5 * unit, abs=0.03)


def test_bars_point_to_their_side_and_are_sorted() -> None:
    drawing = bars("x", ["down", "up"], [Effect(-1.0, 0.1, 10), Effect(1.0, 0.1, 10)], "i")
    marks = [e.get("class") for e in parsed(drawing).iter("rect")]
    assert marks == ["plus", "minus"]
    assert "Highest at up (odds 2.72 times as high), lowest at down (odds 2.72 times as low)." in drawing.caption


def test_categories_that_are_numbers_keep_their_order() -> None:
    drawing = bars("x", ["2", "10", "1", "missing"], [Effect(v, 0.1, 10) for v in (1.0, -1.0, 0.5, 2.0)], "i")
    names = [e.text for e in parsed(drawing).iter("text") if (e.get("class") or "").startswith("name")]
    assert names == ["1", "2", "10", "missing"]


def test_rows_at_one_value_show_in_the_strip() -> None:
    effects = [Effect(0.0, 0, 1000), Effect(0.0, 0, 900), Effect(0.0, 0, 10)]
    drawing = curve("x", [0.0, 0.001, 50.0, 100.0], effects, None, "i")
    heights = [float(e.get("height") or 0) for e in parsed(drawing).iter("rect") if e.get("class") == "support"]
    assert heights[0] == pytest.approx(26.0)


def test_a_weak_interaction_is_pale() -> None:
    pale = heat_map(Side("a", ("x",)), Side("b", ("y",)), [[Effect(0.01)]], "i")
    strong = heat_map(Side("a", ("x",)), Side("b", ("y",)), [[Effect(1.0)]], "i")
    opacity = [float(next(parsed(d).iter("rect")).get("fill-opacity") or 0) for d in (pale, strong)]
    assert opacity == [0.05, 1.0]


def test_many_categories_are_not_all_drawn_and_the_caption_says_so() -> None:
    names = [f"c{i}" for i in range(100)]
    drawing = bars("x", names, [Effect(0.01 * i, 0.1, 100 - i) for i in range(100)], "i")
    assert "14 of 100" in drawing.caption
    assert len(drawing.rows) == 100


@pytest.mark.parametrize(
    "drawing",
    [
        curve("flat", [0.0, 1.0], [Effect(0.0, 0.0, 0.0)], Effect(0.0), "i"),
        curve("huge", [-1e9, 0.0, 1e9], [Effect(38.0, 5.0, 1.0), Effect(-38.0, 5.0, 1.0)], None, "i"),
        bars("one", ["only"], [Effect(0.0)], "i"),
        heat_map(Side("a", ("x",)), Side("b", ("y",)), [[Effect(0.0)]], "i"),
        weights("zero", [("a", 0.0, 0.0)], "i"),
        weights("none", [], "i"),
    ],
    ids=lambda d: d.title,
)
def test_extreme_values_still_draw(drawing: Drawing) -> None:
    root = parsed(drawing)
    numbers = [
        v for e in root.iter() for k, v in e.attrib.items() if k in {"x", "y", "width", "height", "cx", "cy", "d"}
    ]
    assert not [v for v in numbers if "nan" in v or "inf" in v]


@pytest.mark.parametrize("reach", [0.05, 0.3, 1.0, 3.0, 8.0, 30.0])
def test_odds_ticks_stay_on_the_axis(reach: float) -> None:
    ticks = svg.odds_ticks(-reach, reach)
    assert 3 <= len(ticks) <= 5
    assert all(-reach <= value <= reach for value, _ in ticks)
    assert (0.0, "×1") in ticks


def test_numbers_are_short_and_odds_are_factors() -> None:
    for value, words in ((1200000, "1.2M"), (0.0123, "0.0123"), (1234, "1234"), (25000, "25k"), (0, "0")):
        assert svg.short(value) == words
    for log_odds, words in ((0.0, "×1"), (math.log(2), "×2.00"), (-math.log(4), "÷4.00"), (math.log(500), "×500")):
        assert factor(log_odds) == words


def test_a_skewed_column_gets_a_bent_axis_of_more_than_one_number() -> None:
    """As of fLength of the telescope's events: from 4.28 to 334, where 100 stood alone."""
    across, ticks = svg.bent_axis([0, 1, 10, 100, 1000, 100000], 0.0, 100.0)
    assert across(1000) - across(100) > 10
    assert ticks[0] == 0
    straight, _ = svg.bent_axis([0, 20, 40, 60, 80, 100], 0.0, 100.0)
    assert straight(50) == pytest.approx(50)
    _, ticks = svg.bent_axis([4.28, *(13.0 * 1.05**k for k in range(48)), 334.0], 0.0, 300.0)
    assert ticks == [20.0, 50.0, 100.0, 200.0]


@pytest.mark.parametrize("low", [-900_000.0, 1000.0])
def test_far_outliers_do_not_hide_the_bins(low: float) -> None:
    edges = [low, *(4200.0 + 5 * k for k in range(20)), 700_000.0]
    across, ticks = svg.bent_axis(edges, 0.0, 100.0)
    assert across(4290.0) - across(4210.0) > 50
    assert [across(edge) for edge in edges] == sorted(across(edge) for edge in edges)
    assert (across(edges[0]), across(edges[-1])) == (0.0, 100.0)
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize("above", range(1, 12))
def test_edges_that_floats_cannot_tell_apart_have_an_axis(above: int) -> None:
    edges = [1e16] * (12 - above) + [1e16 + 2] * above
    across, ticks = svg.bent_axis(edges, 0.0, 100.0)
    assert [across(edge) for edge in edges] == [0.0] * (12 - above) + [100.0] * above
    assert set(ticks) <= {1e16, 1e16 + 2}


def test_shares_of_gaussian_releases_are_shares_of_precision() -> None:
    trees = [release(Label(Stage.TREE, round=number), Gaussian(1.0)) for number in (1, 2)]
    result = stages([*trees, release("b", Gaussian(0.5))])
    assert [(s.name, s.releases) for s in result] == [("trees", 2), ("b", 1)]
    assert [s.share for s in result] == pytest.approx([2 / 6, 4 / 6])


def test_stages_of_no_noise_and_of_very_many() -> None:
    [one] = stages([release("x", NonPrivate())])
    assert one.share == 1.0
    [gathered] = stages([release(Label(Stage.ROUND, text="round #"), Repeated(Gaussian(1.0), 200))])
    assert (gathered.name, gathered.releases) == ("rounds of boosting", 200)
    mixed = [release("splits", BoundedRange(range_of_gaussian(1.0))), release("leaves", Gaussian(1.0))]
    assert [stage.share for stage in stages(mixed, [Gaussian(2**-0.5)])] == pytest.approx([0.5, 0.5])
    assert stages(mixed, [ZCDP(1.0)])[0].share < 0.45
    many = stages([release(name, BoundedRange(0.1)) for name in "abcdefghijklmnop"])
    assert len(many) == 9
    assert sum(s.share for s in many) == pytest.approx(1.0)
    assert sum(s.releases for s in many) == 16


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (-0.3, 0.3, [-0.2, 0.0, 0.2]),
        (1e16, 1e16 + 4, [1e16, 1e16 + 2, 1e16 + 4]),
        (1e17, 1e17 + 16, [1e17, 1e17 + 16]),
        (-1e16 - 4, -1e16, [-1e16 - 4, -1e16 - 2, -1e16]),
        (0.0, 4e-13, [0.0, 1e-13, 2e-13, 3e-13, 4e-13]),
    ],
)
def test_ticks_are_round_and_no_two_the_same(low: float, high: float, ticks: list[float]) -> None:
    assert svg.even_ticks(low, high) == ticks


def test_a_caption_names_what_stands_beside_a_spike() -> None:
    """Where one value holds nearly all rows, a hundredth of its rows would be more than any other place has."""
    supports = [30_000.0, *([100.0] * 40), 1.0]
    effects = [Effect(-0.2, 0.01, 30_000.0), *(Effect(0.05 * k, 0.2, 100.0) for k in range(40)), Effect(9.0, 5.0, 1.0)]
    assert 1.0 < worth_naming(supports) <= 100.0
    drawn = curve("gain", list(range(len(effects) + 1)), effects, None, "x")
    assert "Highest at 40 to 41" in drawn.caption
    assert worth_naming([100.0] * 50) == 1.0
    assert worth_naming([]) == 0.0


def test_a_caption_calls_the_bin_of_a_value_by_the_value() -> None:
    effects = [Effect(-0.2, 0.01, 1000.0), Effect(0.4, 0.1, 300.0), Effect(0.1, 0.1, 200.0)]
    drawn = curve("children", [0.0, 0.00018, 3.0, 6.0], effects, Effect(0.0, 0.1, 5.0), "i")
    assert drawn.caption == (
        "Highest at just over 0 to 3 (odds 1.49 times as high), lowest at 0 (odds 1.22 times as low)."
    )
    assert [row[0] for row in drawn.rows] == ["0", "just over 0 to 3", "3 to 6", "missing"]
    assert "e-04" not in drawn.markup


@pytest.mark.parametrize("high", [6.0, 12.0, 20.0, 87.0, 100.0, 995.0, 5200.0, 100_000.0, 1_250_000.0, 0.0001])
@pytest.mark.parametrize("bent", [False, True])
def test_no_number_of_an_axis_touches_another_or_the_word_missing(high: float, bent: bool) -> None:
    edges = [0.0, *(high * (k / 20) ** (8 if bent else 1) for k in range(1, 21))]
    effects = [Effect(0.1, 0.1, 10.0) for _ in edges]
    curves = curve("x", edges, effects[:-1], effects[-1], "i")
    classes = class_curves("x", edges, ["a", "b"], [effects, effects], "j")
    for drawing in (curves, classes):
        written = [e for e in parsed(drawing).iter("text") if (e.get("class") or "").startswith("tick")]
        [missing] = [e for e in written if e.text == "missing"]
        below = [extent(e) for e in written if e.get("y") == missing.get("y")]
        assert len(below) >= 3
        assert all(one[1] + 2 <= other[0] for one, other in pairwise(sorted(below)))


def extent(element: ET.Element) -> tuple[float, float]:
    """From where to where a word reaches, in a wide font."""
    size = 10 if "small" in (element.get("class") or "") else 11
    x, wide = float(element.get("x") or 0), svg.text_width(element.text or "") * size / 12
    left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor") or "start"]
    return (left, left + wide)


def test_a_name_without_room_loses_its_middle() -> None:
    name = "highest_completed_education_of_the_mother"
    assert svg.shortened(name, 1000.0) == name
    shown = svg.shortened(name, 200.0)
    start, end = shown.split("…")
    assert name.startswith(start)
    assert name.endswith(end)
    assert abs(len(start) - len(end)) <= 1
    assert 150.0 < svg.text_width(shown) <= 200.0
    assert svg.shortened(name, 0.0) == "…"


def test_a_list_s_budget_is_what_its_stages_cost() -> None:
    """A Renyi curve has no one size: beside Laplace noise its share is that of the epsilons."""
    entries = [
        release("rules", Renyi((1.1, 4.0, 16.0), (0.01, 0.5, 2.5))),
        release("rows that each rule decides", Laplace(1.25)),
    ]
    costs = [accountants.epsilon([entry.charge], 1e-6) for entry in entries]
    result = stages(entries, [entry.charge for entry in entries], 1e-6)
    assert [stage.share for stage in result] == pytest.approx([cost / sum(costs) for cost in costs])
    assert "choices" in result[0].how


OCCUPATIONS = {"rare": (0.6, 0.5, 30.0), "one": (0.283, 0.08, 800.0), "other": (-0.164, 0.039, 900.0)}
RATES = {"5": (-0.6, 0.05, 1968.0), "3": (0.8, 0.15, 741.0)}


@pytest.mark.parametrize(
    ("places", "says"),
    [
        ({"a": (-0.5, 0.2, 100.0), "b": (0.5, 0.2, 100.0)}, "Highest at b "),
        ({"a": (-0.5, 0.5, 100.0), "b": (0.5, 0.5, 100.0)}, "Nothing stands out from the noise."),
        # the highest and the lowest are of few rows, and others are clear
        (
            {**OCCUPATIONS, "lowest": (-0.2, 0.4, 40.0)},
            "Higher at one (odds 1.33 times as high) than at other (odds 1.18 times as low).",
        ),
        # no rating is missing: noise alone gives that place rows, and the longest bar
        ({**RATES, "missing": (1.2, 0.9, 33.2)}, "Highest at 3 "),
        ({**RATES, "missing": (1.2, 0.3, 33.2)}, "Highest at missing "),
    ],
)
def test_captions_name_what_stands_out_from_the_noise(places: dict[str, tuple[float, ...]], says: str) -> None:
    assert bars("x", list(places), [Effect(*each) for each in places.values()], "x0").caption.startswith(says)


def test_names_of_columns_make_no_stages() -> None:
    """A column may be called like a stage, and with a number; words alone are told apart by the words alone."""
    names = ["question 0", "question 10", "sweep 1", "tree 3, leaves"]
    sweeps = [release(Label(Stage.SWEEP, name, number), Gaussian(9.0)) for name in names for number in (1, 2)]
    looks = [release(Label(Stage.RESIDUALS, f"histogram of residuals, sweep {k}"), Gaussian(9.0)) for k in range(5)]
    words = [release("of my own 1", Gaussian(9.0)), release("of my own 2", Gaussian(9.0))]
    result = stages([*sweeps, *looks, *words])
    assert [(s.name, s.releases) for s in result] == [
        ("effects, column by column", 8),
        ("size of the errors", 5),
        ("of my own 1", 1),
        ("of my own 2", 1),
    ]
    assert sum(s.share for s in result) == pytest.approx(1.0)


def test_ranges_below_a_map_are_not_cut() -> None:
    labels = ("0.0131–0.164", "0.164–0.236", "0.236–0.296", "0.296–0.352", "0.352–0.418", "0.418–0.505", "0.505–0.627")
    drawn = heat_map(Side("a", ("x",)), Side("b", labels), [[Effect(0.1)] * 7], "i")
    words = [e.text for e in parsed(drawn).iter("text")]
    assert [word for word in words if word in labels] == [labels[0], labels[3], labels[6]]
    assert not any("…" in (word or "") for word in words)
