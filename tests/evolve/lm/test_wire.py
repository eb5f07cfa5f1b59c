"""Calls end in time and replies have a size, whatever a server does."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest

from evolve.lm import wire
from evolve.lm.wire import MovedError, TooLargeError, Transport, exchange

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n"
OPEN = b"HTTP/1.1 200 OK\r\n"
LONG = OPEN + b"Content-Length: 20000\r\n\r\n"


@contextmanager
def served(content: bytes, pause: float = 0.0) -> Iterator[str]:
    """Sends the same to everybody, byte by byte if there is a pause between two."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    for start in range(0, len(content), 1 if pause else len(content)):
                        connection.sendall(content[start:][: 1 if pause else None])
                        time.sleep(pause)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join()


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    transport = Transport()
    with httpx.Client(transport=transport, timeout=30.0) as client:
        yield client
    transport.end()


@pytest.mark.parametrize("content", [LONG + b"x" * 20_000, OPEN + b"X: " + b"x" * 20_000])
def test_a_reply_that_drips_is_given_up_by_the_clock(client: httpx.Client, content: bytes) -> None:
    began = time.monotonic()
    with served(content, 0.002) as url, exchange(1.0) as told, pytest.raises(httpx.ReadTimeout):
        client.post(url)
    assert time.monotonic() - began < 20  # all of it drips for 40
    assert told.status == (200 if content.startswith(LONG) else None)


def test_a_reply_has_a_size(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(HEAD + b"x" * 400) as url, exchange(9.0) as told:
        assert client.post(url).text == "x" * 400 == told.body.decode()
    monkeypatch.setattr(wire, "MOST_BYTES", 399)
    with served(HEAD + b"x" * 400) as url, exchange(9.0), pytest.raises(TooLargeError):
        client.post(url)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_drops_what_was_asked_is_an_error(
    client: httpx.Client, status: int
) -> None:
    content = f"HTTP/1.1 {status} X\r\nLocation: /else\r\nContent-Length: 0\r\n\r\n"
    with served(content.encode()) as url, exchange(9.0) as told, pytest.raises(MovedError):
        client.post(url)
    assert (told.status, told.location) == (status, "/else")


def test_a_client_that_ends_leaves_the_others_their_connections() -> None:
    transport = Transport()
    httpx.Client(transport=transport).close()
    with served(HEAD + b"x" * 400) as url:
        assert httpx.Client(transport=transport, timeout=9.0).get(url).status_code == 200
    transport.end()


def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(HEAD + b"p" * 400) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        transport = Transport()
        answer = httpx.Client(transport=transport, timeout=9.0).get("http://nowhere.invalid/")
        assert answer.text == "p" * 400
        transport.end()
