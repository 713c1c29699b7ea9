"""Who takes part: a key and a certificate of each, which all others hold a copy of. Nobody else is talked to.

Everybody makes a key of their own, which never leaves them, and gives the certificate to all others, who compare its
fingerprint with them by another way. A folder of these certificates is the agreement about who takes part.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tacit.errors import UNSPENT, TacitError
from tacit.privacy.noise_shares import NoiseShares
from tacit.privacy.signatures import read_private_key
from tacit.whole_files import write_text


class SitesError(TacitError):
    """Sites that do not come together, do not agree, or are gone. The message names the site."""

    usual = UNSPENT


COORDINATOR = "coordinator"  # the name of the party that learns; all others are sites
YEARS = 10  # how long a certificate is good for, unless it is taken out of the folder before
LEAST_SITES = 2  # fewer have nobody to hide their sums among


def new_party(name: str, key: Path, parties: Path) -> Path:
    """Makes a key that its owner alone can read and, in the folder of all parties, its certificate, which it returns.

    Raises:
        SitesError: for a name that is none.
        FileExistsError: if one of the files is there: nothing is overwritten.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise SitesError(f"a party is called by letters, digits, - and _, got {name!r}")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    subject, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .sign(private, None)
    )
    parties.mkdir(parents=True, exist_ok=True)
    public = parties / f"{name}.pem"
    if public.exists():
        raise FileExistsError(17, os.strerror(17), str(public))
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_text(key, secret.decode("ascii"), private=True, replace=False)
    write_text(public, certificate.public_bytes(serialization.Encoding.PEM).decode("ascii"), replace=False)
    return public


def fingerprint_of(certificate: Path) -> str:
    """SHA-256 of a certificate, in hexadecimal: what two people compare."""
    parsed = x509.load_pem_x509_certificate(certificate.read_bytes())
    return hashlib.sha256(parsed.public_bytes(serialization.Encoding.DER)).hexdigest()


@final
@dataclass(frozen=True, eq=False)
class Parties:
    """All parties of joined fits, and which of them this is.

    Raises:
        SitesError: if the folder does not say who takes part, or the key belongs to none of them.
    """

    folder: Path  # of their certificates, `NAME.pem`
    key: Path  # the private key of this party

    def __post_init__(self) -> None:
        if COORDINATOR not in self._certificates:
            raise SitesError(f"{self.folder} holds no {COORDINATOR}.pem: nobody would learn")
        if len(self.sites) < LEAST_SITES:
            raise SitesError(f"{self.folder} holds {len(self.sites)} sites: at least {LEAST_SITES} hide their sums")
        if self.name not in self._certificates:
            raise SitesError(f"{self.key} belongs to none of the certificates in {self.folder}")

    @cached_property
    def _certificates(self) -> dict[str, x509.Certificate]:
        certificates: dict[str, x509.Certificate] = {}
        holders: dict[bytes, str] = {}
        for path in sorted(self.folder.glob("*.pem")):
            try:
                certificates[path.stem] = x509.load_pem_x509_certificate(path.read_bytes())
                key = certificates[path.stem].public_key().public_bytes_raw()  # type: ignore[union-attr]
            except (ValueError, AttributeError, UnsupportedAlgorithm):
                raise SitesError(f"{path} is no certificate: make one with tacit party") from None
            if (other := holders.setdefault(key, path.stem)) != path.stem:
                raise SitesError(f"{path} has the key of {other!r}: one party under two names hides nobody's sums")
        return certificates

    @cached_property
    def name(self) -> str:
        """Which party this is; empty if none."""
        own = self._signer.public_key()
        return next((name for name, each in self._certificates.items() if each.public_key() == own), "")

    @cached_property
    def _signer(self) -> Any:
        return read_private_key(self.key)

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites, sorted."""
        return tuple(sorted(name for name in self._certificates if name != COORDINATOR))

    def fingerprint(self, name: str) -> str:
        """SHA-256 of a party's certificate, in hexadecimal: what two people compare."""
        return hashlib.sha256(self._der(name)).hexdigest()

    @cached_property
    def digest(self) -> str:
        """Of all of them: parties whose digests differ do not agree about who takes part."""
        listed = "".join(f"{name} {self.fingerprint(name)}\n" for name in sorted(self._certificates))
        return hashlib.sha256(listed.encode()).hexdigest()

    @cached_property
    def sites_digest(self) -> str:
        """Of the sites alone: the sums of a fit are over their rows, whoever learns."""
        listed = "".join(f"{name} {self.fingerprint(name)}\n" for name in self.sites)
        return hashlib.sha256(listed.encode()).hexdigest()

    def secret(self, purpose: bytes) -> bytes:
        """A key of 32 bytes for a purpose of this party, derived from its private key."""
        private: bytes = self._signer.private_bytes_raw()
        return HKDF(hashes.SHA256(), 32, None, purpose).derive(private)

    def context(self) -> ssl.SSLContext:
        """TLS 1.3 between parties alone: both sides show a certificate that the other holds a copy of."""
        listens = self.name == COORDINATOR
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if listens else ssl.PROTOCOL_TLS_CLIENT)
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
        tls.check_hostname = False  # the certificate itself is known, wherever its holder is
        tls.verify_mode = ssl.CERT_REQUIRED
        tls.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        trusted = "".join(
            each.public_bytes(serialization.Encoding.PEM).decode() for each in self._certificates.values()
        )
        tls.load_verify_locations(cadata=trusted)
        tls.load_cert_chain(self.folder / f"{self.name}.pem", self.key)
        return tls

    def peer(self, connection: socket.socket) -> str:
        """Who is at the other end; raises :class:`SitesError` for nobody of the parties."""
        presented = connection.getpeercert(binary_form=True) if isinstance(connection, ssl.SSLSocket) else None
        match = next((name for name in self._certificates if self._der(name) == presented), None)
        if match is None:
            raise SitesError(f"somebody answered who is not in {self.folder}")
        return match

    def sign(self, message: bytes) -> bytes:
        signed: bytes = self._signer.sign(message)
        return signed

    def signed_by(self, name: str, message: bytes, signature: bytes) -> bool:
        public = self._certificates[name].public_key() if name in self._certificates else None
        if not isinstance(public, Ed25519PublicKey):
            return False
        try:
            public.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    def _der(self, name: str) -> bytes:
        return self._certificates[name].public_bytes(serialization.Encoding.DER)


@final
@dataclass(frozen=True, eq=False)
class Sites:
    """Sites that will join a fit; made by :func:`tacit.join_sites`."""

    listen: str  # `HOST:PORT` where they connect
    parties: Parties  # who takes part; this is the coordinator
    wait: float  # seconds until all of them must be there
    patience: float  # seconds that an answer may take
    shares: NoiseShares | None = None  # how sites share the noise; None where the coordinator draws it

    def __repr__(self) -> str:
        return f"<sites {', '.join(self.parties.sites)}>"
