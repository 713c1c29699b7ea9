"""Secret shares of sums, modulo ``2**64``: what a site sends says nothing alone, and all of them add up to the total.

Every pair of sites shares a secret (X25519, between keys that are made for one fit). From the secret and everything
that was asked so far follows a mask, uniform in the integers modulo ``2**64``; one of the two adds it and the other
takes it away (Bonawitz et al. 2017, section 4, without recovery from sites that drop out). A total is right only if all
sites were asked the same in the same order: whoever asks one site something else gets noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import reduce

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tacit.arrays import Ints


class Transcript:
    """A digest of everything that was asked so far in a fit, which ``session`` identifies."""

    def __init__(self, session: bytes) -> None:
        self._digest = hashlib.sha256(b"tacit sites" + session).digest()

    def add(self, message: bytes) -> bytes:
        """Takes in a message, and returns the digest."""
        self._digest = hashlib.sha256(self._digest + message).digest()
        return self._digest


class PairKey:
    """A site's key for one fit."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        """What the other sites get, 32 bytes."""
        return self._private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def secrets(self, own: str, others: Mapping[str, bytes], session: bytes) -> dict[str, bytes]:
        """The secret shared with each of the others, by name, in this session.

        Raises:
            ValueError: for what is no public key.
        """
        return {name: self._secret(own, name, public, session) for name, public in others.items()}

    def _secret(self, own: str, other: str, public: bytes, session: bytes) -> bytes:
        shared = self._private.exchange(X25519PublicKey.from_public_bytes(public))
        pair = "\0".join(sorted((own, other))).encode()
        return HKDF(hashes.SHA256(), 32, session, b"tacit pair\0" + pair).derive(shared)


def mask(secret: bytes, transcript: bytes, size: int) -> npt.NDArray[np.uint64]:
    """The mask of a pair for one answer: uniform numbers modulo ``2**64`` (AES in counter mode), shape ``(size,)``."""
    derived = hmac.HMAC(secret, hashes.SHA256())
    derived.update(transcript)
    stream = Cipher(AES(derived.finalize()), CTR(bytes(16))).encryptor()
    return np.frombuffer(stream.update(bytes(8 * size)) + stream.finalize(), np.dtype("<u8")).astype(np.uint64)


def share(sums: Ints, own: str, secrets: Mapping[str, bytes], transcript: bytes) -> npt.NDArray[np.uint64]:
    """What a site sends of its int64 sums: they, and the masks of its pairs; flat.

    ``transcript`` is that of all that was asked, this answer's question included.
    """
    hidden = np.ascontiguousarray(sums, np.int64).reshape(-1).view(np.uint64).copy()
    for other, secret in secrets.items():
        pair = mask(secret, transcript, hidden.size)
        if own < other:
            hidden += pair
        else:
            hidden -= pair
    return hidden


def opened(shares: list[npt.NDArray[np.uint64]]) -> Ints:
    """The sum of all shares, flat: the sums of all sites together."""
    return reduce(np.add, shares).view(np.int64)
