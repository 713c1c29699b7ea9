"""Messages between two parties: MessagePack in frames, over TLS. Nothing that arrives is ever run."""

from __future__ import annotations

import contextlib
import socket
import ssl
from types import TracebackType
from typing import Any, Self

from tacit.curator.sites.parties import Parties, SitesError
from tacit.errors import missing

try:
    import msgpack
except ModuleNotFoundError:
    raise missing("msgpack", "sites") from None

PROTOCOL = 1
"""Of the messages."""

LARGEST = 1 << 31
"""Bytes of a message at most."""


def packed(message: dict[str, Any]) -> bytes:
    """A message as bytes."""
    content: bytes = msgpack.packb(message)
    return content


class Gone(Exception):  # noqa: N818 - not a fault: what the other end did
    """The other party has closed the connection, or sent what is not a message."""


class Channel:
    """A connection to one party, after its handshake."""

    def __init__(self, connection: ssl.SSLSocket, peer: str) -> None:
        self._connection, self.peer = connection, peer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        del kind, error
        self.close()

    def close(self) -> None:
        """Hangs up."""
        with contextlib.suppress(OSError):
            self._connection.close()

    def wait(self, seconds: float | None) -> None:
        """How long an answer may take; None for ever."""
        self._connection.settimeout(seconds)

    def send(self, body: bytes) -> None:
        """Sends a message; raises :class:`Gone` if nobody takes it."""
        try:
            self._connection.sendall(len(body).to_bytes(8, "big") + body)
        except (OSError, ValueError) as error:
            raise Gone(_words(error)) from None

    def receive(self) -> tuple[dict[str, Any], bytes]:
        """The next message, and its bytes; raises :class:`Gone` if none comes."""
        size = int.from_bytes(self._exactly(8), "big")
        if size > LARGEST:
            raise Gone("it sent something that is no message")
        body = self._exactly(size)
        try:
            message = msgpack.unpackb(body, strict_map_key=True)
        except ValueError:
            raise Gone("it sent something that is no message") from None
        if not isinstance(message, dict):
            raise Gone("it sent something that is no message")
        return message, body

    def _exactly(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            try:
                part = self._connection.recv(min(missing, 1 << 20))
            except (OSError, ValueError) as error:
                raise Gone(_words(error)) from None
            if not part:
                raise Gone("it hung up")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer"
    return str(getattr(error, "strerror", None) or error)


def address_of(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; raises :class:`SitesError` for anything else."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise SitesError(f"an address is HOST:PORT, such as 10.0.0.1:7700, got {text!r}")
    return host.strip("[]"), int(port)


def connected(address: str, parties: Parties, context: ssl.SSLContext, seconds: float) -> Channel:
    """A channel to the party that listens at an address.

    Raises:
        OSError: if nobody listens there.
        SitesError: if it is nobody of the parties.
    """
    raw = socket.create_connection(address_of(address), timeout=seconds)
    return secured(raw, parties, context, listens=False)


def secured(raw: socket.socket, parties: Parties, context: ssl.SSLContext, *, listens: bool) -> Channel:
    """A channel over a connection, after the handshake that says who is at its other end.

    Raises:
        SitesError: if it is nobody of the parties.
    """
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    try:
        connection = context.wrap_socket(raw, server_side=listens)
        return Channel(connection, parties.peer(connection))
    except (OSError, SitesError) as error:
        raw.close()
        if isinstance(error, SitesError):
            raise
        raise SitesError(f"no connection between parties: {_words(error)}") from None
