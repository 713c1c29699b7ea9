"""Whose sampler draws: ours, or OpenDP's where a caller asks for it; certificates say which."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tacit
from tacit.curator.options import chosen_source
from tacit.noise import SeededSource, SystemSource
from tacit.noise.opendp_source import OpenDPSource


def test_the_choice_holds_inside_and_nowhere_else():
    assert type(chosen_source(None)) is SystemSource
    records = []
    with tacit.options(noise="opendp"):
        assert type(chosen_source(None)) is OpenDPSource
        assert type(chosen_source(3)) is SeededSource
        with tacit.options(noise="tacit"):
            assert type(chosen_source(None)) is SystemSource
        thread = threading.Thread(target=lambda: records.append(type(chosen_source(None))))
        thread.start()
        thread.join()
    assert records == [SystemSource]
    with pytest.raises(KeyError), tacit.options(noise="opendp"):
        raise KeyError
    assert type(chosen_source(None)) is SystemSource


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="nothing was spent"), tacit.options(noise="none"):
        pass
    with pytest.raises(TypeError):
        tacit.options("opendp")


@pytest.mark.parametrize("noise", ["tacit", "opendp"])
def test_certificates_name_the_sampler(noise):
    X = np.random.default_rng(0).random((60, 1))
    schema = {"columns": {"x0": {"kind": "numeric", "lower": 0, "upper": 1}}}
    learner = tacit.RandomTreesClassifier(n_trees=2, max_depth=1, schema=schema, classes=[0, 1])
    with tacit.options(noise=noise):
        certificate = learner.fit({"x0": X[:, 0]}, X[:, 0] > 0.5).certificate_
    assert certificate.noise_source == noise
    assert certificate.verify() == []
    assert certificate.releasable
