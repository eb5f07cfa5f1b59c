"""Measures how many calls the offline model answers in a second of one core.

``python -m benchmarks.offline_speed`` lets users live through the awe and the rag seed. Each user's
first rollout is cold: nothing of what that user says was read before. The second is warm. Calls
are counted by the rollout's meters; seconds are CPU time of the whole process, all threads
together, so one core is what is measured whatever else the machine does. A sample of the same calls
is then answered by a naive stand-in that vectorises one string at a time and remembers nothing. It
exits with 1 if a claim fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import process_time
from typing import Any
from unittest.mock import patch

from benchmarks.report import Claim, Report, close, parser
from evolve.gym.rollout import World, live
from evolve.gym.sample import make_users
from evolve.gym.users import User, users_of
from evolve.lm import reader
from evolve.lm.base import LM, Completion, Request
from evolve.lm.lexicon import Lexicon, load_lexicon
from evolve.lm.offline import OfflineLM
from evolve.tables import Table
from policies.policy import seed_policy

ARCHITECTURES = ("awe", "rag")
LEAST = 1000  # calls a second


@dataclass(frozen=True, slots=True)
class Answered:
    """One call: what was asked, what was answered, and the CPU seconds that it took."""

    request: Request
    completion: Completion
    seconds: float


class Clock:
    """An LM that measures each call.

    Args:
        lm: The model that answers.

    Attributes:
        answered: Every call, in order.
    """

    def __init__(self, lm: LM) -> None:
        self.answered: list[Answered] = []
        self._lm = lm

    @property
    def name(self) -> str:
        """The model's name."""
        return self._lm.name

    def complete(self, request: Request) -> Completion:
        """Answer one request and note how long it took."""
        began = process_time()
        done = self._lm.complete(request)
        self.answered.append(Answered(request, done, process_time() - began))
        return done


@dataclass(frozen=True, slots=True)
class Timed:
    """One rollout, or several together.

    Attributes:
        calls: As the meters counted them.
        seconds: CPU time of the rollouts.
        answered: Their calls.
    """

    calls: int
    seconds: float
    answered: tuple[Answered, ...]

    @property
    def speed(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds

    @property
    def share(self) -> float:
        """Share of the time that the model itself took."""
        return sum(call.seconds for call in self.answered) / self.seconds


def timed(architecture: str, user: User) -> Timed:
    """Live one rollout and measure it.

    Raises:
        RuntimeError: A meter missed a call.
    """
    clock = Clock(OfflineLM())
    world = World(clock, clock, seed=1)
    began = process_time()
    rollout = live(seed_policy(architecture), user, world)
    seconds = process_time() - began
    calls = sum(usage.calls for _, usage in rollout.usage)
    if calls != len(clock.answered):
        raise RuntimeError(f"the meters counted {calls} calls of {len(clock.answered)}")
    return Timed(calls, seconds, tuple(clock.answered))


def together(rollouts: Sequence[Timed]) -> Timed:
    """Several rollouts as one."""
    return Timed(
        sum(one.calls for one in rollouts),
        sum(one.seconds for one in rollouts),
        tuple(call for one in rollouts for call in one.answered),
    )


@contextmanager
def naive() -> Iterator[None]:
    """While entered, the reader vectorises one string at a time."""
    lexicon = load_lexicon()

    def one_by_one(texts: list[str]) -> Any:
        from scipy.sparse import vstack

        return vstack([lexicon.transform([text]) for text in texts])

    slow: Lexicon = replace(lexicon, transform=one_by_one)
    with patch.object(reader, "load_lexicon", lambda: slow):
        forget()
        yield
    forget()


def forget() -> None:
    """Empty every cache of the offline model, the lexicon itself aside."""
    modules = [module for name, module in sys.modules.items() if name.startswith("evolve.lm.")]
    for holder in (*modules, reader.Reader):
        for value in list(vars(holder).values()):
            if hasattr(value, "cache_clear") and value is not load_lexicon:
                value.cache_clear()
    vectors = sys.modules.get("evolve.lm.vectors")
    if vectors is not None:
        vars(vectors)["_cache"].clear()


def naive_seconds(calls: Sequence[Answered]) -> tuple[float, int]:
    """CPU seconds of the naive stand-in for calls, and how many replies came out otherwise."""
    model, seconds, other = OfflineLM(), 0.0, 0
    with naive():
        for call in calls:
            forget()
            began = process_time()
            done = model.complete(call.request)
            seconds += process_time() - began
            other += done != call.completion
    return seconds, other


def speed_table(cold: dict[str, Timed], warm: dict[str, Timed]) -> Table:
    """Calls a second and the model's share, by architecture and state of the caches."""
    rows = []
    for state, group in (("first rollout of a user", cold), ("a later one", warm)):
        for name, one in [*group.items(), ("both", together(list(group.values())))]:
            own = sum(call.seconds for call in one.answered)
            rows.append(
                (
                    *(f"{name}, {state}", str(one.calls), f"{one.seconds:.2f}"),
                    *(f"{one.speed:.0f}", f"{one.share:.2f}", f"{one.calls / own:.0f}"),
                )
            )
    columns = (
        "rollouts",
        "calls",
        "CPU seconds",
        "calls/s",
        "model's share",
        "model alone, calls/s",
    )
    return Table("Speed of the offline model on one core", columns, tuple(rows))


def role_table(cold: Timed, warm: Timed) -> Table:
    """Calls and their cost by role, both architectures together."""
    rows = []
    for role in sorted({call.request.task for call in cold.answered}):
        means = []
        for one in (cold, warm):
            spent = [call.seconds for call in one.answered if call.request.task == role]
            means.append(f"{1000 * sum(spent) / len(spent):.3f}")
        count = sum(call.request.task == role for call in cold.answered)
        rows.append((role, str(count), *means))
    columns = ("role", "calls", "ms a call, first rollout", "ms a call, later")
    return Table("The same by role", columns, tuple(rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Measure the speed of the offline model.")
    options_of.add_argument("--users", type=int, metavar="N", help="users of each architecture (8)")
    options = options_of.parse_args(arguments)
    count = options.users or (3 if options.quick else 8)
    every = 16 if options.quick else 4
    began = process_time()
    reader.the_reader().read(["warm up"])
    loading = process_time() - began
    users = users_of(make_users(101, 2 * count), "sample")
    cold, warm = {}, {}
    for at, name in enumerate(ARCHITECTURES):
        own = users[at * count : (at + 1) * count]
        first = [timed(name, user) for user in own]
        cold[name], warm[name] = together(first), together([timed(name, user) for user in own])
    all_cold, all_warm = (together(list(group.values())) for group in (cold, warm))
    sample = all_cold.answered[::every]
    slow, other = naive_seconds(sample)
    quick = sum(call.seconds for call in sample)
    notes = (
        f"Reading the lexicon takes {loading:.1f} s of CPU once a process, not counted above.",
        f"Naive stand-in, one string at a time without a cache, on {len(sample)} of the same calls:"
        f" {len(sample) / slow:.0f} calls/s, {slow / quick:.0f} times the time of the first"
        " rollouts.",
    )
    claims = [
        Claim(f"at least {LEAST} calls a second, {state}: {one.speed:.0f}", one.speed >= LEAST)
        for state, one in (("first rollouts", all_cold), ("later rollouts", all_warm))
    ]
    claims.append(Claim(f"the naive stand-in gives the same replies: {other} differ", other == 0))
    tables = (speed_table(cold, warm), role_table(all_cold, all_warm))
    return close(Report(tables, tuple(claims), notes), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
