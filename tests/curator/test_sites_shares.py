"""Secret shares by value: they add up to the sum, and one alone is uniform."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from scipy import stats

from tacit.curator.sites import shares
from tacit.curator.sites.shares import PairKey, Transcript, mask, opened, share

NAMES = ("a", "b", "c", "d")


def secrets_of(names: tuple[str, ...] = NAMES, session: bytes = b"s" * 32) -> dict[str, dict[str, bytes]]:
    keys = {name: PairKey() for name in names}
    return {
        name: key.secrets(name, {other: keys[other].public for other in names if other != name}, session)
        for name, key in keys.items()
    }


def sums_of(seed: int, size: int = 50) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    low, high = np.iinfo(np.int64).min // 4, np.iinfo(np.int64).max // 4
    return {name: draw.integers(low, high, size) for name in NAMES}


@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_to_the_sum(seed: int) -> None:
    secrets, sums = secrets_of(), sums_of(seed)
    sent = [share(sums[name], name, secrets[name], b"t") for name in NAMES]
    np.testing.assert_array_equal(opened(sent), np.sum(list(sums.values()), axis=0))


def test_all_but_one_share_do_not() -> None:
    secrets, sums = secrets_of(), sums_of(1)
    sent = [share(sums[name], name, secrets[name], b"t") for name in NAMES[:3]]
    assert not (opened(sent) == np.sum([sums[name] for name in NAMES[:3]], axis=0)).any()


def bytes_of_shares(zeros: int = 40_000) -> Iterator[Any]:
    """The bytes of one site's shares of nothing at all, over several fits."""
    for number in range(3):
        sent = share(np.zeros(zeros, np.int64), "b", secrets_of(session=bytes([number]) * 32)["b"], b"t")
        yield sent.view(np.uint8)


def chance_of_uniform(words: Any) -> float:
    """The chi-square test of bytes that should be alike in frequency."""
    return float(stats.chisquare(np.bincount(words, minlength=256)).pvalue)


def test_one_share_is_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    result = np.concatenate(list(bytes_of_shares()))
    assert chance_of_uniform(result) > 1e-10
    for place in range(8):  # the highest byte as well as the lowest
        assert chance_of_uniform(result[place::8]) > 1e-10
    by_pairs = result.astype(np.int64)[:-1:2] * 256 + result[1::2]
    assert stats.chisquare(np.bincount(by_pairs, minlength=65536)).pvalue > 1e-10
    constant = np.uint64(0x0123456789ABCDEF)
    monkeypatch.setattr(shares, "mask", lambda _secret, _asked, size: np.full(size, constant))
    assert chance_of_uniform(np.concatenate(list(bytes_of_shares()))) < 1e-12


def test_masks_that_are_too_short_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask of 63 bits leaves the highest bit of a sum as it is."""
    monkeypatch.setattr(shares, "mask", lambda *asked: mask(*asked) & np.uint64((1 << 63) - 1))
    secrets = secrets_of(("a", "b"))
    sent = share(np.zeros(40_000, np.int64), "a", secrets["a"], b"t").view(np.uint8)
    assert chance_of_uniform(sent[7::8]) < 1e-12


def test_no_mask_comes_twice() -> None:
    """Of another fit, another pair, or after another question: otherwise differences of answers would be seen."""
    secrets = secrets_of()
    again = secrets_of(session=b"z" * 32)
    results = [
        mask(secrets["a"]["b"], b"t", 4),
        mask(secrets["a"]["b"], b"u", 4),
        mask(secrets["a"]["c"], b"t", 4),
        mask(again["a"]["b"], b"t", 4),
    ]
    assert len({words.tobytes() for words in results}) == 4
    np.testing.assert_array_equal(mask(secrets["b"]["a"], b"t", 4), results[0])


def test_sites_that_were_asked_different_things_add_up_to_noise() -> None:
    """Nobody learns what one site says by asking the others for nothing."""
    secrets, sums = secrets_of(), sums_of(3)
    arguments = {name: Transcript(b"s") for name in NAMES}
    for name, transcript in arguments.items():
        transcript.add(b"the same")
        transcript.add(b"everything" if name == "a" else b"nothing")
    nothing = np.zeros(50, np.int64)
    sent = [
        share(sums[name] if name == "a" else nothing, name, secrets[name], arguments[name].add(b"the same again"))
        for name in NAMES
    ]
    assert not (opened(sent) == sums["a"]).any()
    assert chance_of_uniform(opened(sent).view(np.uint8)) > 1e-6


def test_what_is_no_key_is_refused() -> None:
    with pytest.raises(ValueError):
        PairKey().secrets("a", {"b": b"short"}, b"s")
    with pytest.raises(ValueError):  # of low order: the secret would be known to everybody
        PairKey().secrets("a", {"b": bytes(32)}, b"s")


def test_the_vectors_of_the_page_are_those_of_the_library() -> None:
    """docs/theory/masks.md prints them from the primitives alone."""
    page = (Path(__file__).parents[2] / "docs/theory/masks.md").read_text("utf-8")
    [block] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    said = dict(re.findall(r"^(secret|transcript|mask|north|south)(?: sends .* as)? (.*)$", block, re.MULTILINE))
    session, keys = bytes(range(32)), {}
    for number, name in enumerate(("north", "south"), start=1):
        keys[name] = PairKey()
        keys[name]._private = X25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    secret = keys["north"].secrets("north", {"south": keys["south"].public}, session)["south"]
    assert keys["south"].secrets("south", {"north": keys["north"].public}, session) == {"north": secret}
    transcript = Transcript(session)
    transcript.add(b"first message")
    digest = transcript.add(b"second message")
    numbers = {name: [int(each) for each in said[name].split()] for name in ("mask", "north", "south")}
    assert (secret.hex(), digest.hex()) == (said["secret"], said["transcript"])
    assert mask(secret, digest, 3).tolist() == numbers["mask"]
    assert share(np.array([1, -2, 3]), "north", {"south": secret}, digest).tolist() == numbers["north"]
    assert share(np.array([10, 20, 30]), "south", {"north": secret}, digest).tolist() == numbers["south"]
