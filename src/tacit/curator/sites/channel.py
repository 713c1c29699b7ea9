"""Messages between two parties: MessagePack over WebSockets and TLS. Nothing that arrives is ever run."""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import ssl
import threading
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tacit.curator.sites.parties import Parties, SitesError
from tacit.errors import missing
from tacit.privacy.signatures import library_version

try:
    import msgpack
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidProxy, InvalidURI
    from websockets.sync.client import connect
    from websockets.sync.connection import Connection
    from websockets.sync.server import ServerConnection, serve
except ModuleNotFoundError as error:
    raise missing("websockets" if str(error.name).startswith("websockets") else "msgpack", "sites") from None

PROTOCOL = 1  # of the messages
LARGEST = 1 << 31  # bytes of a message at most


def packed(message: dict[str, Any]) -> bytes:
    """A message as bytes."""
    content: bytes = msgpack.packb(message)
    return content


def hello(parties: Parties, schema: str) -> dict[str, Any]:
    """What both sides must agree in before anything else."""
    return {"hello": PROTOCOL, "version": library_version(), "parties": parties.digest, "schema": schema}


class Gone(Exception):  # noqa: N818 - not a fault: what the other end did
    """The other party has closed the connection, or sent what is not a message."""


class Channel:
    """A connection to one party, after its handshake."""

    def __init__(self, connection: Connection, peer: str) -> None:
        self._connection, self.peer = connection, peer
        self._patience: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        del kind, error
        self.close()

    def close(self) -> None:
        """Hangs up, once what was sent has arrived."""
        with contextlib.suppress(OSError):
            self._connection.close()

    def wait(self, seconds: float | None) -> None:
        """How long an answer may take; None for ever."""
        self._patience = seconds

    def send(self, body: bytes) -> None:
        """Sends a message; raises :class:`Gone` if nobody takes it."""
        try:
            self._connection.send(body)
        except (ConnectionClosed, OSError) as error:
            raise Gone(_words(error)) from None

    def receive(self) -> tuple[dict[str, Any], bytes]:
        """The next message, and its bytes; raises :class:`Gone` if none comes."""
        try:
            body = self._connection.recv(timeout=self._patience)
        except (ConnectionClosed, OSError) as error:
            raise Gone(_words(error)) from None
        try:
            message = msgpack.unpackb(body, strict_map_key=True) if isinstance(body, bytes) else None
        except ValueError:
            message = None
        if not isinstance(message, dict) or not isinstance(body, bytes):
            raise Gone("it sent something that is no message")
        return message, body


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, ConnectionClosed):
        return "it hung up"
    return str(getattr(error, "strerror", None) or error)


def address_of(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; raises :class:`SitesError` for anything else."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or "/" in host or not port.isdecimal() or int(port) > 65535:
        raise SitesError(f"an address is HOST:PORT, such as 10.0.0.1:7700, got {text!r}")
    return host.strip("[]"), int(port)


NO_PROXY = "a proxy is http://HOST:PORT, such as http://proxy:3128"
"""What is said of anything else, which is not repeated: it may hold a password."""


def _check_proxy(proxy: str | None) -> None:
    """Raises :class:`SitesError` for what is no proxy's address."""
    try:
        parts = urlsplit(proxy or "http://none")
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise SitesError(NO_PROXY)


HANDSHAKE = 10.0  # seconds that a connection may take to say who it is
CLOSING = 2.0  # seconds that the other end may take to hang up, too

MOST_HANDSHAKES = 64
"""Connections that have not said who they are, at most; further ones are closed, and sites try again."""


def connected(
    address: str, parties: Parties, context: ssl.SSLContext, seconds: float, proxy: str | None = None
) -> Channel:
    """A channel to the party that listens at an address.

    Raises:
        OSError: if nobody listens there, or the proxy does not get there: that may change.
        SitesError: if it is nobody of the parties, or there is no such proxy.
    """
    host, port = address_of(address)
    _check_proxy(proxy)
    uri = f"wss://[{host}]:{port}" if ":" in host else f"wss://{host}:{port}"
    try:
        connection = connect(
            uri,
            ssl=context,
            proxy=proxy,
            compression=None,
            open_timeout=seconds,
            close_timeout=CLOSING,
            max_size=LARGEST,
        )
    except (InvalidProxy, InvalidURI):
        raise SitesError(NO_PROXY) from None
    except InvalidHandshake as error:
        raise ConnectionError(f"no connection: {error}") from None
    except EOFError:
        raise ConnectionError("the connection was closed") from None
    except ssl.SSLEOFError as error:
        raise ConnectionError(_words(error)) from None
    except ssl.SSLError as error:
        raise SitesError(f"no connection between parties: {_words(error)}") from None
    try:
        return Channel(connection.__enter__(), parties.peer(connection.socket))
    except SitesError:
        connection.close()
        raise


class Reception:
    """Takes connections, and admits those of parties once they have said something.

    Handshakes go on side by side, :data:`MOST_HANDSHAKES` at most: whoever connects and is silent keeps nobody out.
    """

    def __init__(self, address: str, parties: Parties) -> None:
        self._parties = parties
        self._arrived: queue.Queue[tuple[Channel, dict[str, Any]]] = queue.Queue()
        self._over, self._slots = threading.Event(), threading.BoundedSemaphore(MOST_HANDSHAKES)
        self._held = threading.local()
        quiet = logging.getLogger("tacit.sites")
        quiet.addHandler(logging.NullHandler())
        self._server = serve(
            self._admit,
            sock=socket.create_server(address_of(address)),
            ssl=parties.context(),
            compression=None,
            open_timeout=HANDSHAKE,
            close_timeout=CLOSING,
            max_size=LARGEST,
            logger=quiet,
        )
        self._handshake, self._server.handler = self._server.handler, self._limited
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def next(self, seconds: float) -> tuple[Channel, dict[str, Any]] | None:
        """The next party that has come, and what it says; None if none comes in time."""
        try:
            return self._arrived.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            return None

    def close(self) -> None:
        """Ends all connections. Strangers that are still silent are not waited for."""
        self._over.set()
        threading.Thread(target=self._server.shutdown, daemon=True).start()

    def _limited(self, raw: socket.socket, address: Any) -> None:
        """The handshake of a connection, in its own thread; of one too many, none."""
        if not self._slots.acquire(blocking=False):
            raw.close()
            self._handshake(raw, address)  # which ends at once
            return
        self._held.slot = True
        try:
            self._handshake(raw, address)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Frees the place of this thread's connection for another handshake."""
        if self._held.slot:
            self._held.slot = False
            self._slots.release()

    def _admit(self, connection: ServerConnection) -> None:
        try:
            channel = Channel(connection, self._parties.peer(connection.socket))
            channel.wait(HANDSHAKE)
            message = channel.receive()[0]
        except (SitesError, Gone):
            return
        self._let_go()
        self._arrived.put((channel, message))
        self._over.wait()
