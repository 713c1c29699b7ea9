"""Connections between parties: through a proxy, with handshakes side by side, and messages that are none."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

import tacit
from tacit.curator.sites import channel
from tacit.curator.sites.channel import Gone, Reception, address_of, connected, packed
from tacit.curator.sites.parties import Parties, SitesError
from tests.joining import free_port, make_parties


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("channel")
    make_parties(folder, ("north", "south"))
    return folder


def party(place: Path, name: str) -> Parties:
    return Parties(place / "parties", place / f"{name}.key")


@contextmanager
def listening(place: Path) -> Iterator[tuple[str, Reception]]:
    address = f"127.0.0.1:{free_port()}"
    reception = Reception(address, party(place, "coordinator"))
    try:
        yield address, reception
    finally:
        reception.close()


@contextmanager
def proxy(answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n") -> Iterator[tuple[str, list[bytes]]]:
    """A proxy as hospitals have it: it connects to where ``CONNECT`` says, and passes bytes on."""
    queries: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            with near:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += near.recv(1 << 16)
                queries.append(head.split(b"\r\n")[0])
                near.sendall(answer)
                if b" 200 " not in answer:
                    return
                host, port = head.split()[1].decode().rsplit(":", 1)
                with suppress(OSError), socket.create_connection((host, int(port))) as far:
                    while True:
                        for ready in select.select([near, far], [], [])[0]:
                            part = ready.recv(1 << 16)
                            queries.append(part)
                            if not part:
                                return
                            (far if ready is near else near).sendall(part)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", queries


def hello(reception: Reception) -> tuple[str, Any]:
    arrival = reception.next(20)
    assert arrival is not None
    return arrival[0].peer, arrival[1]


def test_parties_talk_through_a_proxy_that_reads_nothing(place: Path) -> None:
    north = party(place, "north")
    with listening(place) as (address, reception), proxy() as (there, seen):
        with connected(address, north, north.context(), 20, there) as made:
            assert made.peer == "coordinator"
            made.send(packed({"hello": "a word that nobody else reads"}))
            assert hello(reception) == ("north", {"hello": "a word that nobody else reads"})
        assert seen[0] == f"CONNECT {address} HTTP/1.1".encode()
        assert len(seen) > 3
        assert b"nobody else" not in b"".join(seen)


@pytest.mark.parametrize(
    ("there", "error"),
    [
        ("socks9://127.0.0.1:1", SitesError),
        ("socks5://127.0.0.1:1", SitesError),
        ("nothing", SitesError),
        ("http://", SitesError),
        ("http://h:99999", SitesError),
        ("http://h:x", SitesError),
        ("http://user:secret@h:0", SitesError),
        ("http://127.0.0.1:{closed}", OSError),
    ],
)
def test_a_proxy_that_is_none(place: Path, there: str, error: type[Exception]) -> None:
    north = party(place, "north")
    with listening(place) as (address, _), pytest.raises(error) as refused:
        connected(address, north, north.context(), 5, there.format(closed=free_port()))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "h", ":1", "h:", "h:x", "h:99999", "http://h:1", "wss://h/:1"])
def test_an_address_that_is_none(text: str) -> None:
    with pytest.raises(SitesError, match="an address is HOST:PORT"):
        address_of(text)


def test_a_proxy_that_does_not_get_there_may_later(place: Path) -> None:
    """A site may start before its coordinator: it tries again."""
    north = party(place, "north")
    with listening(place) as (address, _), proxy(b"HTTP/1.1 502 Bad Gateway\r\n\r\n") as (there, _):
        with pytest.raises(OSError, match="502"):
            connected(address, north, north.context(), 20, there)


def test_the_silent_keep_nobody_out_and_are_limited(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three silent connections the third is closed at once where two may be silent; who speaks frees its place."""
    monkeypatch.setattr(channel, "MOST_HANDSHAKES", 3)
    north, south = party(place, "north"), party(place, "south")
    with listening(place) as (address, reception):
        host, port = address.split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(2)]
        for each in (north, south, north):
            made = connected(address, each, each.context(), 20)
            made.send(packed({"hello": 1}))
            assert hello(reception) == (each.name, {"hello": 1})
        silent += [socket.create_connection((host, int(port))) for _ in range(2)]
        silent[3].settimeout(20)
        assert silent[3].recv(1) == b""
        assert select.select(silent[:3], [], [], 0)[0] == []
        for each in silent:
            each.close()


def test_what_is_no_message_is_not_taken_for_one(place: Path) -> None:
    north = party(place, "north")
    with listening(place) as (address, reception):
        for body in (b"\xc1", packed({"hello": 1})[:-1], b"\x01", b""):
            made = connected(address, north, north.context(), 20)
            made.send(body)
            with pytest.raises(Gone):
                made.receive()
        with connect(f"wss://{address}", ssl=north.context(), proxy=None) as raw:
            raw.send("a text")
            with pytest.raises(Exception, match=r"close|OK|1000"):
                raw.recv(timeout=20)
        assert reception.next(0) is None


def test_strangers_and_plain_connections_are_refused(place: Path, tmp_path: Path) -> None:
    """Somebody with a certificate of their own, or with none, and the site that finds another coordinator."""
    make_parties(tmp_path, ("north", "south"))
    stranger, north = party(tmp_path, "north"), party(place, "north")
    with listening(place) as (address, reception):
        with pytest.raises((SitesError, OSError)):
            connected(address, stranger, stranger.context(), 20)
        nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        nobody.check_hostname, nobody.verify_mode = False, ssl.CERT_NONE
        with pytest.raises(Exception):  # noqa: B017 - of TLS or of WebSockets, as the alert comes in
            connect(f"wss://{address}", ssl=nobody, proxy=None).__enter__().recv(timeout=20)
        with pytest.raises(Exception):  # noqa: B017
            connect(f"ws://{address}", proxy=None, open_timeout=20).__enter__()
        assert reception.next(0) is None
        with connected(address, north, north.context(), 20) as made:
            made.send(packed({"hello": 1}))
            assert hello(reception) == ("north", {"hello": 1})


def test_a_site_goes_through_the_proxy_that_it_names(place: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1,no\n")
    schema = {
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}},
    }
    with proxy() as (there, seen), pytest.raises(SitesError):
        tacit.serve_site(
            tmp_path / "rows.csv", schema, connect="127.0.0.1:9", parties=place / "parties", key=place / "north.key",
            proxy=there, wait=0,
        )  # fmt: skip
    assert seen[0] == b"CONNECT 127.0.0.1:9 HTTP/1.1"
