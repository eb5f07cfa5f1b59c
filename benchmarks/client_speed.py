"""Measures how fast rollouts of a real model's client are, against a server with a set latency.

``python -m benchmarks.client_speed`` starts ``benchmarks.openai_server`` in a process of its own,
with 200 ms a call, and lets four users of the sample live through the awe seed, side by side, with
at most 64 calls in flight. No client can be faster than the longest chain of calls that wait for
each other (``benchmarks.critical_path``) or than the CPU time that litellm needs for all calls,
since threads share one interpreter: the wall time is compared with the greater of the two. More
users then fill all 64 places, and the memory of this process is read. Last, the same requests are
sent to a server without latency by ``litellm.completion`` and by the client, in turn: what the
client adds is its own. Where other work takes more than a fifth of the cores, a time that is too
long is not judged. It exits with 1 if a claim fails.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from benchmarks import machine
from benchmarks.critical_path import critical_path
from benchmarks.report import Claim, Report, close, parser
from evolve.gym.rollout import Span, World, live
from evolve.gym.sample import make_users
from evolve.gym.users import User, users_of
from evolve.lm.base import LM, Completion, Message, Request
from evolve.lm.calls import CallLog, sample_of
from evolve.lm.limits import Limits
from evolve.lm.models import Connection, ModelSpec, connect, make_lm
from evolve.lm.offline import OfflineLM
from evolve.lm.prefix import Prefixes
from evolve.tables import Table
from evolve.workers import LiveTask, ThreadWorkers, WorldSpec
from feedback.records import Rollout
from policies.policy import seed_policy

ROOT = Path(__file__).parents[1]
ARCHITECTURE, SEED = "awe", 1
OFFLINE = World(OfflineLM(), OfflineLM(), SEED)
USERS, MORE_USERS = 4, 12
LATENCY, CONCURRENCY = 0.2, 64  # seconds; calls in flight
MOST_RATIO, LEAST_SPEEDUP = 1.25, 8.0
MOST_OVERHEAD = 0.002  # seconds of CPU a call, beyond litellm's own
MOST_MEMORY = 1000.0  # MB


@dataclass(frozen=True, slots=True)
class Run:
    """Rollouts that were lived side by side.

    Attributes:
        rollouts: In the order of the users.
        calls: That the server answered.
        seconds: Wall time.
        others: Share of the cores that other work took meanwhile; None where that is not known.
        peak: Most calls in flight at once, as the server saw them.
    """

    rollouts: tuple[Rollout, ...]
    calls: int
    seconds: float
    others: float | None
    peak: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call costs, in mean seconds of CPU and of wall time, without latency."""

    calls: int
    litellm_cpu: float
    litellm_wall: float
    client_cpu: float
    client_wall: float


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured.

    Attributes:
        run: Four users.
        path: Their longest chain of calls that wait for each other.
        cost: Of a call.
        full: More users.
        memory: The most that this process has had up to their end, in MB.
        same: Whether the rollouts are those of the offline model without a server.
    """

    run: Run
    path: int
    cost: Cost
    full: Run
    memory: float
    same: bool

    @property
    def bound(self) -> float:
        """Seconds below which no client of one process can be."""
        return max(self.path * LATENCY, self.run.calls * self.cost.litellm_cpu)

    @property
    def serial(self) -> float:
        """Seconds of the same calls one after another, litellm at its best."""
        return self.run.calls * (LATENCY + self.cost.litellm_cpu)


@contextmanager
def served(latency: float) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its base URL and its process id."""
    command = [sys.executable, "-m", "benchmarks.openai_server", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


@contextmanager
def client(url: str) -> Iterator[tuple[ModelSpec, LM]]:
    """The client of a server, by itself, with a log of its own in a folder."""
    with TemporaryDirectory() as folder, CallLog(Path(folder)) as log:
        connect(Connection(log, Limits(concurrency=CONCURRENCY), Prefixes()))
        spec = ModelSpec("openai/offline", url)
        yield spec, make_lm(spec)


def warm_up() -> None:
    """Make one call, for litellm takes seconds to import."""
    hello = (Message("system", "Be kind."), Message("user", "Hello."))
    with served(0.0) as (url, _), client(url) as (_, lm):
        lm.complete(Request("reply", hello))


def lived(users: Sequence[User]) -> Run:
    """Let users live side by side against a server of their own."""
    with served(LATENCY) as (url, pid), client(url) as (spec, _):
        world = WorldSpec(spec, spec, SEED, OFFLINE.first_rounds, OFFLINE.later_rounds)
        policy = seed_policy(ARCHITECTURE)
        tasks = [LiveTask(world, policy, user, Span()) for user in users]
        busy, cpu, began = machine.busy(), _cpu(pid), time.monotonic()
        with ThreadWorkers(CONCURRENCY) as workers:
            rollouts = tuple(workers.run(tasks))
        seconds = time.monotonic() - began
        others = machine.others(busy, machine.busy(), _cpu(pid) - cpu, seconds)
        record = seen(url)
    return Run(rollouts, record["requests"], seconds, others, record["peak"])


def _cpu(server: int) -> float:
    """CPU seconds of this process and of a server."""
    return time.process_time() + (machine.cpu_of(server) or 0.0)


def seen(url: str) -> dict[str, Any]:
    """The record of a server."""
    with urlopen(url.removesuffix("/v1") + "/record") as answer:
        record: dict[str, Any] = json.load(answer)
    return record


class Listener:
    """The offline model, and every different request that it was asked."""

    name = "offline"

    def __init__(self) -> None:
        self.requests: dict[Request, None] = {}
        self._lm = OfflineLM()

    def complete(self, request: Request) -> Completion:
        """Answer one request, with the seed that the client would send."""
        sent = replace(request, seed=sample_of(request))
        self.requests.setdefault(sent)
        return self._lm.complete(sent)


def alone(users: Sequence[User]) -> tuple[tuple[Rollout, ...], tuple[Request, ...]]:
    """Rollouts of the offline model itself, one after another, and what it was asked."""
    lm = Listener()
    policy, world = seed_policy(ARCHITECTURE), replace(OFFLINE, lm=lm, user_lm=lm)
    return tuple(live(policy, user, world) for user in users), tuple(lm.requests)


def cost_of(requests: Sequence[Request]) -> Cost:
    """Send requests by litellm itself and by the client in turn, one at a time, and measure."""
    import litellm
    from litellm._internal_context import internal_sub_call

    with served(0.0) as (url, _), client(url) as (_, lm):

        def directly(request: Request) -> None:
            with internal_sub_call():  # without records of its own, as the client asks it
                litellm.completion(
                    model="openai/offline",
                    api_base=url,
                    messages=[{"role": m.role, "content": m.content} for m in request.messages],
                    max_tokens=request.max_tokens,
                    temperature=request.temperature,
                    seed=request.seed,
                    timeout=120.0,
                    num_retries=0,
                    max_retries=0,
                    drop_params=True,
                )

        spent = {name: [0.0, 0.0] for name in ("litellm", "client")}
        warm = len(requests) // 10
        gc.collect()
        for number, request in enumerate(requests):
            ways = [("litellm", directly), ("client", lm.complete)]
            for name, send in ways if number % 2 else ways[::-1]:
                wall, cpu = time.perf_counter(), time.process_time()
                send(request)
                if number >= warm:
                    spent[name][0] += time.process_time() - cpu
                    spent[name][1] += time.perf_counter() - wall
    count = len(requests) - warm
    means = [total / count for name in ("litellm", "client") for total in spent[name]]
    return Cost(count, *means)


def table_of(found: Found) -> Table:
    """Everything that the claims rest on."""
    run, cost = found.run, found.cost
    rows = (
        ("calls of four users", str(run.calls)),
        ("wall time, s", f"{run.seconds:.2f}"),
        ("critical path, calls", str(found.path)),
        ("critical path × latency, s", f"{found.path * LATENCY:.2f}"),
        ("calls × litellm's CPU, s", f"{run.calls * cost.litellm_cpu:.2f}"),
        ("one after another, s", f"{found.serial:.2f}"),
        ("most in flight", str(run.peak)),
        ("litellm alone, ms of CPU a call", f"{1000 * cost.litellm_cpu:.2f}"),
        ("the client, ms of CPU a call", f"{1000 * cost.client_cpu:.2f}"),
        ("litellm alone, ms a call", f"{1000 * cost.litellm_wall:.2f}"),
        ("the client, ms a call", f"{1000 * cost.client_wall:.2f}"),
        (f"calls of {MORE_USERS} users", str(found.full.calls)),
        ("their wall time, s", f"{found.full.seconds:.2f}"),
        ("their most in flight", str(found.full.peak)),
    )
    title = f"{ARCHITECTURE} seed, {1000 * LATENCY:.0f} ms a call, concurrency {CONCURRENCY}"
    return Table(title, ("quantity", "value"), rows)


def claims_of(found: Found, *, strict: bool = True) -> list[Claim]:
    """What must hold of it.

    Args:
        found: What was measured.
        strict: Whether the speedup is judged, which litellm's cost per call decides by a few
            hundredths: not where that was measured on a quarter of the calls.
    """
    run, cost = found.run, found.cost
    ratio, speedup = run.seconds / found.bound, found.serial / run.seconds
    own = cost.client_cpu - cost.litellm_cpu
    failed = sum(r.failure is not None for r in (*run.rollouts, *found.full.rollouts))
    disturbed = run.others is not None and run.others > machine.DISTURBED
    others = "" if run.others is None else f"; other work took {run.others:.2f} of the cores"
    full = found.full.peak == CONCURRENCY
    return [
        Claim(
            f"four users take at most {MOST_RATIO} times the greater of critical path and litellm's"
            f" CPU: {run.seconds:.1f} s, {ratio:.2f} times{others}",
            True if ratio <= MOST_RATIO else None if disturbed else False,
        ),
        Claim(
            f"at least {LEAST_SPEEDUP:g} times faster than one after another: {speedup:.1f}"
            f" times{others}",
            True if speedup >= LEAST_SPEEDUP else None if disturbed or not strict else False,
        ),
        Claim(
            f"the client adds at most {1000 * MOST_OVERHEAD:g} ms of CPU to a call of litellm's:"
            f" {1000 * own:.2f} ms",
            own <= MOST_OVERHEAD,
        ),
        Claim(
            f"less than {MOST_MEMORY:.0f} MB with {CONCURRENCY} calls in flight:"
            f" {found.memory:.0f} MB, {found.full.peak} in flight",
            found.memory < MOST_MEMORY and full,
        ),
        Claim(
            f"rollouts are those of the offline model itself: {failed} failed",
            found.same and not failed,
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Measure the speed of the client of real models.")
    options = options_of.parse_args(arguments)
    os.environ["OPENAI_API_KEY"] = "sk-6f1c0de94b7a"  # the server takes any
    users = users_of(make_users(101, MORE_USERS), "sample")
    warm_up()
    run, full = lived(users[:USERS]), lived(users)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = peak / (2**20 if sys.platform == "darwin" else 2**10)
    rollouts, requests = alone(users[:USERS])
    policy = seed_policy(ARCHITECTURE)
    found = Found(
        run=run,
        path=max(critical_path(policy, user, OFFLINE) for user in users[:USERS]),
        cost=cost_of(requests[:: 4 if options.quick else 1]),
        full=full,
        memory=memory,
        same=run.rollouts == rollouts,
    )
    claims = claims_of(found, strict=not options.quick)
    return close(Report((table_of(found),), tuple(claims)), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
