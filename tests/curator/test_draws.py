"""Noise ahead of time: never used twice, and in order for a source that must repeat."""

from __future__ import annotations

import numpy as np

from tacit.curator.draws import ASKED_OFTEN, LARGE, MOST_AHEAD_IN_ALL, Draws
from tacit.noise.seeded_source import SeededSource


class Numbered:
    """A source whose draws can be told apart."""

    name = "numbered"
    releasable = True

    def __init__(self):
        self.calls = 0
        self.drawn = 0

    def gaussian(self, scale, size):
        self.calls += 1
        self.drawn += size
        return np.arange(self.drawn - size, self.drawn)

    laplace = gaussian


def test_no_draw_is_handed_out_twice():
    source = Numbered()
    draws = Draws(source, workers=1)
    handed = [draws.start(gaussian, 2.0, 3).result() for gaussian in (True, False) for _ in range(40)]
    assert all(vector.shape == (3,) for vector in handed)
    assert len(set(np.concatenate(handed).tolist())) == 240


def test_a_long_vector_is_divided_among_workers():
    source = Numbered()
    drawing = Draws(source, workers=3).start(True, 2.0, 1000)
    assert sorted(len(part.result()) for part, _ in drawing.parts) == [333, 333, 334]
    assert drawing.result().shape == (1000,)


def test_what_repeats_is_begun_ahead_and_the_rest_is_not():
    source = Numbered()
    draws = Draws(source, workers=1)
    for scale in (1.0, 2.0, 3.0, 1.0):
        draws.start(True, scale, 2).result()
    assert source.drawn == 8
    draws.start(True, 1.0, 2).result()
    draws.start(True, 9.0, 2).result()  # one worker, in order: what was begun ahead is done by now
    assert source.drawn == 14
    calls = source.calls
    for _ in range(24):
        draws.start(True, 1.0, 2).result()
    assert source.calls - calls < 12  # several in one call


def test_little_is_begun_ahead_of_long_vectors_and_in_all():
    source = Numbered()
    draws = Draws(source, workers=1)
    for _ in range(40):
        draws.start(True, 1.0, LARGE).result()
    assert source.drawn <= 42 * LARGE
    for scale in range(2, 1000):
        for _ in range(ASKED_OFTEN):
            draws.start(True, float(scale), 1).result()
    draws.start(True, 0.5, 1).result()
    assert source.drawn - 42 * LARGE <= 998 * ASKED_OFTEN + 1 + MOST_AHEAD_IN_ALL


def test_a_seeded_source_is_drawn_in_the_order_of_asking():
    draws, plain = Draws(SeededSource(3)), SeededSource(3)
    for scale in (5.0, 5.0, 7.0, 5.0, 5.0):
        assert (draws.start(True, scale, 4).result() == plain.gaussian(scale, 4)).all()
