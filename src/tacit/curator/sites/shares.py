"""Secret shares of sums, modulo ``2**64``: what a site sends says nothing alone, and all of them add up to the total.

Every pair of sites shares a secret (X25519, between keys that are made for one fit). From the secret and everything
that was asked so far follows a mask, uniform in the integers modulo ``2**64``; one of the two adds it and the other
takes it away (Bonawitz et al. 2017, section 4, without recovery from sites that drop out). A total is right only if all
sites were asked the same in the same order: whoever asks one site something else gets noise. What sites make of their
rows is agreed as plain data (:func:`plain_recipe`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tacit.arrays import Ints
from tacit.curator.recipes import Columns, Lengths, Recipe, Vectors
from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.engines.joined.wire import WireError
from tacit.schema import Schema


def plain_recipe(recipe: Recipe, schema: Schema) -> dict[str, Any]:
    """A recipe for the rows of sites."""
    if isinstance(recipe, Columns) and recipe.encoding.names in (schema.features, ()):
        return {"kind": "columns" if recipe.encoding.names else "label"}
    if isinstance(recipe, Vectors | Lengths) and isinstance(encoder := recipe.encoder, RowEncoder):
        declared = RowEncoder.of(schema)
        if (encoder.encoding, encoder.ordinal) == (declared.encoding, declared.ordinal):
            numbers = {"clipper": encoder.clipper.to_dict(), "intercept": float(encoder.intercept)}
            if isinstance(recipe, Vectors):
                return {"kind": "vectors", **numbers}
            return {"kind": "lengths", **numbers, "grid": recipe.grid.to_dict()}
    raise TypeError("sites seal the columns of their schema, rows made of them, or their label alone")


def recipe_of(data: Any, schema: Schema, encoding: TableEncoding) -> Recipe:
    """The recipe that plain data, made by :func:`plain_recipe`, stand for."""
    try:
        kind = data["kind"]
        if kind in ("columns", "label"):
            return Columns(encoding if kind == "columns" else TableEncoding((), ()))
        clipper, intercept = RowClipper.from_dict(data["clipper"]), float(data["intercept"])
        if not 0 <= intercept <= 1:
            raise ValueError("the intercept is from 0 to 1")
        encoder = replace(RowEncoder.of(schema), clipper=clipper, intercept=intercept)
        if kind == "vectors":
            return Vectors(encoder)
        if kind == "lengths":
            return Lengths(encoder, NumericGrid.from_dict(data["grid"]))
        raise ValueError("rows become columns, vectors, lengths or a label")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise WireError(f"there is no such recipe: {error}") from None


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
        """The secret shared with each of the others, by name, in this session."""
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
