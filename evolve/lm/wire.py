"""What goes over the network: bounded in time by the clock, and in size.

httpx bounds only how long nothing comes. Here every wait is as long as the whole call has left, so
that a provider that sends a byte now and then is given up, too; looking up its name is the one step
left to the system. The transport serves all that LiteLLM asks with httpx, whatever the provider.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

MOST_BYTES = 20_000_000  # of a reply, unpacked
_PIECE = 1 << 16  # bytes sent at a time
_TO_A_GET = {301, 302, 303}  # redirects that drop what was asked
_PACKED = {"content-encoding", "content-length", "transfer-encoding"}


class TooLargeError(Exception):
    """A reply is larger than ``MOST_BYTES``."""


class MovedError(Exception):
    """The address redirects in a way that a call cannot follow."""


@dataclass(slots=True)
class Exchange:
    """A call under way.

    Attributes:
        deadline: Until when it may last, by the monotonic clock.
        status: Of the latest response that began; None if none did.
        location: Where that redirects to, if it does.
        body: Of that, as far as it came.
    """

    deadline: float
    status: int | None = None
    location: str = ""
    body: bytes = b""


_exchange: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def exchange(seconds: float) -> Iterator[Exchange]:
    """While entered, what this thread asks ends within so many seconds, and is told of here."""
    made = Exchange(time.monotonic() + seconds)
    token = _exchange.set(made)
    try:
        yield made
    finally:
        _exchange.reset(token)


class Transport(httpx.BaseTransport):
    """Connections that stay open, for several threads and clients; through the proxies, if any.

    Args:
        verify: How servers are verified.
    """

    def __init__(self, verify: ssl.SSLContext | str | bool = True) -> None:
        # Connections are kept for as many calls as may be in flight; Limits alone bounds those.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx.Client(verify=verify, limits=limits)
        # Only a client knows the environment's proxies, and no public way leads to its sockets.
        for transport in (self._client._transport, *self._client._mounts.values()):
            pool = getattr(transport, "_pool", None)
            if pool is not None:
                pool._network_backend = _Backend(pool._network_backend)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Ask, and read the whole reply.

        Raises:
            httpx.TransportError: The network failed, or took too long.
            TooLargeError: See there.
            MovedError: See there.
        """
        told = _exchange.get() or Exchange(float("inf"))
        if request.url.scheme not in {"http", "https"}:  # only a redirect can lead there
            raise MovedError
        told.status, told.location, told.body = None, "", b""
        response = self._client._transport_for_url(request.url).handle_request(request)
        try:
            told.status = response.status_code
            told.location = response.headers.get("location", "")
            if told.status in _TO_A_GET:
                raise MovedError
            body = bytearray()
            try:
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        raise TooLargeError
            finally:
                told.body = bytes(body)
        finally:
            response.close()
        headers = [each for each in response.headers.multi_items() if each[0] not in _PACKED]
        return httpx.Response(told.status, headers=headers, stream=httpx.ByteStream(told.body))

    def close(self) -> None:
        """Nothing: one of its clients ends while others go on."""

    def end(self) -> None:
        """Close all connections."""
        self._client.close()


class _Backend(httpcore.NetworkBackend):
    """Makes connections that end in time."""

    def __init__(self, inner: httpcore.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        wait = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_tcp(host, port, wait, local_address, socket_options))

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        wait = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_unix_socket(path, wait, socket_options))

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            wait = _left(timeout, httpcore.WriteTimeout)
            self._inner.write(buffer[start : start + _PIECE], wait)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        wait = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, wait))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(timeout: float | None, late: type[Exception]) -> float | None:
    """Seconds that a step may take."""
    told = _exchange.get()
    if told is None:
        return timeout
    left = told.deadline - time.monotonic()
    if left <= 0:
        raise late
    return left if timeout is None else min(timeout, left)
