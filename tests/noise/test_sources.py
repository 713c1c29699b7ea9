"""All sources draw what they say they draw; a scale 10 % off would be noticed. Error bounds: tests/noise/exact.py."""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tacit.checks.mechanism import Law, check_mechanism, draws_needed, kolmogorov_bound, likelihood_ratio_rejects
from tacit.noise import NoiseSource, SeededSource, SystemSource, make_source
from tacit.noise.opendp_source import OpenDPSource
from tacit.privacy.charges import Charge, Gaussian, Laplace
from tests.noise.exact import gaussian_pmf, hoeffding_rejects, kolmogorov_rejects, laplace_pmf, softmax_pmf

SOURCES = [
    pytest.param(SystemSource(), id="tacit"),
    pytest.param(OpenDPSource(), id="opendp"),
    pytest.param(SeededSource(20), id="seeded"),
]
SCALES = [0.5, 3.0, 40.0, 12345.6]


def check(
    draw: Callable[[int], Any], claimed: Law, wrong: list[Law], charge: Charge | None = None, shift: int = 1
) -> None:
    """Accepts the draws, and shows that draws from each wrong distribution are rejected by the same test."""
    generator = np.random.default_rng(1)
    n = max(draws_needed(claimed, other) for other in wrong)
    check_mechanism(draw, claimed, charge, shift=shift, wrong=wrong)
    for other in wrong:
        assert likelihood_ratio_rejects(generator.choice(len(other.p), n, p=other.p) + other.first, claimed, other)


def paid(kind: type, scale: float) -> tuple[Charge | None, int]:
    """The charge of a release that moves by a third of the scale or less, and how far that is."""
    shift = max(1, math.floor(scale / 3))
    if kind is Laplace:
        return Laplace(scale / shift), shift
    return (Gaussian(math.sqrt(scale**2 - 9) / shift) if scale > 3 else None), shift  # an integer one is charged so


@pytest.mark.law_of("gaussian", "laplace")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("kind", "law"), [(Gaussian, gaussian_pmf), (Laplace, laplace_pmf)])
def test_noise_has_its_scale(kind: Any, law: Callable[[float], Law], source: NoiseSource, scale: float) -> None:
    draw = source.gaussian if kind is Gaussian else source.laplace
    check(lambda n: draw(scale, n), law(scale), [law(0.9 * scale), law(1.1 * scale)], *paid(kind, scale))


def test_the_shape_test_has_power() -> None:
    """A rounded continuous Gaussian at scale 0.5 and a shift by one at scale 3 are noticed by the Kolmogorov test."""
    generator = np.random.default_rng(2)
    rounded = np.rint(generator.normal(0, 0.5, 20_000)).astype(np.int64)
    assert kolmogorov_rejects(rounded, gaussian_pmf(0.5))
    shifted = np.rint(generator.normal(0, 3.0, 20_000)).astype(np.int64) + 1
    assert kolmogorov_rejects(shifted, gaussian_pmf(3.0))
    assert kolmogorov_bound(20_000) < 0.03


SCORES = {
    "ties": ([0, 0, 1], 1.0),
    "spread": ([5, -3, 0, 2, 2, 7], 4.0),
    "huge": ([2**62, 2**62 - 2**51, 2**62, -(2**63)], 2.0**50),
    "far apart": ([-(2**63), 2**63 - 1, 2**63 - 2], 0.7),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("scores", "scale"), SCORES.values(), ids=SCORES)
def test_the_exponential_mechanism_has_its_frequencies(source: NoiseSource, scores: list[int], scale: float) -> None:
    """A permute-and-flip would fail here too: it picks the last of (0, 0, 1) in .68 of all draws instead of .58."""
    vector = np.array(scores, dtype=np.int64)
    relative = [score - max(scores) for score in scores]
    wrong = [softmax_pmf(relative, 0.6 * scale), softmax_pmf(relative, 1.6 * scale)]
    check(
        lambda n: np.array([source.exponential(vector, scale) for _ in range(n)], np.int64),
        softmax_pmf(relative, scale),
        wrong,
    )


@pytest.mark.law_of("exponential")
@pytest.mark.parametrize("source", SOURCES)
def test_the_exponential_mechanism_notices_a_scale_ten_percent_off(source: NoiseSource) -> None:
    scores = np.array([0] * 60 + [41], dtype=np.int64)  # half of the mass on the peak: the most telling
    wrong = [softmax_pmf(scores, 0.9 * 10.0), softmax_pmf(scores, 1.1 * 10.0)]
    check(
        lambda n: np.array([source.exponential(scores, 10.0) for _ in range(n)], np.int64),
        softmax_pmf(scores, 10.0),
        wrong,
    )


def test_the_exponential_mechanism_takes_many_candidates() -> None:
    scores = np.zeros(100_000, np.int64)
    scores[777] = 12
    picks = np.array([SystemSource().exponential(scores, 1.0) for _ in range(300)])
    share = np.e**12 / (np.e**12 + 99_999)
    assert not hoeffding_rejects((picks == 777).astype(float), share, 0.0, 1.0)
    assert len(set(picks[picks != 777])) > 10


def _signs(draws: np.ndarray) -> np.ndarray:
    """Bounded and, by symmetry, of mean zero."""
    return np.sign(draws).astype(float)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("lag", [1, 2, 7])
def test_successive_draws_are_independent(source: NoiseSource, lag: int) -> None:
    draws = source.laplace(5.0, 28_000).reshape(-1, 2, lag)  # disjoint pairs, `lag` apart
    assert not hoeffding_rejects((_signs(draws[:, 0]) * _signs(draws[:, 1])).ravel(), 0.0, -1.0, 1.0)
    sizes = (np.abs(draws) > 3).astype(float)
    share = 1.0 - laplace_pmf(5.0).p[np.abs(np.arange(len(laplace_pmf(5.0).p)) + laplace_pmf(5.0).first) <= 3].sum()
    assert not hoeffding_rejects((sizes[:, 0] * sizes[:, 1]).ravel(), share * share, 0.0, 1.0)


@pytest.mark.parametrize("source", SOURCES)
def test_successive_batches_are_independent(source: NoiseSource) -> None:
    first, second = source.gaussian(9.0, 10_000), source.gaussian(9.0, 10_000)
    assert not hoeffding_rejects(_signs(first) * _signs(second), 0.0, -1.0, 1.0)
    assert not kolmogorov_rejects(first - second, _difference(gaussian_pmf(9.0)))


def _difference(pmf: Law) -> Law:
    return Law(-(len(pmf.p) - 1), np.convolve(pmf.p, pmf.p[::-1]))


def test_the_independence_test_has_power() -> None:
    once = SeededSource(3).laplace(5.0, 5_000)
    assert hoeffding_rejects(_signs(once) * _signs(once), 0.0, -1.0, 1.0)
    mixed = np.where(np.random.default_rng(0).random(5_000) < 0.2, once, SeededSource(4).laplace(5.0, 5_000))
    assert hoeffding_rejects(_signs(once) * _signs(mixed), 0.0, -1.0, 1.0)


def test_noise_is_never_used_twice() -> None:
    fresh = [SystemSource(), SystemSource(), OpenDPSource()]
    seeded = SeededSource(5)
    for draws in (
        [source.gaussian(1e6, 40) for source in fresh for _ in range(2)],
        [seeded.gaussian(1e6, 40) for _ in range(4)] + [SeededSource(6).gaussian(1e6, 40)],
        [seeded.laplace(1e6, 40) for _ in range(4)] + [SeededSource(6).laplace(1e6, 40)],
    ):
        assert len({tuple(d) for d in draws}) == len(draws)
        assert len({int(value) for d in draws for value in d}) > 0.99 * 40 * len(draws)
    words = [source.words(40) for source in (*fresh, *fresh, seeded, seeded, SeededSource(6))]
    assert len({int(word) for row in words for word in row}) == 40 * len(words)


def test_a_seed_repeats_and_says_so() -> None:
    def everything(source: NoiseSource) -> list[object]:
        return [
            source.gaussian(7.5, 50).tolist(),
            source.laplace(7.5, 50).tolist(),
            [source.exponential(np.arange(20), 3.0) for _ in range(20)],
            source.words(3).tolist(),
        ]

    assert everything(make_source(11)) == everything(make_source(np.int64(11)))
    assert everything(make_source(11)) != everything(make_source(12))
    assert not make_source(11).releasable
    assert make_source(None).releasable
    names = (make_source(11).name, make_source(None).name, make_source(None, "opendp").name)
    assert names == ("seeded", "tacit", "opendp")


def test_one_seed_for_two_purposes_gives_unrelated_noise() -> None:
    """The first call of every kind under one seed: streams differ though number and seed of the call agree."""
    first = np.sign(SeededSource(8).gaussian(1e6, 5_000)) * np.sign(SeededSource(8).laplace(1e6, 5_000))
    assert not hoeffding_rejects(first.astype(float), 0.0, -1.0, 1.0)
    plain = np.random.default_rng(8).laplace(size=5_000)
    assert not hoeffding_rejects(np.sign(plain) * _signs(SeededSource(8).laplace(1e6, 5_000)), 0.0, -1.0, 1.0)


@pytest.mark.law_of("words")
@pytest.mark.parametrize("source", SOURCES)
def test_words_are_uniform_in_every_bit(source: NoiseSource) -> None:
    words = source.words(20_000)
    assert words.dtype == np.uint64
    for shift in range(0, 64, 8):
        bytes_ = (words >> np.uint64(shift)).astype(np.uint8).astype(np.int64)
        assert not kolmogorov_rejects(bytes_, Law(0, np.ones(256)))


@pytest.mark.parametrize("source", SOURCES)
def test_threads_share_a_source(source: NoiseSource) -> None:
    with ThreadPoolExecutor(4) as pool:
        draws = list(pool.map(lambda _: source.gaussian(1e9, 16), range(64)))
    assert len({int(value) for d in draws for value in d}) == 64 * 16


SHARED = (SystemSource(), OpenDPSource())
"""Made, and used, before the fork."""


def _draw_all(queue: multiprocessing.queues.Queue[object]) -> None:
    for source in SHARED:
        queue.put((source.gaussian(1e9, 8).tolist(), source.exponential(np.zeros(1 << 20, np.int64), 1.0)))


def test_forked_processes_do_not_repeat_each_other() -> None:
    """A random state copied by fork would give cross-validation in two processes, and their parent, the same noise."""
    for source in SHARED:
        source.gaussian(1e9, 8)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_draw_all, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    _draw_all(queue)
    results = [queue.get(timeout=60) for _ in range(6)]
    for child in children:
        child.join()
    assert len({value for draws, _ in results for value in draws}) == 48
    assert len({index for _, index in results}) == 6


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 2.0**50 * 1.001])
def test_a_scale_that_cannot_be_right_is_refused(source: NoiseSource, scale: float) -> None:
    for draw in (
        lambda: source.gaussian(scale, 3),
        lambda: source.laplace(scale, 3),
        lambda: source.exponential(np.arange(3), scale),
    ):
        with pytest.raises(ValueError, match="scale"):
            draw()


@pytest.mark.parametrize("source", SOURCES)
def test_sizes_and_scores(source: NoiseSource) -> None:
    assert source.gaussian(3.0, 0).shape == source.laplace(3.0, 0).shape == (0,)
    assert np.abs(source.gaussian(2.0**50, 1000)).max() < 2**56
    assert source.exponential(np.array([4], np.int64), 1.0) == 0
    assert source.exponential(np.array([0, 10**6], np.int64), 1e-300) == 1
    with pytest.raises(ValueError, match="negative"):
        source.gaussian(1.0, -1)
    with pytest.raises(TypeError, match="int64"):
        source.exponential(np.array([0.5, 1.5]), 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        source.exponential(np.zeros(0, np.int64), 1.0)


@pytest.mark.parametrize("state", [True, 1.5, "7", np.random.RandomState(0), np.random.default_rng(0)])
def test_other_random_states_are_refused(state: object) -> None:
    with pytest.raises(TypeError, match="random_state must be None"):
        make_source(state)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        make_source(-1)


def test_an_unknown_sampler_is_refused() -> None:
    with pytest.raises(ValueError, match="'tacit' or 'opendp', got 'numpy'; nothing was spent"):
        make_source(None, "numpy")


def test_opendp_is_imported_late_and_lean() -> None:
    script = (
        "import sys, tacit.noise\n"
        "tacit.noise.make_source(None).gaussian(3.0, 2); assert 'opendp' not in sys.modules\n"
        "tacit.noise.make_source(None, 'opendp').gaussian(3.0, 2)\n"
        "assert 'opendp' in sys.modules and not {'polars', 'pandas', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": ":".join(sys.path)})
