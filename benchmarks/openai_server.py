"""A server on loopback that speaks OpenAI's chat API and plays every role with the offline model.

Role and seed are read from the request itself, so the same prompt always gets the same reply, and a
run against the server gives what the offline model gives without it, but for guesses where the
client sends no seed of its own (at temperature 0 it sends 0). Latency and faults are set::

    with OpenAIServer(latency=0.2, faults=Faults(rate_limit=0.05), key="sk-test") as server:
        print(server.base_url)

``python -m benchmarks.openai_server`` serves until it is ended and prints its address first;
``GET /record`` gives what it has seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import socket
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from benchmarks.openai_bodies import NO_STATUS, Response, completion, error
from benchmarks.openai_faults import Fault, Faults
from benchmarks.openai_record import Record, Tally
from benchmarks.openai_roles import request_of
from evolve.lm.base import LM, Request, count_tokens
from evolve.lm.offline import OfflineLM
from evolve.lm.reader import the_reader

__all__ = ["Faults", "OpenAIServer", "Record"]

_BODIES = 200  # of requests that are kept, the newest
_MALFORMED = (
    b'{"choices": [{"message": {"content": ',
    b"<html>Bad gateway</html>",
    b'{"id": "none"}',
)


@dataclass
class OpenAIServer:
    """The server, on a port of its own while entered.

    Attributes:
        latency: Seconds that an answer takes at least, computing included; errors come at once.
        faults: What goes wrong; nothing by default.
        key: The only key that is taken; None for any. An error quotes the one that was given.
        model: The only model that there is; None for any.
        context: Most characters of a prompt; None for any number.
        refuse: Prompts that hold this text get an error for their content.
        filtered: Prompts that hold this text get an answer without content.
        usage: Whether answers say what they used.
        port: To listen on; 0 for any that is free.
        lm: Answers; the offline model by default.
        bodies: The newest requests.
    """

    latency: float = 0.0
    faults: Faults | None = None
    key: str | None = None
    model: str | None = None
    context: int | None = None
    refuse: str | None = None
    filtered: str | None = None
    usage: bool = True
    port: int = 0
    lm: LM = field(default_factory=OfflineLM)
    bodies: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_BODIES))

    def __enter__(self) -> Self:
        """Listen, in threads of its own."""
        the_reader()  # takes seconds once a process, which no request should wait for
        self.tally = Tally()
        self._thinks = threading.Lock()
        self._attempts: Counter[str] = Counter()
        self._attempting = threading.Lock()
        self._ended = threading.Event()
        self._http = _Listener(self)
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening and cut whatever is open."""
        self._ended.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.cut_all()

    @property
    def base_url(self) -> str:
        """What a client takes as base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def record(self) -> Record:
        """What it has seen so far."""
        return self.tally.record()

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the server's end."""
        if seconds > 0:
            self._ended.wait(seconds)

    def models(self, authorization: str) -> Response:
        """The answer to ``GET /v1/models``."""
        listed = [{"id": self.model or "offline", "object": "model", "owned_by": "mnemotune"}]
        body = json.dumps({"object": "list", "data": listed}).encode()
        return self._wrong_key(authorization) or Response(200, body)

    def complete(self, authorization: str, raw: bytes) -> Response:
        """The answer to ``POST /v1/chat/completions``."""
        began = time.monotonic()
        unknown = self._wrong_key(authorization)
        if unknown is not None:
            return unknown
        try:
            body = json.loads(raw)
            request = request_of(body)
        except (ValueError, AttributeError) as wrong:
            return error(400, f"Invalid body: {wrong}", "invalid_request_error", None)
        self.bodies.append(body)
        refusal = self._refusal(body, request)
        if refusal is not None:
            return refusal
        fault = self._fault(body)
        if fault is not None and fault != "truncated":
            return self._failed(fault, request)
        # A provider has read the prompt and answered it before its answer is lost on the way.
        done = self._think(request, body)
        self.wait(self.latency - (time.monotonic() - began))
        return Response(200, done, fault=fault)

    def _wrong_key(self, authorization: str) -> Response | None:
        given = authorization.removeprefix("Bearer ")
        if self.key is None or given == self.key:
            return None
        said = f"Incorrect API key provided: {given}. You can find your API key in your account."
        return error(401, said, "invalid_request_error", "invalid_api_key")

    def _refusal(self, body: Mapping[str, Any], request: Request) -> Response | None:
        """The error for a request that will never be answered."""
        text = "\n".join(message.content for message in request.messages)
        name = body.get("model")
        if self.model is not None and name != self.model:
            said = f"The model `{name}` does not exist or you do not have access to it."
            return error(404, said, "invalid_request_error", "model_not_found")
        if self.context is not None and len(text) > self.context:
            said = (
                f"This model's maximum context length is {self.context // 4} tokens. However, your"
                f" messages resulted in {count_tokens(text)} tokens. Please reduce the length of"
                " the messages."
            )
            return error(400, said, "invalid_request_error", "context_length_exceeded")
        if self.refuse is not None and self.refuse in text:
            said = (
                "The response was filtered due to the prompt triggering Azure OpenAI's content"
                " management policy. Please modify your prompt and retry."
            )
            return error(400, said, "invalid_request_error", "content_filter")
        return None

    def _fault(self, body: Mapping[str, Any]) -> Fault | None:
        if self.faults is None:
            return None
        asked = [body.get("messages"), body.get("seed")]
        content = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        with self._attempting:
            attempt = self._attempts[content]
            self._attempts[content] += 1
        return self.faults.fault(content, attempt)

    def _failed(self, fault: Fault, request: Request) -> Response:
        """What a fault looks like; a truncated body is cut where it is sent."""
        assert self.faults is not None
        if fault == "rate_limit":
            after = (("Retry-After", f"{self.faults.retry_after:g}"),)
            said = "Rate limit reached for requests per minute. Please try again later."
            body = error(429, said, "requests", "rate_limit_exceeded").body
            return Response(429, body, after, fault)
        if fault == "server_error":
            said = "The server had an error while processing your request."
            return Response(500, error(500, said, "server_error", None).body, fault=fault)
        if fault == "hang":
            self.wait(self.faults.hang_seconds)
        if fault == "malformed":
            return Response(200, _MALFORMED[request.seed % len(_MALFORMED)], fault=fault)
        return Response(NO_STATUS, b"", fault=fault)

    def _think(self, request: Request, body: Mapping[str, Any]) -> bytes:
        """The body of an answer."""
        with self._thinks:  # one at a time: the interpreter lock allows no more anyhow
            began = time.monotonic()
            done = self.lm.complete(request)
            self.tally.played(request, time.monotonic() - began)
        text = "\n".join(message.content for message in request.messages)
        hidden = self.filtered is not None and self.filtered in text
        return completion(done, body, usage=self.usage, hidden=hidden)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, owner: OpenAIServer) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", owner.port), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection, and remember it."""
        accepted, address = super().get_request()
        self._open.add(accepted)
        return accepted, address

    def shutdown_request(self, request: Any) -> None:
        """Forget and close a connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def cut_all(self) -> None:
        """End every connection; the threads that serve them end with it."""
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def do_GET(self) -> None:  # the base class calls it so
        """Models, and the record."""
        owner = self.server.owner
        if self.path == "/v1/models":
            self._send(owner.models(self.headers.get("Authorization", "")))
        elif self.path == "/record":
            self._send(Response(200, json.dumps(asdict(owner.record)).encode()))
        else:
            self._send(error(404, "no such address", "invalid_request_error", None))

    def do_POST(self) -> None:
        """Completions."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            self._send(error(404, "no such address", "invalid_request_error", None))
            return
        owner = self.server.owner
        owner.tally.begin()
        response = Response(NO_STATUS, b"")
        try:
            response = owner.complete(self.headers.get("Authorization", ""), raw)
        finally:
            # Before it is sent: a client that has its answer is no longer in flight.
            owner.tally.end(response)
        self._send(response)

    def _send(self, response: Response) -> None:
        """Send head and body at once: two packets would wait for each other."""
        self.close_connection = response.fault in {"hang", "cut", "truncated"}
        if response.status == NO_STATUS:
            return
        lines = [
            f"HTTP/1.1 {response.status} {self.responses[response.status][0]}",
            "Content-Type: application/json",
            f"Content-Length: {len(response.body)}",
            *(f"{name}: {value}" for name, value in response.headers),
        ]
        body = response.body
        if response.fault == "truncated":
            body = body[: len(body) // 2]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a server of tests is quiet."""


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(description="Serve the offline model as OpenAI's chat API.")
    parser.add_argument("--port", type=int, default=0, help="to listen on (any that is free)")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    options = parser.parse_args()
    with OpenAIServer(latency=options.latency, port=options.port) as server:
        print(server.base_url, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
