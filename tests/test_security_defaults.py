"""Every security default by its value: a default that is flipped, or a new switch that is on, fails here."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import tacit
from tacit.curator.sites.memory import Gathering, Memory
from tacit.curator.sites.parties import new_party
from tacit.curator.sites.site import Agreement
from tacit.online.winnow import Winnow
from tacit.privacy.assumptions import Assumption
from tacit.privacy.charges import Gaussian, NonPrivate
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.signatures import new_key
from tacit.privacy.spending import certified

SAFE: dict[str, Any] = {
    "account": None,
    "dtypes": None,
    "force": False,
    "invalid": "error",
    "keep": False,
    "multiline": False,
    "neighbouring": "add_or_remove_one",
    "random_state": None,
    "resumable": False,
    "resume": None,
    "seed": None,
    "unverified": False,
}
"""Defaults of parameters by name, wherever they are; what begins with ``allow`` is off."""

OTHERWISE = {
    ("predict", "PredictArguments", "keep"): None,  # names of columns
    ("export", "ExportArguments", "keep"): None,  # likewise
    ("sql", "to_sql", "keep"): (),  # likewise
    ("audit_estimator", "audit_estimator", "neighbouring"): None,  # that of the estimator
    ("base", "request_of", "neighbouring"): None,
    ("estimator", "ResampledBoostClassifier", "neighbouring"): "replace_one",  # all that its proof is about
    ("replay", "replay_audit", "random_state"): 0,  # fits are compared draw by draw
    ("foreign", "replay_with", "random_state"): 0,  # likewise
    ("learner", "check_learner", "random_state"): 3,  # of made-up rows; a check that can be repeated
    ("query", "check_query", "random_state"): 0,  # likewise
}
"""Parameters of such a name that mean something else."""


def modules() -> Iterator[Any]:
    for found in walk_packages(tacit.__path__, "tacit."):
        if not found.name.endswith(("__main__", "templates")) and ".migrations" not in found.name:
            yield import_module(found.name)


def parameters() -> Iterator[tuple[str, str, str, Any]]:
    """Module, place, name and default of all that callers may leave out, in the whole library."""
    for module in modules():
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if is_dataclass(value) and isinstance(value, type):
                for field in fields(value):
                    if field.default is not MISSING:
                        yield module.__name__, name, field.name, field.default
            elif inspect.isfunction(value) or (
                isinstance(value, type) and not issubclass(value, BaseException | str | dict)
            ):
                for parameter in inspect.signature(value).parameters.values():
                    if parameter.default is not parameter.empty:
                        yield module.__name__, name, parameter.name, parameter.default


def test_every_default_of_a_security_parameter_is_the_safe_one() -> None:
    seen: set[str] = set()
    for module, place, name, default in parameters():
        if name in SAFE or name.startswith("allow_"):
            expected = OTHERWISE.get((module.rpartition(".")[2], place, name), SAFE.get(name, False))
            assert default == expected, f"{module}.{place}({name}={default!r})"
            seen.add(name)
    assert set(SAFE) - seen <= {"unverified"}
    assert {"allow_seeded", "allow_changed_parties", "allow_changed_rows"} <= seen


def test_every_switch_of_the_command_line_is_off() -> None:
    switches = {
        f"{module}.{place}.{name}": default
        for module, place, name, default in parameters()
        if module.startswith("tacit.cli.") and place.endswith("Arguments") and isinstance(default, bool)
    }
    assert len(switches) > 30
    assert not [name for name, default in switches.items() if default]


def test_a_site_agrees_to_little() -> None:
    agreed = Agreement()
    assert (agreed.epsilon, agreed.delta, str(agreed.neighbouring)) == (1.0, 1e-6, "add_or_remove_one")
    arguments = {name: each.default for name, each in inspect.signature(tacit.serve_site).parameters.items()}
    assert (arguments["epsilon"], arguments["delta"], arguments["record"], arguments["proxy"]) == (
        1.0,
        1e-6,
        None,
        None,
    )
    assert agreed.honest is None is arguments["honest"]  # who trusts nobody says on how many honest sites it counts


def test_workers_are_trusted_unless_a_share_is_rechecked() -> None:
    assert inspect.signature(tacit.read_source).parameters["recheck"].default == 0.0


class Noisy:
    """Noise that can be repeated by nobody, or by somebody."""

    noise_name = "tacit"

    def __init__(self, releasable: bool = True) -> None:
        self.releasable = releasable


def certificate(charge: Any = None, *, releasable: bool = True, fails: bool = False, **more: Any) -> Any:
    request = tacit.privacy.request.Request.of(1.0, more.pop("delta", 1e-6), "add_or_remove_one", None)
    account = EphemeralAccount(float("inf"), request.delta, request.neighbouring)
    reservation = account.reserve([charge or Gaussian(10.0)], "a fit")
    reservation.close(*(["failed"] if fails else []))
    return certified(None, request, reservation, Noisy(releasable), "a fit", **more)


def test_nothing_is_releasable_that_something_speaks_against() -> None:
    assert certificate().releasable
    for closed in (
        certificate(releasable=False),
        certificate(unverified=True),
        certificate(fails=True),
        certificate(NonPrivate()),
        certificate(delta=0.011),
        certificate().assuming(Assumption("dtypes", "read", accepted=False)),
    ):
        assert not closed.releasable
        assert closed.reasons
    assert certificate().assuming(Assumption("dtypes", "vouched for", accepted=True)).releasable


def party_key(place: Path) -> Path:
    new_party("north", place / "north.key", place / "parties")
    return place / "north.key"


def signing_key(place: Path) -> Path:
    new_key(place / "signer")
    return place / "signer"


def memory_of_a_site(place: Path) -> Path:
    Memory(None, place / "north.key.fits").write(Gathering("0" * 64, "1" * 64))
    return place / "north.key.fits"


def store(place: Path) -> Path:
    tacit.PrivacyAccount.create(f"sqlite:///{place}/budget.db", "x", 1.0, 1e-6)
    return place / "budget.db"


def store_in_an_empty_file(place: Path) -> Path:
    (place / "budget.db").touch(0o644)
    return store(place)


def suspended_stream(place: Path) -> Path:
    stream = Winnow(columns=("a",), horizon=10)
    stream.learn_one({"a": 1}, True)
    with pytest.warns(UserWarning, match="secrets"):
        stream.suspend(place / "stream.json")
    return place / "stream.json"


@pytest.mark.parametrize(("seed", "mode"), [(None, 0o666), (1, 0o600)])
def test_a_model_that_may_not_be_released_is_its_owners_alone(tmp_path: Path, seed: int | None, mode: int) -> None:
    schema = {
        "columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}},
        "label": {"column": "y", "classes": [0, 1]},
    }
    model = tacit.RandomTreesClassifier(n_trees=1, schema=schema, random_state=seed).fit({"x": [0.1, 0.9]}, [0, 1])
    before = os.umask(0)
    try:
        tacit.save(model, tmp_path / "model.json")
        model.report(tmp_path / "report.html")
        assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("model.json", "report.html")] == [mode, mode]
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    "make", [party_key, signing_key, memory_of_a_site, store, store_in_an_empty_file, suspended_stream]
)
def test_what_may_hold_more_than_a_model_is_its_owners_alone(make: Callable[[Path], Path], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert make(tmp_path).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_all_arguments_that_make_no_sense_are_named_at_once():
    with pytest.raises(tacit.privacy.request.RequestError) as caught:
        tacit.privacy.request.Request.of(-1, 3, ["replace_one"], True)
    said = str(caught.value).split("; ")
    assert [words.split()[0] for words in said] == ["epsilon", "delta", "neighbouring", "random_state"]
    assert str(caught.value).count("Nothing was spent.") == 1
