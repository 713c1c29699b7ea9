"""Streams with a known target, and features in words, on few coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.online_streams import (
    classes_stream,
    disjunction_stream,
    drifting_stream,
    list_stream,
    majority_stream,
    point_function_stream,
)
from tacit.online.decision_list_winnow import FeatureError, named_conjunctions


def test_labels_follow_from_all_coordinates() -> None:
    generator = np.random.default_rng(0)
    points, labels = majority_stream(generator, 200, 3, 3)
    assert set(points.ravel().tolist()) == set(labels.tolist()) == {-1, 1}
    assert (labels == np.sign(points.sum(axis=1))).all()
    points, labels = disjunction_stream(generator, 200, 3, 3)
    assert (labels == points.max(axis=1)).all()
    points, labels = drifting_stream(generator, 300, 3, 3, 3)
    turns = np.repeat([1, -1, 1], 100)
    assert (labels == turns * np.sign(points.sum(axis=1))).all()
    points, codes = classes_stream(generator, 200, 1, 2)
    assert (codes == (points[:, 0] < 0)).all()


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


def test_a_list_of_one_rule_follows_one_literal() -> None:
    seen = set()
    for seed in range(8):
        points, labels = list_stream(np.random.default_rng(seed), 50, 1, (1, -1))
        (sign,) = set((points[:, 0] * labels).tolist())
        seen.add(sign)
    assert seen == {-1, 1}


def test_features_in_words_by_hand() -> None:
    found = named_conjunctions(["a", "b and not a"], ["a", "b"])
    assert found.places.tolist() == [[0, -1], [1, 0]]
    assert found.signs.tolist() == [[True, True], [True, False]]
    names = [f"c{i}" for i in range(13)]
    for known, ends in ((names[:12], "'c11'. Nothing"), (names, "'c11', ... (13 in all). Nothing")):
        with pytest.raises(FeatureError) as caught:
            named_conjunctions(["d"], known)
        assert ends in str(caught.value)
