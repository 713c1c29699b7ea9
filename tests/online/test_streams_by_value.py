"""Streams with a known target, and features in words, on few coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.online_streams import point_function_stream
from tacit.online.decision_list_winnow import FeatureError, named_conjunctions


def test_the_target_of_point_functions_comes_when_it_is_said_to() -> None:
    """Section 4.4: at rounds 1, 2, 4, 8, ..., or at round 1 and by a coin in others; no other point comes twice."""
    for share, least, most in ((None, 9, 9), (0.25, 80, 120)):
        points = list(point_function_stream(np.random.default_rng(1), 400, share))
        assert len(points) == 400
        comes = [t for t, (_, label) in enumerate(points, 1) if label == 1]
        assert least <= len(comes) <= most
        assert comes[0] == 1
        assert share is not None or comes == [2**k for k in range(9)]
        assert {points[t - 1][0] for t in comes} == {points[0][0]}
        others = [point for point, label in points if label == -1]
        assert len({points[0][0], *others}) == 1 + len(others)


def test_features_in_words_by_hand() -> None:
    result = named_conjunctions(["a", "b and not a"], ["a", "b"])
    assert result.places.tolist() == [[0, -1], [1, 0]]
    assert result.signs.tolist() == [[True, True], [True, False]]
    names = [f"c{i}" for i in range(13)]
    for known, ends in ((names[:12], "'c11'. Nothing"), (names, "'c11', ... (13 in all). Nothing")):
        with pytest.raises(FeatureError) as caught:
            named_conjunctions(["d"], known)
        assert ends in str(caught.value)
