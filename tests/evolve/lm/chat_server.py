"""A loopback server that plays one answer per request, good or bad, for tests of the real path."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Play:
    """What one request gets."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds
    cut: bool = False  # close the connection instead of answering
    promised: int | None = None  # Content-Length, if not the body's own


def says(text: str | None = "ok", *, delay: float = 0.0, **more: Any) -> Play:
    """A good reply; ``more`` replaces top-level fields, ``...`` removes one."""
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    message = {"role": "assistant", "content": text}
    body = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-1-2024",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
        **more,
    }
    kept = {key: value for key, value in body.items() if value is not ...}
    return Play(body=json.dumps(kept), delay=delay)


def fails(status: int, message: str = "no", **headers: str) -> Play:
    """An error as the OpenAI API words it."""
    error = {"message": message, "type": "error", "param": None, "code": None}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Play(status, json.dumps({"error": error}), named)


class ChatServer:
    """Answers request number n with ``script(n, body)``, counted from 0.

    Attributes:
        bodies: Of all requests, in order of arrival.
        keys: Authorization headers of all requests.
        times: Monotonic seconds of arrival.
        peak: Most requests in flight.
    """

    def __init__(self, script: Callable[[int, dict[str, Any]], Play]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.times: list[float] = []
        self.peak = 0
        self._flying = 0
        self._script = script
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def play(self, body: dict[str, Any], key: str) -> Play:
        with self._lock:
            number = len(self.bodies)
            self.bodies.append(body)
            self.keys.append(key)
            self.times.append(time.monotonic())
            self._flying += 1
            self.peak = max(self.peak, self._flying)
        try:
            played = self._script(number, body)
            time.sleep(played.delay)
            return played
        finally:
            with self._lock:
                self._flying -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no news."""


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            played = server.play(body, self.headers.get("Authorization", ""))
            if played.cut:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            content = played.body.encode()
            length = len(content) if played.promised is None else played.promised
            self.send_response(played.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length))
            for name, value in played.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = length != len(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    return Handler
