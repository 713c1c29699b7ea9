"""The checker in the page agrees with Python on random ledgers, in Node and in a browser, and finds changes."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tacit.privacy import accountants
from tacit.privacy.canonical import finite, sha256
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import ZCDP, ApproxDP, BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Pure, Repeated
from tacit.privacy.label import Label
from tacit.privacy.ledger import Entry
from tacit.privacy.verification import CertificateError, coverage_problems
from tacit.report.model_card import ModelCard
from tacit.report.page import compose

SCRIPT = Path(__file__).parents[2] / "src/tacit/report/templates/check.js"
LEDGERS = 1000
KINDS = ["gaussian", "gaussian", "pure", "range", "none"]
"""Mixed ledgers and ranges are rarer: Python composes their losses on a grid, which takes long."""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def ledger(seed: int) -> tuple[list[Charge], list[Charge], float]:
    """Charges, entries and delta; entries take a part of the charges, sometimes too much."""
    rng = random.Random(seed)
    delta = rng.choice([0.0, 1e-9, 1e-6, 1e-3])
    kind, size = {0: "mixed", 1: "other"}.get(seed % 100) or rng.choice(KINDS), math.exp(rng.uniform(-4, 3))
    delta = 0.0 if kind == "pure" and seed % 20 else delta
    spent = rng.choice([0.1, 0.5, 0.999, 1.001, 3.0])
    times = rng.randint(1, 400)
    if kind == "gaussian":
        return (
            [Gaussian(size), Gaussian(2 * size)],
            [Repeated(Gaussian(size * math.sqrt(times / 1.25 / spent)), times)],
            delta,
        )
    if kind == "pure":
        return [Pure(size)], [Repeated(Laplace(times / size / spent), times)], delta
    if kind == "other":
        return [ZCDP(size)], [ZCDP(size)], delta
    if kind == "range":
        return [Gaussian(size)], [Repeated(BoundedRange(spent / size / times), times), Gaussian(5 * size)], delta
    if kind == "mixed":
        charges = [Gaussian(size), Pure(rng.uniform(0, 2)), ApproxDP(0.1, 1e-8)]
        return charges, [Gaussian(size / math.sqrt(spent)), charges[1], charges[2]], delta
    return [NonPrivate()], [Gaussian(1.0)], delta


def number_of(seed: int) -> float:
    """A double of any size, as digests must write it."""
    return random.Random(seed).uniform(-1, 1) * 10.0 ** (seed % 60 - 30)


@cache
def cases() -> list[dict[str, Any]]:
    """What Python says of the ledgers."""
    results = []
    for seed in range(LEDGERS):
        charges, entries, delta = ledger(seed)
        listed = [Entry(i, Label.of(f"é{i} \u2028 {seed}"), charge, "t") for i, charge in enumerate(entries)]
        facts = finite({"charges": [c.to_dict() for c in charges], "entries": [c.to_dict() for c in entries],
                        "words": [e.label for e in listed], "x": number_of(seed)})  # fmt: skip
        results.append({
            "facts": facts, "delta": delta, "digest": sha256(facts),
            "epsilon": finite(accountants.epsilon(charges, delta)), "covered": not coverage_problems(charges, listed),
        })  # fmt: skip
    return results


RUN = """
async (cases, tool) => Promise.all(cases.map(async ({facts, delta}) => {
  const cost = tool.epsilonOf(facts.charges, delta);
  return {digest: await tool.sha256(facts), exact: cost && cost.exact,
          epsilon: cost && (cost.epsilon === Infinity ? "inf" : cost.epsilon),
          covered: tool.covered(facts.charges, facts.entries)};
}))
"""


def agree(python: list[dict[str, Any]], script: list[dict[str, Any]]) -> None:
    told = {"cost": 0, "covered": 0}
    for mine, theirs in zip(python, script, strict=True):
        assert theirs["digest"] == mine["digest"]
        if theirs["epsilon"] is not None:
            ours, its = float(mine["epsilon"]), float(theirs["epsilon"])
            assert its == pytest.approx(ours, rel=1e-9, abs=1e-12) if theirs["exact"] else its >= ours * (1 - 1e-9)
            told["cost"] += theirs["exact"]
        if theirs["covered"] is not None:
            assert theirs["covered"] == mine["covered"], mine
            told["covered"] += 1
    assert told["cost"] > LEDGERS / 2
    assert told["covered"] > 0.6 * LEDGERS


def node(program: str, data: Any) -> Any:
    script = (
        f"const tool = require({json.dumps(str(SCRIPT))}), data = JSON.parse(require('fs').readFileSync(0));"
        f"({program})(data, tool).then(said => console.log(JSON.stringify(said)))"
    )
    result = subprocess.run(["node", "-e", script], input=json.dumps(data), capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


@needs_node
def test_node_agrees_with_python_on_random_ledgers() -> None:
    ledgers = cases()
    agree(ledgers, node(RUN, ledgers))


def test_a_browser_agrees_with_python_on_random_ledgers(browser: Any, visit: Any, sample_claim: Certificate) -> None:
    page = browser.new_context(offline=True).new_page()
    page.goto((SCRIPT).as_uri())  # a plain page of a secure place
    ledgers = cases()
    names = "{epsilonOf, sha256, covered}"
    script = page.evaluate(f"(cases) => {{ {SCRIPT.read_text('utf-8')}; return ({RUN})(cases, {names}); }}", ledgers)
    agree(ledgers, script)
    page.context.close()


def findings(data: Any) -> dict[str, Any]:
    return {each["what"]: each["holds"] for each in node("async (data, tool) => tool.check(data)", data)}


@needs_node
def test_every_change_is_found(sample_claim: Certificate) -> None:
    claim = sample_claim.signed(Ed25519PrivateKey.generate()).to_dict()
    assert set(findings(claim).values()) == {True}
    assert findings({**claim, "epsilon": 0.5})["cost"] is False
    assert findings({**claim, "delta": 1e-9})["cost"] is False
    assert findings({**claim, "algorithm": "Another"})["certificate"] is False
    assert findings({**claim, "entries": claim["entries"][1:]})["ledger's text"] is False
    few = {**claim, "charges": [{"kind": "gaussian", "noise_multiplier": 40.0}]}
    assert findings(few)["ledger"] is False
    other = sample_claim.signed(Ed25519PrivateKey.generate()).to_dict()["signature"]
    assert findings({**claim, "signature": {**claim["signature"], "key": other["key"]}})["signature"] is False
    assert findings({**claim, "digest": "0" * 64})["signature"] is False
    assert findings(sample_claim.to_dict())["signature"] is None
    assert findings({"kind": "x"}) == {"file": False}
    model, schema = {"kind": "x", "model": {"a": [1.0, -0.0]}}, {"columns": {"é": 1e21}}
    bound = sample_claim.bound(sha256(model), sha256(schema)).to_dict()
    whole = {**model, "schema": schema, "certificate": bound}
    assert findings(whole) | {"signature": True} == dict.fromkeys(findings(whole), True)
    assert findings({**whole, "model": {"a": [1.0, 1.0]}})["model"] is False
    assert findings({**whole, "schema": {}})["schema"] is False
    assert findings({**model, "certificate": bound})["schema"] is None


MILD = {"kind": "gaussian", "noise_multiplier": 1e9}


def repeated(times: Any) -> dict[str, Any]:
    return {"kind": "repeated", "charge": MILD, "times": times}


FORGED: list[dict[str, Any]] = [
    {},
    {"entries": []},
    {"entries": [], "charges": [], "epsilon": 0.0},
    {"charge": MILD},
    {"entries": [], "charges": [MILD]},
    *({"charge": charge} for charge in (
        {**MILD, "noise_multiplier": -5.0}, {**MILD, "noise_multiplier": 0.0}, {**MILD, "note": ""}, None,
        {"kind": "pure", "epsilon": -1.0}, {"kind": "zcdp", "rho": "nan"}, {"kind": "__proto__"},
        repeated(-3), repeated(1.5), repeated(True),
        {"kind": "renyi", "orders": [], "divergences": []}, {"kind": "renyi", "orders": [2.0], "divergences": [-5.0]},
        {"kind": "approx_dp", "epsilon": 0.0, "delta": -1.0}, {"kind": "approx_dp", "epsilon": 0.0, "delta": 1.0},
        {**MILD, "kind": ["gaussian"]}, {"kind": "laplace", "noise_multiplier": "inf"},
        *({"kind": "renyi", "orders": orders, "divergences": [0.0]} for orders in ([1.0], "2", [2.0, 3.0])),
        {"kind": "privacy_loss", "losses": [0.0, 0.0], "probabilities": [1.0, 1.0], "infinity_mass": 0.0},
        {"kind": "privacy_loss", "losses": [-5.0], "probabilities": [1.0], "infinity_mass": 0.0})),
    *({"entry": entry} for entry in (
        {"charge": {**MILD, "noise_multiplier": 1e200}}, {"charge": {**MILD, "noise_multiplier": "inf"}}, {"label": 3},
        {"theorem": None}, {"stage": "magic"}, {"stage": "other"}, {"subject": 3}, {"round": "1"}, {"round": -1})),
    *({field: 5} for field in (
        "algorithm", "created", "dataset", "unit", "unit_name", "target", "tape", "data", "schema_fingerprint",
        "model_digest", "parameters", "versions", "assumptions")),
    *({field: "missing"} for field in (
        "versions", "columns", "created", "parameters", "unit", "dataset", "algorithm", "reasons", "outcome")),
    *({"columns": columns} for columns in (True, "age", 2.5, [1])),
    {"assumptions": [{"accepted": True}]},
    {"assumptions": [{"subject": "x", "text": "y", "accepted": "yes"}]},
    {"versions": {"numpy": 2}},
    {"releasable": False, "reasons": [1]},
    {"rows_per_unit": 2.5},
    *({"epsilon": epsilon} for epsilon in (True, None, "1", "inf", 1e-3)),
    *({"delta": delta} for delta in (-1e-9, 0.0, 0.5, 1.0)),
    {"rows_per_unit": 0},
    {"neighbouring": "none"},
    {"neighbouring": "replace_one"},
    {"n_public": True},
    {"releasable": "yes"},
    {"reasons": ["seeded"]},
    {"releasable": False},
    {"noise_source": "seeded"},
    {"outcome": "failed"},
    {"entries": "x"},
    {"charges": {}},
    {"note": "all is well"},
]  # fmt: skip
"""What somebody changes who computes all digests anew."""


@needs_node
def test_forged_claims_are_judged_as_by_python(sample_claim: Certificate) -> None:
    claim, forged = sample_claim.bound("0" * 64, None).to_dict(), []
    for change in FORGED:
        each = {key: value for key, value in {**claim, **change}.items() if value != "missing"}
        if "charge" in change:
            each["charges"] = [*claim["charges"], each.pop("charge")]
        if "entry" in change:
            each["entries"] = [claim["entries"][0] | each.pop("entry"), *claim["entries"][1:]]
        each["ledger_digest"] = sha256({"charges": each["charges"], "entries": each["entries"]})
        content = {key: value for key, value in each.items() if key not in ("format", "digest", "signature")}
        forged.append({**each, "digest": sha256(content)})
    told = node("async (data, tool) => Promise.all(data.map(each => tool.checkText(JSON.stringify(each))))", forged)
    for change, each, findings_ in zip(FORGED, forged, told, strict=True):
        try:
            holds = not Certificate.from_dict(each).verify()
        except CertificateError:
            holds = False
        assert all(finding["holds"] is not False for finding in findings_) == holds, change
        assert holds == (change in ({}, {"charge": MILD})), change


@needs_node
def test_a_name_that_is_there_twice_is_refused(sample_claim: Certificate) -> None:
    """Readers differ in which of the two they take."""
    claim = sample_claim.bound("0" * 64, None).to_json()
    twice = claim.replace('"epsilon":', '"\\u0065psilon": 0.1, "epsilon":', 1)
    quoted = json.dumps({"text": '"a": {"a": 1, "a": 2}', "more": [{"a": 1}, {"a": 2}]})
    told = node("async (data, tool) => Promise.all(data.map(tool.checkText))", [claim, twice, quoted])
    assert [each[0]["what"] for each in told] == ["certificate", "file", "file"]
    assert ["twice" in each[0]["words"] for each in told] == [False, True, False]
    with pytest.raises(CertificateError, match="twice"):
        Certificate.from_json(twice)


def test_the_page_checks_itself_and_files(
    visit: Any, sample_card: ModelCard, sample_claim: Certificate, tmp_path: Path
) -> None:
    html = compose(sample_card, ("</script><b>", "yes"), sample_claim.named("</script><!--", "<b>"), "t")
    seen = visit(html)
    seen.page.wait_for_selector("#checker li")
    held = seen.page.eval_on_selector_all("#checker li", "es => es.map(e => e.dataset.holds)")
    assert held == ["true"] * 5 + ["null"]
    model = tmp_path / "edited.json"
    model.write_text(json.dumps({**sample_claim.to_dict(), "epsilon": 0.1}))
    seen.page.set_input_files("#checker input", model)
    seen.page.wait_for_selector("#checker li[data-holds=false]")
    assert "DOES NOT HOLD" in seen.page.inner_text("#checker")
    assert seen.complaints == []


def test_no_other_script_runs(visit: Any, sample_card: ModelCard, sample_claim: Certificate) -> None:
    html = compose(sample_card, ("no", "yes"), sample_claim, "t")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]{44}'; style-src 'unsafe-inline'; img-src data:; "
        r"base-uri 'none'; form-action 'none'",
        policy[1],
    )
    seen = visit(html.replace("</body>", "<script>document.title = 'taken'</script></body>"))
    assert seen.page.title() == "t"
    assert any("Content Security Policy" in text for text in seen.complaints)


def test_the_script_stays_short() -> None:
    assert len(SCRIPT.read_text("utf-8").splitlines()) < 400
