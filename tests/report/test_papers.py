"""Papers about a model: an entry of the registry, a bill of materials, a dossier and an answer about erasure."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import tacit
from tacit.examples import hospital
from tacit.models.binding import ClaimError
from tacit.privacy.assumptions import EDIT, Assumption
from tacit.privacy.canonical import sha256
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.signatures import new_key, read_private_key, read_public_key, signature
from tacit.report.dossier import dossier, html, missing
from tacit.report.erasure import erasure_problems, erasure_statement, guess, letter, refit_after
from tacit.report.meta import KEYS, Meta
from tacit.report.ml_bom import ml_bom
from tacit.report.page import limits
from tacit.report.paperwork import PaperError, json_text, metrics, read_paperwork
from tacit.report.registry_entry import hub_card, registry_entry, yaml_text
from tests.privacy.test_signatures import certificate

TEXT, TEXTS = {"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}


def part(optional=(), **properties):
    required = [name for name in properties if name not in optional]
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


ENTRY = part(
    url_slug={"type": "string", "pattern": r"^[\w-]+$"},
    status={"enum": ["Draft"]},
    tier={"enum": [3]},
    deployment=part(
        basic=part(
            ("data_product_sector",), name=TEXT, data_curators=TEXTS, description=TEXT, intended_use=TEXT,
            data_product_type={"enum": ["Machine learning model"]}, data_product_region=TEXT,
            publication_date={"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
            data_product_sector={"enum": ["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]},
        ),
        dp_variant=part(variant_name={"enum": ["Pure DP", "Approximate DP"]}, data_domain=TEXT,
                        unprotected_quantities=TEXT),
        privacy_loss=part(
            privacy_unit=TEXT, privacy_unit_details=TEXT,
            privacy_parameters=part(epsilon={"type": "number"}, delta={"type": "number"}),
        ),
        deployment_model=part(
            model_name={"enum": ["Central", "Federated"]}, actors=TEXT, release_type={"enum": ["One release"]},
            release_type_details=TEXT, data_source_type={"enum": ["Static"]},
            access_type={"enum": ["Non-interactive"]},
        ),
        accounting=part(composition=TEXT, post_processing=TEXT),
        implementation=part(preprocessing_and_hyperparameter_tuning=TEXT, mechanisms=TEXT, justification=TEXT),
        administrative=part(("sources",), sources=TEXT, notes=TEXT, registry_authors=TEXTS),
    ),
)  # fmt: skip
"""The registry's tier 3 as far as this library fills it: its names of fields, and the words that it allows."""

META = """
title = 'A "model": #1'
controller = "St. Mary's"
published = 2026-01-31
sector = "Healthcare"
authors = ["A. Doe", "B. Roe"]
sources = ["https://example.org/a", "https://example.org/b"]
purpose = "Calls | after *discharge*"
"""
SCORE = {
    "overall": {"auc": {"value": 0.71, "low": 0.68, "high": 0.74}, "rows": {"value": 900.0, "low": 880, "high": 920}},
    "subgroups": {
        "north": {"auc": {"value": 0.7, "low": 0.6, "high": 0.8}, "brier": {"value": None, "low": None, "high": None}}
    },
    "epsilon": 0.5, "delta": 1e-6, "releasable": True,
}  # fmt: skip
AUDIT = {"estimator": "RandomTreesClassifier", "epsilon": 1.0, "epsilon_lower": 0.7, "confidence": 0.95, "holds": True}
REPLAY = {"estimator": "RandomTreesClassifier", "runs": 3, "neighbours": 12, "faults": [], "holds": True}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X, y, schema = hospital(600)
    path = tmp_path_factory.mktemp("papers") / "model.json"
    tacit.save(tacit.RandomTreesClassifier(schema=schema, n_trees=2).fit(X, y), path)
    return path


@pytest.fixture(scope="module")
def papers(model):
    for name, text in (("card.toml", META), ("score.json", json.dumps(SCORE)), ("audit.json", json.dumps(AUDIT)),
                       ("replay.json", json.dumps(REPLAY))):  # fmt: skip
        (model.parent / name).write_text(text)
    folder = model.parent
    audits = [folder / "audit.json", folder / "replay.json"]
    return read_paperwork(model, folder / "card.toml", folder / "score.json", audits)


def test_a_group_is_promised_what_its_charges_cost_together():
    """Gaussian noise of mu for one is of 4 mu for four."""
    made = replace(certificate(), charges=(Gaussian(4.2246785),), epsilon=1.0, delta=1e-6)
    assert "for four relatives epsilon is 4.59." in " ".join(limits(made))
    pure = replace(certificate(), charges=(Laplace(0.5),), epsilon=2.0, delta=0.0)
    assert "for four relatives epsilon is 8." in " ".join(limits(pure))


def test_what_says_nothing_of_a_model_is_no_metric_of_it():
    """Counts of rows, and intervals of all that a share can be."""
    group = {
        "rows": {"value": 9.0, "low": 8, "high": 10}, "positives": {"value": 0.1, "low": 0.0, "high": 0.2},
        "auc": {"value": 0.95, "low": 0.0, "high": 1.0}, "accuracy": {"value": 0.9, "low": 0.1, "high": 1.0},
        "log_loss": {"value": 0.4, "low": 0.0, "high": 1.5}, "r2": None, "mae": {"value": None, "low": 0, "high": 1},
    }  # fmt: skip
    assert [name for name, _ in metrics(group)] == ["accuracy", "log_loss"]


@pytest.mark.parametrize(("shared", "words"), [(False, "exact totals"), (True, "The coordinator is not trusted")])
def test_papers_of_a_joined_fit_say_where_the_rows_stayed(bare, shared, words):
    assumed = [Assumption("sites", "which sites take part: a, b", True)]
    assumed += [Assumption("honest sites", "1 of the 2 sites", True)] * shared
    papers = replace(bare, certificate=bare.certificate.assuming(*assumed))
    model = registry_entry(papers)["deployment"]["deployment_model"]
    assert model["model_name"] == "Federated"
    assert words in model["actors"]
    assert "a, b" in model["actors"]
    text = dossier(papers)
    assert "The rows stayed at their sites" in text
    assert "one computer" not in text


@pytest.fixture(scope="module")
def bare(model):
    return read_paperwork(model)


@pytest.mark.parametrize("which", ["papers", "bare"])
def test_the_registry_entry_has_all_of_tier_three_and_survives_yaml(which, request):
    filled = request.getfixturevalue(which)
    entry = registry_entry(filled)
    from jsonschema import Draft7Validator  # takes seconds to import

    assert [str(fault.message) for fault in Draft7Validator(ENTRY).iter_errors(entry)] == []
    assert yaml.safe_load(yaml_text(entry)) == entry
    assert yaml_text(entry).startswith("url_slug: ")  # the registry reads the first line by itself
    assert ("TO FILL" in yaml_text(entry)) == ("justification" not in filled.meta)


def test_the_entry_says_what_the_certificate_and_the_person_say(papers, bare):
    entry = registry_entry(papers)
    assert entry["url_slug"] == "a-model-1-st-mary-s-2026"
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-6}
    assert entry["deployment"]["privacy_loss"]["privacy_unit"] == "one patient, at most 3 rows"
    assert entry["deployment"]["basic"]["publication_date"] == "2026-01-31"
    assert entry["deployment"]["administrative"]["registry_authors"] == ["A. Doe", "B. Roe"]
    pure = replace(bare, certificate=replace(bare.certificate, delta=0.0))
    assert registry_entry(pure)["deployment"]["dp_variant"]["variant_name"] == "Pure DP"


@pytest.mark.parametrize("value", [1e-6, 1e-300, 1.0, 0.1, 12.5, 1e22])
def test_numbers_stay_numbers_in_yaml(value):
    assert yaml.safe_load(yaml_text({"epsilon": value})) == {"epsilon": value}


@pytest.mark.parametrize("which", ["papers", "bare"])
def test_the_bill_of_materials_is_cyclonedx_and_holds_the_certificate(which, request):
    filled = request.getfixturevalue(which)
    bom = ml_bom(filled)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json_text(bom)) is None
    assert bom == ml_bom(filled)
    (evidence,) = bom["declarations"]["evidence"]
    attached = base64.b64decode(evidence["data"][0]["contents"]["attachment"]["content"])
    assert Certificate.from_json(attached.decode()) == filled.certificate
    references = {bom["metadata"]["component"]["bom-ref"], *(each["bom-ref"] for each in bom["components"])}
    assert {bom["declarations"]["claims"][0]["target"], *bom["dependencies"][0]["dependsOn"]} <= references


def test_every_paper_says_that_a_model_was_edited_by_hand(papers):
    words = "edited by hand from the model 0f: age removed"
    edited = replace(papers, certificate=papers.certificate.assuming(Assumption(EDIT, words, True)))
    for text in (hub_card(edited), dossier(edited), yaml_text(registry_entry(edited)), json.dumps(ml_bom(edited))):
        assert "Edited by hand from the model 0f: age removed." in " ".join(text.split())


def test_the_bill_of_materials_has_the_figures_of_an_evaluation(papers):
    metrics = ml_bom(papers)["metadata"]["component"]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    assert metrics[0] == {"type": "auc", "value": "0.71",
                          "confidenceInterval": {"lowerBound": "0.68", "upperBound": "0.74"}}  # fmt: skip
    assert metrics[-1]["slice"] == "north"


@pytest.mark.parametrize("which", ["papers", "bare"])
def test_the_model_card_has_a_header_that_hugging_face_reads(which, request):
    filled = request.getfixturevalue(which)
    text, made = hub_card(filled), filled.certificate
    _, header, body = text.split("---\n", 2)
    read = yaml.safe_load(header)
    assert read["library_name"] == "tacit"
    assert read["pipeline_tag"] == "tabular-classification"
    assert read["differential_privacy"] == {
        "epsilon": made.epsilon, "delta": made.delta, "unit": made.protected, "neighbouring": "add_or_remove_one",
        "certificate_sha256": made.digest,
    }  # fmt: skip
    index = read.get("model-index", [{"results": [{"metrics": []}]}])
    values = {each["type"]: each["value"] for each in index[0]["results"][0]["metrics"]}
    assert values == ({} if filled.evaluation is None else {"auc": 0.71})
    assert f"epsilon, delta | {made.epsilon:.6g}, {made.delta:g}" in body
    assert ("## Evaluation" in body) == (filled.evaluation is not None)
    forged = hub_card(replace(filled, meta=Meta(title="<b> [x](y) ---\nlicense: mit")))
    assert yaml.safe_load(forged.split("\n---\n")[0].removeprefix("---\n")).keys() == read.keys()
    assert "<b>" not in forged.split("\n---\n")[1]


def test_the_dossier_has_every_heading_and_says_what_is_left(papers, bare):
    text = dossier(papers)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) == 8
    for words in ("EDPB Opinion 28/2024", "Annex IV, point 2", "point 3", "point 5", "NIST SP 800-226", "3.3.05"):
        assert words in text
    assert text.count("\n**") == 37  # points, and the line about what is left
    assert not {"controller", "purpose"} & set(missing(papers))
    assert set(missing(bare)) <= set(KEYS)
    for key in missing(bare):
        assert (f"`{key}`" in text) == (key not in papers.meta)
    assert "auc 0.71 (0.68 to 0.74)" in text
    assert "north: auc 0.7" in text
    assert "at least 0.7 at 95 % confidence, which does not contradict the claim of 1" in text
    assert "replay of 3 fits" in text
    assert "At most 3 rows of each patient were used." in text
    versions = {**bare.certificate.versions, "opendp": "not installed as a package"}
    assert "opendp" not in dossier(replace(bare, certificate=replace(bare.certificate, versions=versions)))
    assert "No evaluation was given" in dossier(bare)
    assert "No audit was given" in dossier(bare)


def test_words_of_a_person_are_no_markup(papers):
    page = html(
        replace(papers, meta=type(papers.meta)({**papers.meta, "oversight": "<script>x</script> [a](http://b)"}))
    )
    assert "<script" not in page
    assert "<a " not in page
    assert "“Calls | after *discharge*”" in page
    assert "&lt;script&gt;" in page


def test_a_model_that_must_not_be_released_gets_no_papers(tmp_path, model):
    X, y, schema = hospital(300)
    seeded = tacit.RandomTreesClassifier(schema=schema, n_trees=1, random_state=0).fit(X, y)
    tacit.save(seeded, tmp_path / "seeded.json")
    with pytest.raises(ClaimError, match="must not be released: its noise came from a seed"):
        read_paperwork(tmp_path / "seeded.json")
    changed = json.loads(model.read_text())
    changed["certificate"]["epsilon"] = 0.5
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    with pytest.raises(ClaimError, match="does not hold"):
        read_paperwork(tmp_path / "changed.json")
    (tmp_path / "alone.json").write_text(json.dumps(changed["certificate"] | {"epsilon": 1.0}))
    with pytest.raises(PaperError, match="a model with its certificate"):
        read_paperwork(tmp_path / "alone.json")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "is not what tacit evaluate"),
        ("{", "no JSON"),
        ("{}", "is not"),
        (json.dumps(SCORE | {"releasable": False}), "must not be released"),
    ],
)
def test_results_of_other_commands_are_checked(tmp_path, model, text, words):
    (tmp_path / "score.json").write_text(text)
    with pytest.raises(PaperError, match=words):
        read_paperwork(model, evaluation=tmp_path / "score.json")


@pytest.fixture
def keys(tmp_path):
    public = new_key(tmp_path / "key")
    return read_private_key(tmp_path / "key"), read_public_key(public)


def test_an_answer_about_erasure_is_signed_and_follows_from_its_certificate(bare, keys, tmp_path):
    written = erasure_statement(bare.certificate, keys[0])
    assert erasure_problems(json.loads(json_text(written)), keys[1]) == []
    other = read_public_key(new_key(tmp_path / "other"))
    assert erasure_problems(written, other) == ["it was signed with another key"]
    assert erasure_problems({**written, "signature": None}, keys[1]) == ["it is not signed"]
    for key, value in (("letter", []), ("refit_after", 99), ("version", 2), ("certificate", {})):
        assert erasure_problems({**written, key: value}, keys[1])
    resigned = erasure_statement(bare.certificate, keys[0])
    lie = replace(bare.certificate, epsilon=0.1)
    assert any("digest" in words for words in erasure_problems({**resigned, "certificate": lie.to_dict()}, keys[1]))


@pytest.mark.parametrize(("name", "value"), [("letter", ["You are safe."]), ("refit_after", 1000)])
def test_another_text_does_not_hold_although_it_is_signed_anew(bare, keys, name, value):
    """By the key itself: a signature says who wrote it, and the certificate what may be written."""
    body = {key: each for key, each in erasure_statement(bare.certificate, keys[0]).items() if key != "signature"}
    body[name] = value
    written = {**body, "signature": signature({"erasure": sha256(body)}, keys[0])}
    assert erasure_problems(written, keys[1]) == ["its text does not follow from its certificate"]


def test_the_letter_states_the_figures_and_names_nobody(bare):
    text = "\n".join(letter(bare.certificate))
    assert "epsilon 1, delta 1e-06" in text
    assert "factor of 2.72" in text
    assert "1 in 1 million" in text
    assert "at most 54.7 % of the time" in text
    assert "up to 3" in text
    assert re.search(r"If 10 people ask: epsilon is 14, .* 88\.\d %", text)


@pytest.mark.parametrize(("multiplier", "persons"), [(4.2247, 5), (2.0, 2), (1.0, 1), (0.5, 0), (1e6, 1000)])
def test_a_model_is_refitted_before_a_guess_about_all_who_asked_is_right_three_times_in_four(multiplier, persons):
    made = replace(certificate(), charges=(Gaussian(multiplier),))
    assert refit_after(made) == persons
    if 0 < persons < 1000:
        assert guess(made, persons) <= 0.75 < guess(made, persons + 1)


def test_every_test_that_the_page_of_hazards_names_exists():
    root = Path(__file__).parents[2]
    named = re.findall(r"`(tests/[\w/.]+)`", (root / "docs/nist_800_226.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [path for path in named if not (root / path).exists()] == []
