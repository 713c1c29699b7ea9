"""Noise under public choices that can be made again: it is the source's, unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.noise import NoiseSource, PubliclySeeded, SeededSource, SystemSource


class Asked:
    """A source that answers with what it was asked."""

    name, releasable = "asked", True

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: (name, *arguments)


@pytest.mark.parametrize(
    ("draw", "arguments"),
    [
        ("gaussian", (7.5, 3)),
        ("laplace", (7.5, 3)),
        ("exponential", ("scores", 7.5)),
        ("exponential_place", ("blocks", 7.5)),
        ("exponential_runs", ("scores", "lengths", 7.5)),
        ("words", (3,)),
    ],
)
def test_every_draw_is_the_source_s_at_the_scale_that_was_asked_for(draw: str, arguments: tuple[Any, ...]) -> None:
    source = PubliclySeeded(Asked(), b"seed")  # type: ignore[arg-type]
    assert getattr(source, draw)(*arguments) == (draw, *arguments)


@pytest.mark.parametrize("source", [SystemSource(), SeededSource(3)], ids=["tacit", "seeded"])
def test_public_choices_repeat_and_noise_does_not(source: NoiseSource) -> None:
    one, again, other = (PubliclySeeded(source, seed) for seed in (b"seed", b"seed", b"sees"))
    assert (one.name, one.releasable) == (source.name, source.releasable)
    assert len({tuple(each.gaussian(1e9, 4).tolist()) for each in (one, again, one)}) == 3
    chosen = [[each.public_generator().random(2).tolist() for _ in range(2)] for each in (one, again, other)]
    assert chosen[0] == chosen[1]
    assert len({tuple(pair) for pairs in chosen for pair in pairs}) == 4
