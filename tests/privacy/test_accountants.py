"""Composition against closed forms, brute force and dp_accounting: never below the truth, and close to it."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from dp_accounting.rdp import compute_epsilon
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.privacy.accountants import delta, epsilon
from tacit.privacy.charges import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyLoss,
    Pure,
    Renyi,
    Repeated,
    charge_from_dict,
)
from tacit.privacy.composition import parts_of
from tacit.privacy.gaussian import gaussian_delta, gaussian_epsilon

DELTAS = [1e-12, 1e-9, 1e-6, 1e-3, 0.05]


def hockey_stick(losses: np.ndarray, masses: np.ndarray, at: float) -> float:
    """Delta of a discrete privacy loss."""
    return float(np.sum(masses * np.maximum(0.0, -np.expm1(np.minimum(at - losses, 0.0)))))


def responses(*epsilons: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses and masses of independent randomised responses, by enumeration."""
    losses, masses = np.zeros(1), np.ones(1)
    for e in epsilons:
        truth = 1 / (1 + math.exp(-e))
        losses = np.concatenate([losses + e, losses - e])
        masses = np.concatenate([masses * truth, masses * (1 - truth)])
    return losses, masses


def assert_just_above(value: float, exact: float, slack: float = 1e-3, floor: float = 3e-13) -> None:
    assert exact * (1 - 1e-9) <= value <= exact * (1 + slack) + floor


def test_gaussian_releases_compose_exactly() -> None:
    multipliers = [3.0, 4.0, 5.0, 7.5]
    mu = math.sqrt(sum(z**-2 for z in multipliers))
    charges = [Gaussian(z) for z in multipliers]
    for d in DELTAS:
        assert epsilon(charges, d) == pytest.approx(gaussian_epsilon(mu, d), rel=1e-12)
    assert delta(charges, 1.0) == pytest.approx(gaussian_delta(mu, 1.0), rel=1e-12)
    assert epsilon([Repeated(Gaussian(10.0), 25)], 1e-6) == pytest.approx(epsilon([Gaussian(2.0)], 1e-6), rel=1e-12)


@pytest.mark.parametrize("epsilons", [(0.7,), (0.5, 0.5, 0.5), (0.1,) * 12, (0.05, 0.1, 0.2, 0.4, 0.8)])
def test_pure_charges_against_enumerated_randomised_response(epsilons: tuple[float, ...]) -> None:
    charges = [Pure(e) for e in epsilons]
    losses, masses = responses(*epsilons)
    for at in np.linspace(0, 0.95 * sum(epsilons), 9):
        assert_just_above(delta(charges, at), hockey_stick(losses, masses, at))
    for d in DELTAS:
        result = epsilon(charges, d)
        assert hockey_stick(losses, masses, result) <= d * (1 + 1e-9)
        assert result <= sum(epsilons) * (1 + 1e-12)


def test_small_deltas_survive_the_convolution() -> None:
    """Two binomial groups, so that a Fourier convolution happens; enumerated by hand down to delta = 1e-11."""
    charges = [Repeated(Pure(0.1), 60), Repeated(Pure(0.21), 40)]

    def binomial(e: float, times: int) -> tuple[np.ndarray, np.ndarray]:
        heads = np.arange(times + 1)
        truth = 1 / (1 + math.exp(-e))
        masses = [math.comb(times, h) * truth**h * (1 - truth) ** (times - h) for h in range(times + 1)]
        return e * (2 * heads - times), np.array(masses)

    (a, p), (b, q) = binomial(0.1, 60), binomial(0.21, 40)
    losses, masses = (a[:, None] + b[None, :]).ravel(), (p[:, None] * q[None, :]).ravel()
    for d in (1e-11, 1e-9, 1e-6, 1e-3):
        result = epsilon(charges, d)
        assert hockey_stick(losses, masses, result) <= d
        assert hockey_stick(losses, masses, result * 0.995) > d


@pytest.mark.parametrize("multiplier", [0.8, 3.0])
def test_a_gaussian_beside_randomised_responses(multiplier: float) -> None:
    """Exact: the Gaussian's delta, averaged over the losses of the responses."""
    losses, masses = responses(0.3, 0.3, 0.6)

    def gaussian_part(at: float) -> float:
        mu = 1 / multiplier
        if at >= 0:
            return gaussian_delta(mu, at)
        return -math.expm1(at) + math.exp(at) * gaussian_delta(mu, -at)  # the symmetry of the Gaussian trade-off

    charges = [Gaussian(multiplier), Pure(0.3), Laplace(1 / 0.3), Pure(0.6)]
    for at in (0.0, 0.5, 1.0, 2.0, 4.0):
        exact = sum(float(m) * gaussian_part(at - x) for x, m in zip(losses, masses, strict=True))
        assert_just_above(delta(charges, at), exact)


def test_approximate_charges_against_enumeration() -> None:
    charge = ApproxDP(0.4, 1e-7)
    losses, masses = responses(0.4, 0.4, 0.4)
    stays = (1 - 1e-7) ** 3
    for at in (0.0, 0.3, 0.9, 1.1):
        exact = 1 - stays + stays * hockey_stick(losses, masses, at)
        assert_just_above(delta([Repeated(charge, 3)], at), exact)
    assert epsilon([charge], 1e-7) == pytest.approx(0.4)
    assert epsilon([charge], 0.99e-7) == math.inf
    assert delta([charge], 0.4) == pytest.approx(1e-7, rel=1e-5)


def gaussian_losses(mu: float, step: float) -> PrivacyLoss:
    """A Gaussian's privacy loss ``N(mu^2 / 2, mu^2)``, cut into cells and rounded up."""
    edges = mu * mu / 2 + mu * np.arange(-9, 9 + step, step)
    cdf = np.array([math.erfc(-(x - mu * mu / 2) / mu / math.sqrt(2)) / 2 for x in edges])
    masses = np.diff(cdf)
    masses[0] += cdf[0]
    return PrivacyLoss(tuple(edges[1:]), tuple(masses), 1 - float(masses.sum()) if masses.sum() < 1 else 0.0)


@pytest.mark.parametrize("times", [1, 7])
def test_explicit_privacy_losses(times: int) -> None:
    charge = gaussian_losses(0.4, 0.01)
    for d in (1e-9, 1e-6, 1e-3):
        exact = gaussian_epsilon(0.4 * math.sqrt(times), d)
        assert exact <= epsilon([Repeated(charge, times)], d) <= exact * 1.05


def test_a_loss_that_never_occurs_changes_no_cost() -> None:
    """Randomised response, and the same with an atom of probability 0 beyond: at high orders its moments were all 0."""
    yes = 1 / (1 + math.exp(-1.0))
    plain = PrivacyLoss((-1.0, 1.0), (1 - yes, yes))
    padded = PrivacyLoss((-9.0, -1.0, 1.0, 9.0), (0.0, 1 - yes, yes, 0.0))
    for others in ([], [Gaussian(2.0)], [ZCDP(0.01)]):
        for d in (1e-9, 1e-3):
            result = epsilon([padded, *others], d)
            assert result == pytest.approx(epsilon([plain, *others], d), rel=0.01)
        assert delta([padded, *others], 0.5) == pytest.approx(delta([plain, *others], 0.5), rel=0.01)


@pytest.mark.parametrize("beside", [[], [Gaussian(5.0)], [ZCDP(1e-3)], [Pure(0.1)], [Gaussian(5.0), ZCDP(1e-3)]])
def test_a_loss_that_may_be_infinite_has_no_moments(beside: list[Charge]) -> None:
    """What fails one time in a thousand has no epsilon at a smaller delta, whatever Renyi divergences its rest has."""
    charges = [PrivacyLoss((0.0,), (0.999,), 1e-3), *beside]
    assert math.isinf(epsilon(charges, 1e-6))
    assert 1e-3 <= delta(charges, 3.0) < 1.1e-3
    assert epsilon(charges, 2e-3) < 5.0


def test_zcdp_and_renyi_against_dp_accounting() -> None:
    orders = [1 + x / 10 for x in range(1, 600)]
    rho, eps = 0.05, 0.3
    values = [a * rho for a in orders]
    theirs, _ = compute_epsilon(orders, values, 1e-6)
    ours = epsilon([ZCDP(rho)], 1e-6)
    assert theirs * 0.99 <= ours <= theirs * (1 + 1e-9)
    curve = Renyi(tuple(orders), tuple(values))
    assert epsilon([curve], 1e-6) == pytest.approx(theirs, rel=1e-3)
    assert epsilon([curve], 1e-6) >= ours * (1 - 1e-9)
    assert epsilon([curve, ZCDP(rho)], 1e-6) == pytest.approx(epsilon([ZCDP(2 * rho)], 1e-6), rel=1e-3)
    assert epsilon([ZCDP(rho), Pure(eps)], 1e-6) < epsilon([ZCDP(rho)], 1e-6) + eps
    assert epsilon([ZCDP(rho)], 1e-6) > epsilon([Gaussian(1 / math.sqrt(2 * rho))], 1e-6)


@pytest.mark.parametrize(
    "charge",
    [Gaussian, lambda size: ZCDP(size**-2), lambda size: Pure(size**-2), lambda size: BoundedRange(size**-2),
     lambda size: ApproxDP(size**-2, 1e-9)],
)  # fmt: skip
def test_what_costs_more_than_a_trillion_is_without_limit(charge: Callable[[float], Charge]) -> None:
    """By itself and in sum; a charge is named by the noise at which it costs so much."""
    border = 1e-6  # noise of which the precision is 1e12
    for size, times, unlimited in ((1.01, 1, False), (1.5, 2, False), (0.5, 1, True), (0.99, 1, True), (1.35, 2, True)):
        charges = [charge(size * border)] * times
        assert parts_of(charges).unlimited is unlimited, (charges, unlimited)
    assert not parts_of([Repeated(charge(10.0), 10**12)]).unlimited
    assert parts_of([Repeated(charge(10.0), 10**12 + 1)]).unlimited


def test_nothing_costs_nothing_and_no_noise_costs_everything() -> None:
    for d in (0.0, 1e-6):
        assert epsilon([], d) == epsilon([Pure(0.0), BoundedRange(0.0), ZCDP(0.0)], d) == 0.0
        for charge in (NonPrivate(), Pure(math.inf), Gaussian(1e-200)):
            assert epsilon([Gaussian(1.0), charge], d) == math.inf
            assert delta([Gaussian(1.0), charge], 1.0) == 1.0


@pytest.mark.parametrize("order", [math.inf, "Infinity"])
def test_an_infinite_order_makes_nothing_free(order: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divided by it there is no number, which is smaller than any cost for whoever asks which is larger."""
    with pytest.raises(ValueError, match=r"be finite|be a number"):
        charge_from_dict({"kind": "renyi", "orders": [2.0, order], "divergences": [0.1, 0.1]})
    monkeypatch.setattr(Renyi, "__post_init__", lambda self: None)
    charges = [Renyi((2.0, math.inf), (0.1, 0.1)), Gaussian(0.5)]
    assert epsilon(charges, 1e-6) > gaussian_epsilon(2.0, 1e-6)
    assert delta(charges, 1.0) > gaussian_delta(2.0, 1.0)


def test_unknown_charges_are_refused() -> None:
    class Foreign(Charge):
        kind = "foreign"

    with pytest.raises(ValueError, match="Foreign"):
        epsilon([Gaussian(1.0), Foreign()], 1e-6)


KINDS: list[Charge] = [
    Gaussian(4.0), Laplace(5.0), BoundedRange(0.3), Pure(0.2), ZCDP(0.02), ApproxDP(0.1, 1e-8),
    Renyi((2.0, 8.0, 40.0), (0.02, 0.08, 0.5)), PrivacyLoss((-0.2, 0.0, 0.21), (0.3, 0.3, 0.4)),
]  # fmt: skip


@pytest.mark.parametrize("pair", list(itertools.combinations(KINDS, 2)), ids=lambda p: f"{p[0].kind}+{p[1].kind}")
def test_any_two_kinds_compose_and_the_figures_agree(pair: tuple[Charge, Charge]) -> None:
    """Every mixture has a finite cost, at least that of each part, at most the sum at half of delta each."""
    together = epsilon(pair, 1e-6)
    assert together >= max(epsilon([charge], 1e-6) for charge in pair) * (1 - 1e-6)
    assert together <= sum(epsilon([charge], 5e-7) for charge in pair) * (1 + 1e-5)
    assert delta(pair, together) <= 1e-6 * 1.5
    assert delta(pair, together * 0.9) > 1e-6 * 0.5


EXTREMES: list[Charge] = [
    Gaussian(1e6), Gaussian(0.01), Pure(1e-9), Pure(800.0), BoundedRange(1e-9), BoundedRange(900.0), ZCDP(1e-12),
    ZCDP(1e5), ApproxDP(1e-6, 1e-13), ApproxDP(5.0, 0.01), PrivacyLoss((0.0,), (1.0,)),
    PrivacyLoss((0.0, 30.0), (0.5, 0.5)), Repeated(Pure(1e-4), 100_000), Repeated(BoundedRange(1e-3), 20_000),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("charge", EXTREMES, ids=lambda charge: charge.kind)
def test_extremes_have_figures_and_no_warnings(charge: Charge) -> None:
    """Huge and tiny parts beside ordinary ones: at least the cost of the larger part, never nan."""
    for other in (charge, Gaussian(1.0), Pure(0.5), BoundedRange(0.3)):
        for d in (1e-12, 1e-6, 0.05):
            figure = epsilon([charge, other], d)
            assert figure >= epsilon([other], d) * (1 - 1e-4)
            if math.isfinite(figure):
                assert delta([charge, other], figure) <= d * 1.1


charges_strategy = st.one_of(
    st.floats(0.5, 50).map(Gaussian),
    st.floats(0.5, 50).map(Laplace),
    st.floats(1e-3, 2).map(BoundedRange),
    st.floats(1e-3, 2).map(Pure),
    st.floats(1e-4, 1).map(ZCDP),
    st.floats(1e-3, 1).map(lambda e: ApproxDP(e, 1e-9)),
)


@pytest.mark.parametrize("moments", [ZCDP(1e-4), Renyi((2.0, 8.0, 40.0), (2e-4, 8e-4, 5e-3))], ids=lambda c: c.kind)
@pytest.mark.parametrize("more", KINDS, ids=lambda c: c.kind)
def test_what_is_proved_of_more_releases_is_proved_of_fewer(moments: Charge, more: Charge) -> None:
    """A third charge, of whatever kind, opens no way of composing that the first two alone did not have."""
    fewer = [Gaussian(1.0), moments]
    for d in (1e-9, 1e-3):
        assert epsilon([*fewer, more], d) >= epsilon(fewer, d)
    for e in (0.5, 3.0):
        assert delta([*fewer, more], e) >= delta(fewer, e)


def test_gaussian_noise_and_little_known_by_moments_cost_little_more_than_the_noise() -> None:
    """Renyi divergences alone would say 5.222. Never less than where what is known by moments is noise, too."""
    for rho in (1e-6, 1e-4, 1e-2, 0.3):
        noise = gaussian_epsilon(math.sqrt(1.0 + 2 * rho), 1e-6)
        assert noise < epsilon([Gaussian(1.0), ZCDP(rho)], 1e-6)
        assert gaussian_delta(math.sqrt(1.0 + 2 * rho), 3.0) < delta([Gaussian(1.0), ZCDP(rho)], 3.0)
    exact = gaussian_epsilon(1.0, 1e-6)
    assert exact < epsilon([Gaussian(1.0), ZCDP(1e-4)], 1e-6) < 1.04 * exact < 5.2
    brute = min(gaussian_delta(1.0, 3.0 - s) + math.exp(-((s - 1e-4) ** 2) / 4e-4) for s in np.linspace(0.01, 1.0, 100))
    assert gaussian_delta(1.0, 3.0) < delta([Gaussian(1.0), ZCDP(1e-4)], 3.0) < 1.5 * brute


@settings(max_examples=40, deadline=None)
@given(st.lists(charges_strategy, min_size=1, max_size=5), charges_strategy, st.sampled_from(DELTAS[1:]))
def test_more_releases_never_cost_less(charges: list[Charge], more: Charge, d: float) -> None:
    before = epsilon(charges, d)
    assert epsilon([*charges, more], d) >= before * (1 - 1e-4)
    assert epsilon([more, *reversed(charges)], d) == epsilon([*charges, more], d)


@settings(max_examples=30, deadline=None)
@given(st.lists(charges_strategy, min_size=1, max_size=4))
def test_epsilon_falls_as_delta_grows(charges: list[Charge]) -> None:
    figures = [epsilon(charges, d) for d in DELTAS]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(figures))


@pytest.mark.parametrize(
    "kind", [Gaussian, Laplace, lambda z: BoundedRange(1 / z), lambda z: ZCDP(1 / z), lambda z: Pure(1 / z)]
)
def test_more_noise_never_costs_more(kind) -> None:
    figures = [epsilon([Repeated(kind(z), 5), Gaussian(2.0)], 1e-6) for z in (0.5, 1.0, 1.1, 3.0, 30.0)]
    assert all(later < earlier for earlier, later in itertools.pairwise(figures))


def test_gaussian_lists_load_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from tacit.privacy.accountants import epsilon\n"
        "from tacit.privacy.calibration import gaussian_noise_multiplier\n"
        "from tacit.privacy.charges import Gaussian\n"
        "epsilon([Gaussian(gaussian_noise_multiplier(1.0, 1e-6))], 1e-6)\n"
        "sys.exit(any(name in sys.modules for name in ('dp_accounting', 'scipy.stats', 'scipy.signal')))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


MIXED = {
    "moments beside Gaussian": [ZCDP(1e-4), Gaussian(2.0)],
    "more moments": [ZCDP(0.02), Gaussian(5.0)],
    "moments beside pure": [ZCDP(0.003), Repeated(Pure(0.1), 20)],
    "a curve beside ranges": [Renyi((2.0, 8.0, 32.0), (0.001, 0.004, 0.016)), Repeated(BoundedRange(0.2), 30)],
    "failures": [ApproxDP(0.1, 1e-10), ZCDP(1e-3), Gaussian(3.0)],
    "no moments": [Gaussian(3.0), Pure(0.3), Repeated(BoundedRange(0.1), 10)],
}


@pytest.mark.parametrize("charges", MIXED.values(), ids=MIXED)
@pytest.mark.parametrize("at", [1e-9, 1e-6, 1e-3])
def test_the_delta_of_an_epsilon_is_that_which_it_was_of(charges: list[Charge], at: float) -> None:
    assert delta(charges, epsilon(charges, at)) <= at * (1 + 2e-4)


def test_no_epsilon_is_so_large_that_nothing_is_left_of_an_infinite_loss() -> None:
    for charges in ([ApproxDP(0.1, 1e-8)], [PrivacyLoss((0.0,), (1 - 1e-8,), 1e-8)], [ApproxDP(0.0, 1e-8), ZCDP(1.0)]):
        assert 1e-8 * (1 - 1e-6) <= delta(charges, math.inf) < 1.1e-8
    assert delta([Pure(3.0), Gaussian(1.0), ZCDP(0.1)], math.inf) < 1e-12
