"""Public choices have a seed of their own, and a number of their own: noise moves neither."""

from __future__ import annotations

import hashlib

import numpy as np

from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise import PublicChoices, SeededSource
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule


def chosen(choices: PublicChoices, times: int = 2) -> list[tuple[float, ...]]:
    return [tuple(choices.generator().random(2).tolist()) for _ in range(times)]


def test_choices_repeat_with_their_seed_alone() -> None:
    assert chosen(PublicChoices(b"seed")) == chosen(PublicChoices(b"seed"))
    assert len({*chosen(PublicChoices(b"seed")), *chosen(PublicChoices(b"sees"))}) == 4


def test_the_stream_of_a_seed_stays_what_it_is() -> None:
    """Fits that were begun by an earlier version go on, and tapes are replayed by a later one."""
    generator = PublicChoices(bytes(range(32))).generator()
    expected = np.random.default_rng(np.random.SeedSequence(int.from_bytes(bytes(range(32)), "big"), spawn_key=(0,)))
    assert generator.integers(1 << 62, size=4).tolist() == expected.integers(1 << 62, size=4).tolist()
    assert PublicChoices.of(3).seed == hashlib.sha256(b"tacit public choices 3").digest()


def test_fresh_choices_have_32_bytes_of_the_system() -> None:
    seeds = {PublicChoices.of(None).seed for _ in range(8)}
    assert len(seeds) == 8
    assert {len(seed) for seed in seeds} == {32}


def test_noise_moves_no_choice_and_no_choice_moves_noise() -> None:
    charge, query = Gaussian(1.0), Histogram(OneCell(), fine_count_rule(2))

    def run(before: int, chosen: int) -> tuple[list[float], float]:
        """A choice after so many measurements, and a measurement after so many more choices."""
        table = MemoryTable([np.zeros(6, np.uint8)], np.zeros(6, np.uint8), [1], 2, threads=1)
        reservation = Reservation([charge] * 5, Neighbouring.ADD_OR_REMOVE_ONE)
        curator = Curator(table, reservation, SeededSource(5), choices=PublicChoices(b"seed"))
        for _ in range(before):
            curator.measure(query, charge, "noise")
        choice = curator.public_generator.random(3).tolist()
        for _ in range(chosen):
            _ = curator.public_generator
        return choice, float(curator.measure(query, charge, "noise").value.sum())

    assert run(0, 0)[0] == run(3, 0)[0]
    assert run(0, 0)[1] == run(0, 3)[1]
    assert run(0, 0)[1] != run(1, 0)[1]
