"""The log of paid calls: request cache and record of the spend in one, as JSON lines.

It lies in the run folder and is only ever appended to, by one write per line under a lock, so that
several processes of one machine can share it. A folder shared between runs has another of the same
form; what is found there is copied into the run's own, marked as having cost nothing, so that a run
folder needs no other. Replies stay on disk and are read when they are asked for again.

A line that cannot be read is skipped: its call is paid again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from evolve.lm.allowance import Cost
from evolve.lm.base import Request
from evolve.lm.call import Call, decode, encode
from evolve.lm.lines import Lines
from policies.errors import MnemotuneError

FILE = "calls.jsonl"
SHARED_FILE = "replies.jsonl"


@dataclass(frozen=True, slots=True)
class Spend:
    """What a role has cost.

    Attributes:
        calls: That were paid.
        prompt_tokens: Of those.
        completion_tokens: Of those.
        dollars: Of those; None if one was of an unpriced model.
        seconds: Of those, added up.
        cached: Requests that were answered without a call.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = 0.0
    seconds: float = 0.0
    cached: int = 0

    def plus(self, call: Call) -> Spend:
        """With one more paid call."""
        both_priced = self.dollars is not None and call.dollars is not None
        return Spend(
            self.calls + 1,
            self.prompt_tokens + call.prompt_tokens,
            self.completion_tokens + call.completion_tokens,
            (self.dollars or 0.0) + (call.dollars or 0.0) if both_priced else None,
            self.seconds + call.seconds,
            self.cached,
        )


def sample_of(request: Request) -> int:
    """Which of several replies is wanted: without a temperature there is one."""
    return request.seed & 0x7FFFFFFF if request.temperature > 0 else 0


def request_key(model: str, api_base: str | None, request: Request) -> str:
    """What two requests share that get the same reply: all that is sent, and nothing else."""
    messages = [[message.role, message.content] for message in request.messages]
    content = [
        model,
        api_base,
        messages,
        request.max_tokens,
        request.temperature,
        sample_of(request),
    ]
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


class CallLog:
    """All calls of a run, open until it is closed.

    Args:
        folder: The run folder; None for a log that ends with the process.
        shared: A folder shared between runs; None for none.

    Raises:
        RunFolderError: One of the files cannot be written.
    """

    def __init__(self, folder: Path | None = None, shared: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._spends: dict[str, Spend] = {}
        self._pending: dict[str, _Pending] = {}
        self._own = Lines(None if folder is None else folder / FILE)
        self._shared: Lines | None = None
        try:
            self._shared = None if shared is None else Lines(shared / SHARED_FILE)
            self._catch_up()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """The log itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the files; twice is fine."""
        self._own.close()
        if self._shared is not None:
            self._shared.close()

    def cost(self) -> Cost:
        """Of this run so far, before a resume included."""
        spends = self.spent().values()
        known = [spend.dollars for spend in spends if spend.dollars is not None]
        tokens = sum(spend.prompt_tokens + spend.completion_tokens for spend in spends)
        return Cost(tokens, sum(known) if len(known) == len(spends) else None)

    def spent(self) -> dict[str, Spend]:
        """Role to what it cost this run so far, before a resume included, sorted by role."""
        with self._lock:
            self._catch_up()
            return dict(sorted(self._spends.items()))

    def once(self, key: str, role: str, pay: Callable[[], AbstractContextManager[Call]]) -> Call:
        """The reply to a request: found, or paid for now by one thread while others wait for it.

        Args:
            key: Of the request.
            role: That asks.
            pay: Makes the call; its context is left once the call is in the log.

        Raises:
            MnemotuneError: Whatever ``pay`` raises, in all threads that wait for it; not logged.
            RunFolderError: The disk refused the line.
        """
        while True:
            with self._lock:
                found = self._find(key, role)
                if found is not None:
                    return found
                pending = self._pending.get(key)
                mine = pending is None
                if pending is None:
                    pending = self._pending[key] = _Pending()
            if mine:
                return self._pay(key, pay, pending)
            pending.ended.wait()
            if pending.failure is not None:
                # An error of its own: a traceback belongs to one thread.
                raise type(pending.failure)(*pending.failure.args)

    def lose(self, call: Call) -> None:
        """Count a try that was answered by nothing that can be read, under a key of its own.

        Raises:
            RunFolderError: The disk refused the line.
        """
        with self._lock:
            self._append(call)

    def bring(self, calls: Iterable[Call], cached: Mapping[str, int]) -> None:
        """Take in what another process of this run paid, and by role what it found.

        Raises:
            RunFolderError: The disk refused a line.
        """
        with self._lock:
            self._catch_up()
            for call in calls:
                self._append(call)
            for role, count in cached.items():
                for _ in range(count):
                    self._count_cached(role)

    def _pay(
        self, key: str, pay: Callable[[], AbstractContextManager[Call]], pending: _Pending
    ) -> Call:
        try:
            with pay() as call:
                with self._lock:
                    self._append(call)
                return call
        except MnemotuneError as error:
            pending.failure = error
            raise
        finally:
            with self._lock:
                del self._pending[key]
            pending.ended.set()

    def _append(self, call: Call) -> None:
        with self._own.locked():
            self._catch_up()
            if self._own.get(call.key) is not None:
                # Paid by two processes at once. A key counts once: the second takes another.
                spare = hashlib.sha256(f"{call.key} {uuid4()}".encode()).hexdigest()
                call = replace(call, key=spare, text="", seconds=0.0)
            self._own.append(call.key, encode(call))
        self._count(call)
        if self._shared is not None and not call.shared and not call.lost:
            with self._shared.locked():
                self._catch_up()
                # Another process that shares the folder may have put its call there itself.
                if self._shared.get(call.key) is None:
                    self._shared.append(call.key, encode(call))

    def _find(self, key: str, role: str) -> Call | None:
        """A reply that is there already, counted as cached."""
        self._catch_up()
        found = decode(self._own.get(key))
        if found is not None:
            self._count_cached(role)
            return found
        found = decode(self._shared.get(key)) if self._shared is not None else None
        if found is None:
            return None
        taken = replace(found, role=role, dollars=0.0, seconds=0.0, shared=True)
        self._append(taken)
        return taken

    def _catch_up(self) -> None:
        """Read what other processes, or this run before it was resumed, have appended."""
        for call in _read(self._own):
            self._count(call)
        if self._shared is not None:
            for _ in _read(self._shared):
                pass

    def _count(self, call: Call) -> None:
        if call.shared:
            self._count_cached(call.role)
        else:
            self._spends[call.role] = self._spends.get(call.role, Spend()).plus(call)

    def _count_cached(self, role: str) -> None:
        spend = self._spends.get(role, Spend())
        self._spends[role] = replace(spend, cached=spend.cached + 1)


class _Pending:
    """A call that one thread makes and others may wait for."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.failure: MnemotuneError | None = None


def _read(lines: Lines) -> Iterator[Call]:
    """Calls that others have appended to a file, each once and found by its key from then on."""
    for offset, line in lines.read_new():
        call = decode(line)
        if call is not None and lines.place(call.key, offset, len(line)):
            yield call
