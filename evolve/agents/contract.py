"""The contract of memory agents as checks: each says in a sentence what breaks it.

The contract itself is in the docstring of ``evolve.agents.base.MemoryAgent``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise

from evolve.agents.base import MemoryAgent, Prepared, Query
from evolve.agents.common import SessionCount
from evolve.lm.base import LM, Completion, Request
from feedback.records import ChatMessage, message_position
from policies.errors import MnemotuneError, OutsideFailureError

_BUSY = (1, 1, 48)  # calls in between: of any rhythm, and past a cache or counter that is full
_HALF = 12  # messages after which something is asked for the first time


class BreachError(Exception):
    """What an agent does against the contract; the message says it."""


@dataclass
class Heard:
    """A model that remembers what it was asked.

    Attributes:
        inner: Answers.
        requests: In order.
    """

    inner: LM
    requests: list[Request] = field(default_factory=list)

    @property
    def name(self) -> str:
        """That of the model."""
        return self.inner.name

    def complete(self, request: Request) -> Completion:
        """Answer one request."""
        self.requests.append(request)
        return self.inner.complete(request)


class Failing:
    """A model that is out of reach."""

    name = "failing"

    def complete(self, request: Request) -> Completion:
        """Fail."""
        raise OutsideFailureError("the model is out of reach")


@dataclass(frozen=True, slots=True)
class Trial:
    """What an agent is tried with.

    Attributes:
        make: A fresh agent that asks a model.
        lm: The model.
        messages: A conversation, users' messages and replies by turns.
        message: One more message of the user, said later.
        queries: An answer and a probe.
    """

    make: Callable[[LM], MemoryAgent]
    lm: LM
    messages: tuple[ChatMessage, ...]
    message: ChatMessage
    queries: tuple[Query, ...]

    def lived(self) -> tuple[MemoryAgent, Heard]:
        """An agent that has observed everything, and its model."""
        lm = Heard(self.lm)
        agent = self.make(lm)
        agent.observe(self.messages)
        return agent, lm

    def asked(self, agent: MemoryAgent) -> list[object]:
        """All that an agent says and prepares as it is now."""
        return [agent.reply(self.message), *(agent.prepare(query) for query in self.queries)]


def _stores_nothing(trial: Trial) -> None:
    agent = trial.make(Heard(trial.lm))
    for part in (trial.messages[:_HALF], trial.messages[_HALF:]):
        agent.observe(part)
        before = deepcopy((agent.entries, agent.writes))
        first, second = trial.asked(agent), trial.asked(agent)
        if (agent.entries, agent.writes) != before:
            raise BreachError("reply or prepare changes entries or writes; only observe may")
        if first != second:
            raise BreachError("asked the same twice, reply or prepare gives something else")
    alone, _ = trial.lived()
    if (agent.entries, agent.writes) != (alone.entries, alone.writes):
        raise BreachError("memory is another where something was asked in between")


def _prepares_without_a_call(trial: Trial) -> None:
    agent, lm = trial.lived()
    before = len(lm.requests)
    for query in trial.queries:
        agent.prepare(query)
    if len(lm.requests) > before:
        raise BreachError("prepare calls the model; it only says how to")


def _asks_what_the_query_says(trial: Trial) -> None:
    agent, _ = trial.lived()
    for query in trial.queries:
        request = agent.prepare(query).request
        if (request.task, request.seed) != (query.task, query.seed):
            raise BreachError(
                f"the request has task {request.task!r} and seed {request.seed}, the query "
                f"{query.task!r} and {query.seed}"
            )
        shown = "\n".join(message.content for message in request.messages)
        for name, text in (("rules", query.rules), ("prompt", query.prompt)):
            if text not in shown:
                raise BreachError(f"the request for a {query.task} lacks the query's {name}")


def _shows_what_the_context_says(trial: Trial) -> None:
    agent, _ = trial.lived()
    live = {entry.id: entry for entry in agent.entries if entry.retired is None}
    observed = {message.id: message for message in trial.messages}
    for prepared in (agent.prepare(query) for query in trial.queries):
        shown = _shown(prepared)
        for one in prepared.context.entries:
            if one not in live:
                raise BreachError(f"the context names entry {one}, which is not live")
            if " ".join(live[one].text.split()) not in shown:
                raise BreachError(f"the context names entry {one}, but its text is not shown")
        for name in prepared.context.messages:
            if name not in observed:
                raise BreachError(f"the context names message {name}, which was not observed")
            if " ".join(observed[name].content.split()) not in shown:
                raise BreachError(f"the context names message {name}, but it is not shown")


def _entries_come_from_what_was_observed(trial: Trial) -> None:
    agent, _ = trial.lived()
    entries, writes = agent.entries, agent.writes
    for what, found in (
        ("ids of entries", [entry.id for entry in entries]),
        ("numbers of writes", [write.number for write in writes]),
    ):
        if found != list(range(len(found))):
            raise BreachError(f"{what} must count from 0, but are {found[:5]} …")
    observed = [message.id for message in trial.messages]
    written = [one for write in writes for one in write.batch]
    if [one for one in observed if one in set(written)] != written:
        raise BreachError("batches of writes must hold observed messages, each once, in order")
    for entry in entries:
        if not 0 <= entry.written < len(writes):
            raise BreachError(f"entry {entry.id} names write {entry.written}, which there is not")
        if entry.id not in writes[entry.written].entries:
            raise BreachError(f"write {entry.written} does not name its entry {entry.id}")
        if not entry.sources or not set(entry.sources) <= set(written):
            raise BreachError(f"sources of entry {entry.id} are not ids of written messages")
        if (entry.retired is None) != (entry.retired_because is None):
            raise BreachError(f"entry {entry.id} is retired without a reason, or not retired with")


def _writes_know_when(trial: Trial) -> None:
    agent, sessions = trial.make(Heard(trial.lm)), SessionCount()
    for message in trial.messages:
        made, writes = len(agent.entries), len(agent.writes)
        agent.observe([message])
        period, session = message_position(message.id)[0], sessions.see(message)
        if any(write.period != period for write in agent.writes[writes:]):
            raise BreachError(f"a write made in period {period} says another")
        for entry in agent.entries[made:]:
            if (entry.period, entry.session) != (period, session):
                raise BreachError(
                    f"entry {entry.id} was made in period {period}, session {session}, and says "
                    f"{entry.period}, {entry.session}"
                )


def _grouping_does_not_matter(trial: Trial) -> None:
    whole, _ = trial.lived()
    pieces = trial.make(Heard(trial.lm))
    places = [0, 1, 4, 5, _HALF, len(trial.messages)]
    for start, end in pairwise(places):
        pieces.observe(trial.messages[start:end])
    if (whole.entries, whole.writes) != (pieces.entries, pieces.writes):
        raise BreachError("memory depends on how many messages observe is given at once")


def _repeats_itself(trial: Trial) -> None:
    (one, first), (other, second) = trial.lived(), trial.lived()
    if trial.asked(one) != trial.asked(other) or first.requests != second.requests:
        raise BreachError("two equal lives ask the model differently; leave out time and chance")


def _shares_nothing(trial: Trial) -> None:
    agent, fresh = trial.lived()[0], trial.make(Heard(trial.lm))
    if fresh.entries or fresh.writes or fresh.prepare(trial.queries[0]).context.entries:
        raise BreachError("a fresh instance remembers what another observed")
    if not (agent.entries or agent.prepare(trial.queries[0]).context.messages):
        raise BreachError("of a conversation nothing is in memory, and nothing in context")
    _minds_its_own(trial)


def _minds_its_own(trial: Trial) -> None:
    expected, busy = trial.asked(trial.lived()[0]), trial.lived()[0]
    for times in _BUSY:
        for _ in range(times):
            busy.prepare(trial.queries[-1])
        if trial.asked(trial.lived()[0]) != expected:
            raise BreachError(
                "an instance says something else after another was at work; keep counters, caches "
                "and chance in the instance, not in a module or class"
            )


def _lets_errors_pass(trial: Trial) -> None:
    for what in ("reply", "observe"):
        agent = trial.make(Failing())
        try:
            if what == "reply":
                agent.reply(trial.message)
                raise BreachError("reply hides that the model failed; let its errors pass")
            agent.observe(trial.messages)
        except OutsideFailureError:
            continue
        if any(write.format_error is None for write in agent.writes) and _writes_by_model(trial):
            raise BreachError("observe hides that the model failed; let its errors pass")


def _writes_by_model(trial: Trial) -> bool:
    return any(request.task == "write" for request in trial.lived()[1].requests)


def _shown(prepared: Prepared) -> str:
    return " ".join(" ".join(m.content for m in prepared.request.messages).split())


CHECKS: Mapping[str, Callable[[Trial], None]] = {
    "reply and prepare store nothing": _stores_nothing,
    "prepare makes no call": _prepares_without_a_call,
    "what is asked is what the query says": _asks_what_the_query_says,
    "what is shown is what the context says": _shows_what_the_context_says,
    "entries come from what was observed": _entries_come_from_what_was_observed,
    "a write knows when it happened": _writes_know_when,
    "it does not matter how messages are grouped": _grouping_does_not_matter,
    "the same life asks the same": _repeats_itself,
    "instances share nothing, and each remembers": _shares_nothing,
    "errors of the model pass through": _lets_errors_pass,
}


def breaches(trial: Trial, checks: Sequence[str] = tuple(CHECKS)) -> dict[str, str]:
    """Check to what breaks it, of those that are broken; an agent that fails breaks the check."""
    found = {}
    for name in checks:
        try:
            CHECKS[name](trial)
        except (BreachError, MnemotuneError) as breach:
            found[name] = str(breach)
    return found
