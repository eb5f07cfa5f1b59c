"""The frozen records that pass from a rollout to its diagnosis, its trace and the feedback.

All positions are integers. A message id is ``"PERIOD.SESSION.ROUND.u"`` for the user's message and
``"….a"`` for the assistant's reply, all counted from 0; ``message_position`` orders them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What a diagnosis says of one answer; a right one is ``RIGHT``, lucky or not."""

    RIGHT = "right"
    WRITE = "write"
    READ = "read"
    UTILIZATION = "utilization"
    FORMAT = "format"


class TraceStage(StrEnum):
    """The step that lost a state, by the memory itself, in the order in which steps happen."""

    UNSAID = "unsaid"
    UNWRITTEN = "unwritten"
    CORRUPTED = "corrupted"
    UNDECIDED = "undecided"
    LOST = "lost"
    UNRETRIEVED = "unretrieved"
    MISREAD = "misread"
    UNUSED = "unused"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the conversation as it was lived.

    Attributes:
        id: Position, ``"PERIOD.SESSION.ROUND.u"`` or ``"….a"``.
        role: ``"user"`` or ``"assistant"``.
        content: The text; a user's first message of a session starts with the current time.
        told: States whose current value this message revealed, as (state, value), where known:
            ``exposed_states`` for an opening query, what the simulated user told for a follow-up.
    """

    id: str
    role: str
    content: str
    told: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory entry over its whole life.

    Attributes:
        id: Number within the rollout, in order of writing.
        label: The remembered type (awe, awi), ``"fact"`` (mem0) or ``""`` (a raw turn).
        text: What was written, or the raw turn.
        sources: Ids of the messages of the batch that it came from.
        written: Number of the write that made it, from 0.
        period: Period in which it was written.
        session: Number of the session since the start of the rollout in which it was written.
        retired: Number of the write that retired it, or None while it is live.
        retired_because: ``"superseded"``, ``"overwritten"`` or ``"max_memory_tokens"``; else None.
    """

    id: int
    label: str
    text: str
    sources: tuple[str, ...]
    written: int
    period: int
    session: int
    retired: int | None = None
    retired_because: str | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a batch of messages to memory.

    Attributes:
        number: From 0, in order.
        period: Period in which it happened.
        batch: Ids of the messages written.
        entries: Ids of the entries that it made.
        format_error: Reason when the reply could not be read (memory then stays as it was).
    """

    number: int
    period: int
    batch: tuple[str, ...]
    entries: tuple[int, ...]
    format_error: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What an answer or a probe was shown.

    Attributes:
        entries: Ids of the memory entries shown, in prompt order.
        messages: Ids of the raw messages shown (window, or the history of native).
    """

    entries: tuple[int, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateProbe:
    """What a probe said of one required state.

    Attributes:
        state: Name of the state.
        truth: Its true value at this period.
        reply: The value read from the reply, or None if unparsable, unknown or absent.
        format_error: The reply held no readable value for this state.
        unknown: The agent said that it does not know (wrong, counted apart).
    """

    state: str
    truth: str
    reply: str | None
    format_error: bool = False
    unknown: bool = False

    @property
    def right(self) -> bool:
        """Whether the probe equals the true value."""
        return self.reply is not None and self.reply == self.truth


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered question at one period, with its probe.

    Attributes:
        period: From 0.
        question: Index of the question within the user.
        choices: Number of choices (so random accuracy is 1 / choices); 0 where the answer is given
            in own words, which guessing does not get right.
        right_choice: Index of the right choice in the file's order.
        chosen: Index of the chosen one in the file's order, or None if it could not be read.
        probes: One per required state, in the question's order; empty if probes were not asked.
        context: What the answer was shown.
        probe_context: What the probe was shown.
        reply: The raw reply to the question.
        probe_reply: The raw reply to the probe; that of a joint one stands with the first answer
            of its period alone.
    """

    period: int
    question: int
    choices: int
    right_choice: int
    chosen: int | None
    probes: tuple[StateProbe, ...]
    context: Context = Context()
    probe_context: Context = Context()
    reply: str = ""
    probe_reply: str = ""

    @property
    def right(self) -> bool:
        """Whether the right choice was chosen."""
        return self.chosen is not None and self.chosen == self.right_choice


@dataclass(frozen=True, slots=True)
class Usage:
    """What one role spent: calls and tokens (offline: UTF-8 bytes / 4, rounded up per call)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Sum of two usages."""
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """What asking for a period's states in one call changes, where they were asked both ways.

    Attributes:
        compared: (Question, period, state) triples that were probed both ways.
        differing: Of them, those that are right one way and wrong the other.
    """

    compared: int = 0
    differing: int = 0

    def __add__(self, other: Compared) -> Compared:
        """Sum of two counts."""
        return Compared(self.compared + other.compared, self.differing + other.differing)


@dataclass(frozen=True, slots=True)
class Rollout:
    """One policy lived through by one user: data, also when it failed.

    Attributes:
        policy: Id of the policy.
        user: Id of the user.
        messages: The conversation in order.
        writes: In order.
        entries: Every entry ever made, in order of id; retirement filled in.
        answers: By period, then question.
        usage: (role, usage) pairs sorted by role.
        memory_tokens: Size of live memory at the end of each period, in tokens.
        failure: None, or the reason why the rollout failed; answers are then not to be scored.
        failure_kind: ``"policy"`` or ``"outside"`` when failed.
        joint: How joint probes compare, where states were probed both ways; else None. The probes
            of the answers are then the single ones.
    """

    policy: str
    user: str
    messages: tuple[ChatMessage, ...]
    writes: tuple[Write, ...]
    entries: tuple[Entry, ...]
    answers: tuple[Answer, ...]
    usage: tuple[tuple[str, Usage], ...]
    memory_tokens: tuple[int, ...] = ()
    failure: str | None = None
    failure_kind: str | None = None
    joint: Compared | None = None


@dataclass(frozen=True, slots=True)
class StateTrace:
    """Where one required state of one wrong answer was lost.

    Attributes:
        state: Name of the state.
        stage: The step that lost it.
        competing: For ``unwritten``: number of told facts in the write batch(es) that had it.
    """

    state: str
    stage: TraceStage
    competing: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is said of one answer.

    Attributes:
        user: Id of the user.
        period: From 0.
        question: Index of the question.
        choices: Number of choices; 0 where the answer is given in own words.
        stage: Right, or the first stage that failed.
        lucky: Right although some required state was probed wrong.
        failed_states: States that the stage blames: for write those wrong at their write period
            too, for read those probed wrong, for utilization and format all required states.
        probe_format_errors: Number of required states whose probe could not be read.
        unknown_probes: Number of required states probed ``unknown``.
        trace: One per required state of a wrong answer that a step lost, where the environment
            knows which turn revealed it; empty otherwise. ``earliest`` is the one that counts.
        probed: Whether the probe was asked. Where it was not, only right and format are known:
            the stage of another wrong answer says nothing, and scores leave the stages undefined.
    """

    user: str
    period: int
    question: int
    choices: int
    stage: Stage
    lucky: bool = False
    failed_states: tuple[str, ...] = ()
    probe_format_errors: int = 0
    unknown_probes: int = 0
    trace: tuple[StateTrace, ...] = ()
    probed: bool = True

    @property
    def guessed(self) -> float:
        """How often guessing is right, 0 to 1."""
        return 1 / self.choices if self.choices else 0.0

    @property
    def earliest(self) -> TraceStage | None:
        """The earliest lost step over the required states, or None without a trace."""
        order = list(TraceStage)
        return min((t.stage for t in self.trace), key=order.index, default=None)


def message_position(message_id: str) -> tuple[int, int, int, int]:
    """Order of a message id: (period, session, round, 0 for the user or 1 for the assistant)."""
    period, session, round_, who = message_id.split(".")
    return int(period), int(session), int(round_), 0 if who == "u" else 1


@dataclass(frozen=True, slots=True)
class UserTruth:
    """What is true of one user: all that diagnosis, trace and feedback need of the environment.

    Attributes:
        user: Id.
        schema: State name to its possible values.
        states: Per period, state name to its true value.
        updated: Per period, the states that the period updated.
        queries: Text of each question.
        choices: Per question, the texts of its choices, in the file's order.
        required: Per question, the names of its required states.
        traceable: Whether every session names the states that it exposes (maybe none).
        recorded: Whether conversations are replayed, so that no reply is made in them.
    """

    user: str
    schema: Mapping[str, tuple[str, ...]]
    states: tuple[Mapping[str, str], ...]
    updated: tuple[frozenset[str], ...]
    queries: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    required: tuple[tuple[str, ...], ...]
    traceable: bool
    recorded: bool = False

    def write_period(self, state: str, period: int) -> int:
        """Period of the state's latest update up to ``period``; 0 if it was never updated."""
        return max((p for p in range(period + 1) if state in self.updated[p]), default=0)
