"""Noise ahead of time: never used twice, and in order for a source that must repeat."""

from __future__ import annotations

import numpy as np

from tacit.curator.draws import Draws
from tacit.noise.seeded_source import SeededSource


class Numbered:
    """A source whose draws can be told apart."""

    name = "numbered"
    releasable = True

    def __init__(self):
        self.drawn = 0

    def gaussian(self, scale, size):
        self.drawn += 1
        return np.full(size, self.drawn)

    laplace = gaussian


def test_no_vector_is_handed_out_twice():
    draws = Draws(Numbered())
    handed = [draws.start(True, 2.0, 3).result()[0] for _ in range(20)]
    handed += [draws.start(False, 2.0, 3).result()[0] for _ in range(20)]
    assert len(set(handed)) == 40


def test_a_long_vector_is_divided_among_workers():
    source = Numbered()
    drawn = Draws(source, workers=3).start(True, 2.0, 1000).result()
    assert drawn.shape == (1000,)
    assert sorted(np.unique(drawn, return_counts=True)[1]) == [333, 333, 334]
    assert source.drawn == 3


def test_what_repeats_is_begun_ahead_and_the_rest_is_not():
    source = Numbered()
    draws = Draws(source, workers=1)
    for scale in (1.0, 2.0, 3.0):
        draws.start(True, scale, 1).result()
    assert source.drawn == 3
    for _ in range(2):
        draws.start(True, 1.0, 1).result()
    assert source.drawn == 5
    draws.start(True, 1.0, 1).result()
    draws.start(True, 9.0, 1).result()  # one worker, in order: the one begun ahead is done by now
    assert source.drawn == 8


def test_a_seeded_source_is_drawn_in_the_order_of_asking():
    draws, plain = Draws(SeededSource(3)), SeededSource(3)
    for scale in (5.0, 5.0, 7.0, 5.0, 5.0):
        assert (draws.start(True, scale, 4).result() == plain.gaussian(scale, 4)).all()
