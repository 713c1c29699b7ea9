"""Noise that sites draw in shares: its law, what a malicious coordinator is refused, and what sites' logs say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.audit import verify_tape
from tacit.checks.mechanism import draws_needed, likelihood_ratio_rejects
from tacit.curator.curator import Curator
from tacit.curator.measurement import integer_scale
from tacit.curator.sites.parties import SitesError
from tacit.curator.sites.shared_noise import ShareOfNoise, at_sites, refused_charges
from tacit.curator.sites.shares import Transcript, share
from tacit.engines.blocks import MemoryTable
from tacit.engines.joined.wire import Sender, WireError
from tacit.engines.passes.base import SumsOf
from tacit.noise import SeededSource, SystemSource
from tacit.privacy.accountants import epsilon
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Renyi, Repeated
from tacit.privacy.ledger import Reservation
from tacit.privacy.noise_shares import LEAST_SCALE, NoiseShares, noise_factor, shares_of, towards_coordinator
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell, column_cells
from tacit.queries.dense.moments import MomentSum
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart
from tacit.queries.margins import Margins
from tacit.queries.rules import class_count_rule, fine_count_rule, level_weights, signed_margin_rule, weighted_rule
from tests.curator.test_sites_protocol import (
    AGREED,
    BINS,
    CHARGE,
    COUNTS,
    INVITATION,
    SESSION,
    Message,
    Other,
    Talk,
    answers,
    numbers_of,
    place,
    visited,
)
from tests.estimators.test_sources import ROWS, declared
from tests.golden.tables import table
from tests.joining import NAMES, cut, joined, make_parties
from tests.noise.exact import gaussian_pmf, kolmogorov_rejects

__all__ = ["place"]  # the fixture

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
TRUSTLESS = replace(AGREED, honest=2)

# The law.


@pytest.mark.parametrize(("sites", "honest"), [(5, 3), (2, 2), (4, 1)])
def test_the_shares_of_the_honest_add_up_to_the_charged_noise(sites: int, honest: int) -> None:
    """A scale 10 % off is told from it, both ways; all sites together make noise of the stated deviation."""
    shares, query = NoiseShares(sites, honest), Histogram(OneCell(), fine_count_rule(2))
    charged = integer_scale(charge := Gaussian(0.25), query.sensitivity(ADD))
    claimed, others = gaussian_pmf(charged), [gaussian_pmf(charged * wrong) for wrong in (0.9, 1.1)]
    size = max(draws_needed(claimed, other) for other in others)
    drawn = []
    for _ in range(sites):
        site = ShareOfNoise(shares, ADD, SystemSource())
        site.announced(charge)
        drawn.append(site.noisy(np.zeros(size, np.int64), site.scale(query, charge)))
    total = np.sum(drawn[:honest], axis=0)
    assert not kolmogorov_rejects(total, claimed)
    for other in others:
        assert not likelihood_ratio_rejects(total, claimed, other)
    whole = np.sum(drawn, axis=0)
    assert not kolmogorov_rejects(whole, gaussian_pmf(shares.total(charged)))
    assert likelihood_ratio_rejects(np.rint(0.9 * total).astype(np.int64), claimed, others[0])


def worst_ratio(scale: float, terms: int) -> float:
    """The largest log ratio of the law of a sum of shares to the discrete Gaussian, where the latter is above 1e-12."""
    one = gaussian_pmf(scale, 12.0)
    law = one.p
    for _ in range(terms - 1):
        law = np.convolve(law, one.p)
    k = np.arange(len(law)) - len(law) // 2
    wanted = np.exp(-(k * k) / (2 * terms * scale**2))
    wanted /= wanted.sum()
    seen = wanted > 1e-12
    return float(np.abs(np.log(law[seen] / wanted[seen])).max())


def test_no_share_is_so_small_that_the_lattice_shows() -> None:
    """At the least scale a sum is a discrete Gaussian to the last bits; at .5 it would not be."""
    assert worst_ratio(LEAST_SCALE, 2) < 1e-11
    assert worst_ratio(LEAST_SCALE, 5) < 1e-11
    assert worst_ratio(0.5, 2) > 0.01
    assert NoiseShares(3, 2).scale(0.1) == LEAST_SCALE == pytest.approx(math.sqrt(18))


@given(st.integers(1, 30), st.integers(0, 30), st.floats(10.0, 1e12))
def test_shares_reach_the_charged_square_and_no_more(honest: int, more: int, charged: float) -> None:
    scale = NoiseShares(honest + more, honest).scale(charged)
    assert honest * Fraction(scale) ** 2 >= Fraction(charged) ** 2
    assert scale == LEAST_SCALE or scale <= charged / math.sqrt(honest) * (1 + 1e-15)


def test_what_collusion_leaves() -> None:
    shares = NoiseShares(5, 3)
    assert [shares.noise_without(k) ** 2 for k in range(4)] == pytest.approx([5 / 3, 4 / 3, 1.0, 2 / 3])
    assert shares_of("x" + shares.claim) == shares
    assert shares_of("x") is None
    assert noise_factor("x" + shares.claim) == pytest.approx(math.sqrt(5 / 3))
    assert noise_factor("x") == 1.0
    for sites, honest in ((5, 0), (5, 6), (5, -1)):
        with pytest.raises(ValueError, match="between 1 and 5"):
            NoiseShares(sites, honest)


@pytest.mark.parametrize(
    ("charges", "words"),
    [
        ([Gaussian(3.0), Repeated(Gaussian(2.0), 5)], ""),
        ([Gaussian(3.0), Laplace(2.0)], "not Gaussian"),
        ([Repeated(BoundedRange(0.1), 3)], "choices"),
        ([NonPrivate()], "epsilon=inf"),
    ],
)
def test_which_charges_can_be_shared(charges: list[Charge], words: str) -> None:
    assert (words in refused_charges(charges)) if words else refused_charges(charges) == ""


# What a site draws, whatever it is asked.

MATRICES = st.integers(0, 1000)


@settings(max_examples=40, deadline=None)
@given(MATRICES, st.sampled_from([ADD, REPLACE]), st.integers(1, 4))
def test_a_site_measures_the_query_by_itself(seed: int, relation: Neighbouring, honest: int) -> None:
    """The noise of the honest is at least ``z`` times what a row can do; a sensitivity 10 % smaller is not enough."""
    generator = np.random.default_rng(seed)
    matrix = generator.integers(-90, 91, (2, 6))
    query = Histogram(column_cells(0, 6), class_count_rule(2), None, ReleaseMap(matrix, 1))
    charge, site = Gaussian(7.0), ShareOfNoise(NoiseShares(4, honest), relation, SystemSource())
    site.announced(charge)
    scale = site.scale(query, charge)
    columns = [np.outer(matrix[:, k], np.eye(2, dtype=int)[y]) for k in range(6) for y in (0, 1)]
    rows = columns if relation is ADD else [a - b for a in columns for b in columns]
    farthest = max(float((row**2).sum()) for row in rows)
    assert honest * scale**2 >= 49.0 * farthest
    if relation is ADD and farthest > 100:
        assert honest * scale**2 * 0.81 < 49.0 * farthest + 9.0 + honest * 18


HALVES = signed_margin_rule(lambda margin: np.full_like(margin, 0.5))


def joint(charges: tuple[float, float] = (8.0, 5.0)) -> tuple[JointBound, list[JointHistogram]]:
    cells = (column_cells(0, 6), OneCell())
    maps = (ReleaseMap(np.eye(6, dtype=np.int64) * 8, 8), ReleaseMap(np.full((1, 1), 8), 8))
    parts = [JointPart(f"part {i}", cells[i], maps[i], Gaussian(charges[i])) for i in (0, 1)]
    bound = JointBound(tuple(parts), 40)
    rule = weighted_rule(HALVES, (1.0, 1.0), level_weights())
    return bound, [JointHistogram(Histogram(each.cells, rule, Margins(), each.release_map), bound) for each in parts]


def test_one_part_again_and_again_pays_for_whole_rounds() -> None:
    """A row may have all its length in one part: releasing that alone is as dear as releasing all."""
    bound, queries = joint()
    site = ShareOfNoise(NoiseShares(3, 2), ADD, SystemSource())
    for part in bound.parts * 2:
        site.announced(part.charge)
    for which, pays in ((0, True), (1, True), (0, True), (0, False), (1, True), (1, False)):
        with nullcontext() if pays else pytest.raises(WireError, match="more is asked than was charged"):
            site.scale(queries[which], bound.parts[which].charge)


def test_what_is_no_part_of_its_bound_is_refused() -> None:
    bound, queries = joint()
    site = ShareOfNoise(NoiseShares(3, 2), ADD, SystemSource())
    for part in bound.parts * 9:
        site.announced(part.charge)
    own = queries[0].histogram
    assert isinstance(own, Histogram)
    larger = ReleaseMap(np.eye(6, dtype=np.int64) * 80, 8)
    for query, charge in (
        (queries[0], bound.parts[1].charge),
        (JointHistogram(replace(own, release_map=larger), bound), bound.parts[0].charge),
        (JointHistogram(replace(own, release_map=ReleaseMap(np.eye(6, dtype=np.int64) * 8, 4)), bound), CHARGE),
        (JointHistogram(replace(own, cells=column_cells(0, 6)), bound), bound.parts[0].charge),
        (JointHistogram(replace(own, release_map=None), bound), bound.parts[0].charge),
    ):
        with pytest.raises(WireError, match="no part of its bound"):
            site.scale(query, charge)


class Apart:
    """Sites, as far as a curator knows them."""

    def noisy(self, asked: Sequence[tuple[Any, Charge]]) -> list[np.ndarray]:
        return [np.full(query.shape, 640) for query, _ in asked]


def test_a_measurement_knows_of_the_noise_of_all_sites() -> None:
    """No noise is added to what the sites send; its deviation is that of all shares, and the theorem names them."""
    shares, query, charge = NoiseShares(5, 2), Histogram(OneCell(), fine_count_rule(2)), Gaussian(9.0)
    reservation = Reservation([charge], ADD, "test")
    table = MemoryTable([], np.zeros(3, np.uint8), [], 2)
    curator = Curator(table, reservation, SeededSource(1))
    curator.shared_noise = at_sites(shares, Apart())
    release = curator.measure(query, charge, "rows")
    assert release.value.tolist() == [[10.0]]
    assert release.sd == pytest.approx(9.0 * math.sqrt(5 / 2), rel=1e-4)
    assert reservation.entries[0].theorem == release.theorem == query.sensitivity(ADD).theorem + shares.claim
    assert noise_factor(release.theorem) == pytest.approx(math.sqrt(5 / 2))


# A coordinator that does not keep to the rules.

SHARED: Message = INVITATION | {"honest": 2}


class Bold(Other):
    """A coordinator of sites that trust nobody."""

    def __init__(self, other: Other) -> None:
        self.__dict__ = other.__dict__
        self.sender = Sender(maps=True)

    def begin(self, charges: int = 2) -> Any:
        ready = yield SHARED
        assert (yield {"keys": self.keys(ready), "charges": [CHARGE.to_dict()] * charges}) == {"agreed": True}
        assert (yield {"begin": "fit of nothing"}) == {"begun": True}

    def noisy(
        self,
        number: int,
        queries: list[Any],
        charge: Charge = CHARGE,
        entries: int = 1,
        recipe: Any = {"kind": "columns"},  # noqa: B006
    ) -> Message:
        entry = {"label": f"release {number}", "charge": CHARGE.to_dict(), "theorem": "none"}
        return {
            "ask": number,
            "entries": [entry] * entries,
            "gone": [],
            "tell": [{"do": "seal", "table": 1, "recipe": recipe}] if number == 1 else [],
            "table": 1,
            "questions": [{"query": self.sender.plain(query), "charge": charge.to_dict()} for query in queries],
        }

    def bounded(self, query: Any, bound: JointBound, *tell: Message, tables: Sequence[int] = (1,)) -> Message:
        """The first question, about a query whose bound is told first."""
        binds = [{"do": "bind", "table": table, "bound": self.sender.plain(bound)} for table in tables]
        message = self.noisy(1, [query], entries=2)
        return message | {"tell": [*message["tell"], *tell, *binds]}


def well(other: Other) -> Talk:
    bold = Bold(other)
    yield from bold.begin()
    yield bold.noisy(1, [COUNTS])
    yield bold.noisy(2, [BINS])
    yield {"end": True, "certificate": "{}"}


def test_all_is_well_and_sites_draw_by_themselves(place: Path, tmp_path: Path) -> None:
    """Two answers of one length: flat, masked, and with the noise that the record names."""
    visit, sent = visited(place, well, replace(TRUSTLESS, record=tmp_path / "log"))
    assert (visit.answers, visit.releases, visit.spent) == (2, 2, True)
    assert [said["shape"] for said in answers(sent)] == [[2], [12]]
    wanted = NoiseShares(2, 2).scale(integer_scale(CHARGE, COUNTS.sensitivity(ADD)))
    assert [json.loads(line)["noise"] for line in (tmp_path / "log").read_text().splitlines()] == [[wanted]] * 2
    assert not list(place.glob("north.key.fits"))  # noisy totals tell no difference of fits, and none is remembered


def test_what_is_sent_is_the_answer_with_the_noise(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[np.ndarray] = []

    def noisy(_: ShareOfNoise, exact: np.ndarray, scale: float) -> np.ndarray:
        drawn.append(SystemSource().gaussian(scale, exact.size).reshape(exact.shape))
        return exact + drawn[-1]

    monkeypatch.setattr(ShareOfNoise, "noisy", noisy)
    totals: list[np.ndarray] = []

    def talk(other: Other) -> Talk:
        bold, transcript = Bold(other), Transcript(SESSION)
        ready = yield SHARED
        transcript.add(msgpack.packb(SHARED))
        keys = {"keys": bold.keys(ready), "charges": [CHARGE.to_dict()]}
        for message in (keys, {"begin": "a"}, bold.noisy(1, [BINS])):
            digest = transcript.add(msgpack.packb(message))
            said = yield message
        south = share(np.zeros(12, np.int64), "south", other.secrets, digest)
        totals.append((np.frombuffer(said["bytes"], np.uint64) + south).view(np.int64))
        yield {"end": True, "certificate": "{}"}

    visited(place, talk, TRUSTLESS)
    exact = (totals[0] - drawn[0].reshape(-1)).reshape(6, 2)
    np.testing.assert_array_equal(exact[[0, 1, 4]], [[7, 0], [0, 7], [0, 7]])
    assert np.any(drawn[0])


def invited(**facts: Any) -> Callable[[Other], Talk]:
    def talk(_: Other) -> Talk:
        yield INVITATION | facts

    return talk


@pytest.mark.parametrize("honest", [3, 0, True, "2", None])
def test_noise_for_more_honest_sites_than_were_agreed_is_refused(place: Path, honest: Any) -> None:
    error, sent = visited(place, invited(honest=honest), TRUSTLESS)
    assert isinstance(error, SitesError)
    assert "trusts nobody (--honest 2), and the coordinator" in error.message
    assert not any("ready" in said for said in sent)


def test_a_site_that_trusts_the_coordinator_draws_no_noise(place: Path) -> None:
    error, _ = visited(place, invited(honest=1))
    assert "--trust none" in error.message


def asking(number: int, *queries: Any, charge: Charge = CHARGE, **more: Any) -> Callable[[Other], Talk]:
    def talk(other: Other) -> Talk:
        bold = Bold(other)
        yield from bold.begin()
        for each in range(1, number + 1):
            yield bold.noisy(each, list(queries), charge, **more)

    return talk


def exact_sums(other: Other) -> Talk:
    bold = Bold(other)
    yield from bold.begin()
    yield bold.ask(1, COUNTS)


def both(other: Other) -> Talk:
    bold = Bold(other)
    yield from bold.begin()
    message = bold.noisy(1, [COUNTS])
    yield message | {"look": bold.ask(1, COUNTS)["look"], "questions": []}


def unweighted(other: Other) -> Talk:
    """Rows that are too long for the bound count in full: the noise would not cover them."""
    bold, (bound, queries) = Bold(other), joint((10.0, 10.0))
    yield from bold.begin()
    rule = weighted_rule(HALVES, (1.0, 1.0), np.ones(len(level_weights())))
    histogram = queries[0].histogram
    assert isinstance(histogram, Histogram)
    yield bold.bounded(JointHistogram(replace(histogram, rule=rule), bound), bound)


def in_two_tables(other: Other) -> Talk:
    """One round pays for each part once; a row may have all its length in one part here, and in the other there."""
    bold, (bound, queries) = Bold(other), joint((10.0, 10.0))
    yield from bold.begin()
    seal = {"do": "seal", "table": 2, "recipe": {"kind": "columns"}}
    yield bold.bounded(queries[0], bound, seal, tables=(1, 2))
    yield bold.noisy(2, [queries[1]], entries=0) | {"table": 2}
    yield {"end": True, "certificate": "{}"}


@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (in_two_tables, "bounded together in one table"),
        (asking(1, COUNTS, charge=Gaussian(0.001)), "more is asked than was charged"),
        (asking(1, COUNTS, charge=Laplace(10.0)), "shares of Gaussian noise alone"),
        (asking(1, COUNTS, charge=NonPrivate()), "shares of Gaussian noise alone"),
        (asking(1, COUNTS, BINS), "more is asked than was charged"),
        (asking(2, COUNTS, COUNTS), "more is asked than was charged"),
        (asking(1, COUNTS, entries=0), "more is asked than was charged"),
        (asking(3, COUNTS), "not cover|more|budget"),
        (asking(1), "some questions were expected"),
        (exact_sums, "some questions were expected"),
        (both, "some questions were expected"),
        (asking(1, MomentSum(1, 2, 100), recipe={"kind": "vectors", **numbers_of()}), "radius 100"),
        (asking(1, SumsOf(COUNTS)), "came in the place of"),
        (unweighted, "count more than its bound allows"),
    ],
)
def test_a_malicious_coordinator_is_refused(place: Path, talk: Callable[[Other], Talk], words: str) -> None:
    error, sent = visited(place, talk, TRUSTLESS)
    assert isinstance(error, SitesError)
    assert re.search(words, error.message), error.message
    assert len(answers(sent)) <= 2


def test_a_joint_release_that_keeps_its_bound_is_answered(place: Path) -> None:
    def talk(other: Other) -> Talk:
        bold, (bound, queries) = Bold(other), joint((10.0, 10.0))
        yield from bold.begin()
        yield bold.bounded(queries[0], bound)
        yield {"end": True, "certificate": "{}"}

    visit, sent = visited(place, talk, TRUSTLESS)
    assert not isinstance(visit, SitesError), visit.message
    assert visit.answers == 1
    assert answers(sent)[0]["shape"] == [6]


# Whole fits.


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("trustless")
    make_parties(directory)
    return directory


def files(folder: Path) -> dict[str, Path]:
    return cut(table(ROWS).X.assign(label=table(ROWS).two), folder)


def forest(**more: Any) -> Any:
    asked = {"n_trees": 4, "epsilon": 1.0, "random_state": 1, "schema": declared("two")} | more
    return tacit.RandomTreesClassifier(**asked)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_and_the_logs_of_any_two_sites(folder: Path, tmp_path: Path) -> None:
    """With 2 of 3 honest: logs agree, two sites' noise pays each charge, the certificate says so, the tape plays."""
    logs = {name: tmp_path / name for name in NAMES}

    def serve(*asked: Any, **agreed: Any) -> Any:
        name = Path(agreed["key"]).stem
        return tacit.serve_site(*asked, record=logs[name], **agreed)

    with joined(folder, files(folder), declared("two"), serve, honest=2, allow_seeded=False) as here:
        fitted = forest(random_state=None).fit(here.sites, tape=tmp_path / "fit.tape")
    tacit.save(fitted, tmp_path / "model.json")
    assert verify_tape(tmp_path / "model.json", tmp_path / "fit.tape").problems == ()
    certificate = fitted.certificate_
    assert certificate.verify() == []
    assert certificate.releasable
    assert {shares_of(entry.theorem) for entry in certificate.entries} == {NoiseShares(3, 2)}
    assert any("2 of the 3 sites" in text and "with 1 of the sites" in text for text in certificate.taken_as_public)
    known = towards_coordinator(certificate.entries, certificate.charges, certificate.delta)
    assert [round(each, 3) for _, each in known] == [0.804, 1.0]
    read = {name: [json.loads(line) for line in log.read_text().splitlines()] for name, log in logs.items()}
    told = [{key: line[key] for key in ("answer", "asked", "entered", "noise")} for line in read["north"]]
    for two in combinations(NAMES, 2):  # one of them is honest
        assert all([{key: line[key] for key in told[0]} for line in read[name]] == told for name in two)
    assert len(told) == certificate.releases
    for line in told:
        [entry], [noise] = line["entered"], line["noise"]
        assert 2 * noise**2 >= entry["charge"]["noise_multiplier"] ** 2 * 64**2 or noise == LEAST_SCALE


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_seeded_noise_of_sites_can_be_repeated_and_differs_by_site(folder: Path) -> None:
    def fitted(seed: int) -> Any:
        with joined(folder, files(folder), declared("two"), honest=1) as here:
            return forest(random_state=seed).fit(here.sites)

    first, again, other = fitted(1), fitted(1), fitted(2)
    assert first.model_.to_dict() == again.model_.to_dict() != other.model_.to_dict()
    assert not first.certificate_.releasable


@pytest.mark.parametrize("estimator", [tacit.MAlphaBoostClassifier, tacit.DecisionListClassifier])
def test_learners_that_choose_are_refused_before_anything_is_spent(folder: Path, estimator: Any) -> None:
    words = f"{estimator.__name__} does not learn from sites that draw the noise"
    sites = tacit.join_sites("127.0.0.1:1", parties=folder / "parties", key=folder / "coordinator.key", honest=2)
    with pytest.raises(tacit.errors.TacitError, match=f"{words}.*Nothing was spent"):
        estimator(epsilon=1.0, delta=1e-6, schema=declared("two")).fit(sites)


def test_the_coordinator_alone_learns_less_than_is_charged() -> None:
    shares = NoiseShares(5, 3)

    class Told:
        theorem = "x" + shares.claim

    known = towards_coordinator([Told()], [Repeated(Gaussian(20.0), 4)], 1e-6)  # type: ignore[list-item]
    assert [k for k, _ in known] == [0, 1, 2]
    assert known[2][1] == pytest.approx(epsilon([Gaussian(10.0)], 1e-6))
    assert known[0][1] == pytest.approx(epsilon([Gaussian(10.0 * math.sqrt(5 / 3))], 1e-6))
    Told.theorem = "x"
    assert towards_coordinator([Told()], [Gaussian(20.0)], 1e-6) == []  # type: ignore[list-item]


def test_renyi_bounds_of_skellam_noise_would_cost_more_than_the_exact_curve() -> None:
    """Why shares are discrete Gaussians: Renyi bounds are at least those of Gaussian noise."""
    multiplier = next(z / 1000 for z in range(3000, 6000) if epsilon([Gaussian(z / 1000)], 1e-6) <= 1.0)
    orders = tuple(1.0 + i / 10 for i in range(1, 1000))
    bound = Renyi(orders, tuple(order / (2 * multiplier**2) for order in orders))
    assert epsilon([bound], 1e-6) > 1.06
