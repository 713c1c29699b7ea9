"""Every learner of the command line goes the whole way: fit, verify, predict, report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.cli.learners import LEARNERS, learner_class
from tacit.models.files import load_model
from tests.cli.conftest import Run


def options(learner: str) -> tuple[str, ...]:
    """Few trees, and the relation where draws from rows are analysed for a public number of them."""
    few = {"trees": 3, "forest": 5, "m-alpha": 2}.get(learner)
    relation = ("--neighbouring", "replace_one") if learner == "resampled" else ()
    return (*relation, *(() if few is None else ("--set", f"n_trees={few}")))


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_the_whole_way(folder: Path, tacit: Run, learner: str) -> None:
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--learner", learner, "--model", "m.json", *options(learner))
    fit += ("--report", "m.html")
    for command in (fit, ("verify", "m.json"), ("predict", "m.json", "data.csv", "-o", "p.csv"), ("report", "m.json")):
        tacit(*command, *(("--force",) if command[0] == "report" else ()), code=0)
    assert len(Path("p.csv").read_text().splitlines()) == 401
    assert "Internally consistent" in Path("m.html").read_text()


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_the_class_is_public(learner: str) -> None:
    import tacit as package

    used = learner_class(learner)
    assert issubclass(getattr(package, used().algorithm), used)


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_without_a_schema_bounds_are_found(folder: Path, tacit: Run, learner: str) -> None:
    rows = [f"{i % 50},{(i * 3) % 7},{int(i % 50 > 25)}" for i in range(600)]
    Path("numbers.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    finds = learner in ("additive", "trees")  # these ask first whether texts are numbers
    fit = ("fit", "numbers.csv", "--target", "y", "--learner", learner, "--model", "m.json", "--epsilon", "4")
    fit += options(learner)
    result = tacit(*fit)
    if not finds:
        assert result.exit_code == 2
        assert f"{learner} finds no classes" in result.words
        assert "Nothing was spent" in result.words
        result = tacit(*fit, "--classes", "0,1")
    assert result.exit_code == 0, result.output
    said = "found and paid for: 2 numeric; classes 0, 1" if finds else "all columns were read as numbers"
    assert said in result.words
    tacit("predict m.json numbers.csv -o p.csv", code=0)


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("m-alpha", ["alpha=0.1", "n_trees=2"]),
        ("m-alpha", ["alpha=calibrated", "criterion=gini", "max_depth=2"]),
        ("forest", ["mechanism=exponential", "n_trees=5"]),
    ],
)
def test_alpha_and_forests_are_on_the_command_line(folder: Path, tacit: Run, learner: str, settings: list[str]) -> None:
    """What was set reaches the fit; predictions are not all of one class."""
    fit = ("fit", "data.csv", "--schema", "schema.toml", "--learner", learner, "--epsilon", "20", "--random-state", "0")
    tacit(*fit, "--model", "m.json", *(part for setting in settings for part in ("--set", setting)), code=0)
    model, _ = load_model("m.json")
    if any(setting.startswith("alpha") for setting in settings):
        assert model.link.name == "m_alpha"
        assert model.link.alpha == (0.1 if "alpha=0.1" in settings else 1.0)
    else:
        assert model.link.name == ("logistic" if "mechanism=exponential" in settings else "share")
        assert len(model.trees) == 5
    tacit("predict m.json data.csv -o p.csv", code=0)
    assert {line.split(",")[0].strip('"') for line in Path("p.csv").read_text().splitlines()[1:]} == {"no", "yes"}
    tacit(
        *fit,
        "--model",
        "n.json",
        "--set",
        "alpha=2" if learner == "m-alpha" else "mechanism=none",
        code=2,
        says="Nothing was spent",
    )


RESAMPLED = ("fit", "data.csv", "--schema", "schema.toml", "--learner", "resampled", "--neighbouring", "replace_one")


def test_any_learner_is_boosted_by_its_short_name(folder: Path, tacit: Run) -> None:
    """The number of voters and a parameter of each are what was set."""
    settings = ["rounds=3", "base=m-alpha", "base__n_trees=1", "base__max_depth=2"]
    tacit(*RESAMPLED, "--epsilon", "20", "--model", "m.json", *(x for s in settings for x in ("--set", s)), code=0)
    model, certificate = load_model("m.json")
    assert [(len(voter.trees), voter.trees[0].shape.depth) for voter in model.members] == [(1, 2)] * 3
    assert certificate["algorithm"] == "ResampledBoostClassifier"
    assert certificate["neighbouring"] == "replace_one"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("base=resampled", "base=resampled is no learner that can be boosted; these are: additive, decision-list"),
        ("base=7", "base=7 is no learner that can be boosted"),
        ("base__epsilon=3", "epsilon has an option of its own"),
        ("base__nonsense=3", "this learner has no parameter 'nonsense'; it has: "),
        ("basis=trees", "did you mean base?"),
    ],
)
def test_a_base_that_is_none_spends_nothing(folder: Path, tacit: Run, setting: str, words: str) -> None:
    result = tacit(*RESAMPLED, "--model", "m.json", "--set", setting, code=2)
    said = result.words
    assert words in said
    assert "Nothing was spent" in said
    assert not Path("m.json").exists()
