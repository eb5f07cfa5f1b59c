"""One rollout: a policy lived through by one user, period by period, on-policy or replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Literal

from evolve.agents.base import MemoryAgent
from evolve.agents.common import Speaker
from evolve.agents.registry import make_agent
from evolve.beside import OneByOne, SideBySide, Together
from evolve.gym.asked import Asked, begin
from evolve.gym.probes import ProbeMode
from evolve.gym.recorded import Conversation, rounds_of
from evolve.gym.simulate import SimulatedUser
from evolve.gym.users import User
from evolve.lm.base import LM, count_tokens
from evolve.lm.meter import Meter, add_usage, metered
from evolve.seeding import derive
from feedback.records import Answer, ChatMessage, Compared, Rollout, message_position
from policies.errors import OutsideFailureError, PolicyFailureError
from policies.policy import Policy

Revise = Callable[[Rollout], Policy]
"""From a life so far to the policy whose texts it goes on with; its settings stay the same."""


@dataclass(frozen=True, slots=True)
class World:
    """What all rollouts of a run share.

    Attributes:
        lm: The assistant's model.
        user_lm: The model that plays the user.
        seed: Of the run.
        first_rounds: Rounds of a session in the first period, the opening included.
        later_rounds: Rounds of a session in later periods, the opening included.
        beside: Makes the calls of a rollout that need not wait for each other; changes nothing but
            the time.
    """

    lm: LM
    user_lm: LM
    seed: int
    first_rounds: int = 1
    later_rounds: int = 2
    beside: SideBySide = field(default_factory=OneByOne)

    def rounds(self, period: int) -> int:
        """Rounds of a session in a period."""
        return self.later_rounds if period else self.first_rounds


@dataclass(frozen=True, slots=True)
class Span:
    """How much of a life is lived.

    Attributes:
        periods: How many, from the first; None for all.
        answers_only: No conversation and no probes: what ``none`` needs.
        probes: How states are probed. A joint probe is for memory of which the same is shown
            whatever is asked.
    """

    periods: int | None = None
    answers_only: bool = False
    probes: ProbeMode = "single"


def live(policy: Policy, user: User, world: World, span: Span = Span()) -> Rollout:
    """Live one rollout on-policy; a failure is data, never an exception.

    A user whose conversations are recorded is lived off-policy: they are replayed.

    Each round waits for the one before, and memory takes note of a round while the user thinks of
    the next words. The questions and probes of a period are put together from memory at its end and
    asked side by side, while the next period is talked through. Of calls that fail side by side the
    first in order counts, and of the others nothing is recorded.

    Args:
        policy: Drives the assistant.
        user: Lives through its periods.
        world: Models, seed and rounds.
        span: How much of it.
    """

    def talk(life: _Life, period: int) -> None:
        if not span.answers_only:
            life.talk(period)

    probes = None if span.answers_only else span.probes
    return _Life(policy, user, world).through(_periods(user, span), talk, probes)


def live_revised(policy: Policy, user: User, world: World, revise: Revise) -> Rollout:
    """Live a whole life, its texts revised between periods; what is in memory stays.

    Args:
        policy: Drives the assistant at first; the rollout is recorded as its.
        user: Lives through its periods.
        world: Models, seed and rounds.
        revise: Called after the questions of every period but the last; what it raises for outside
            reasons fails the rollout.
    """

    def talk(life: _Life, period: int) -> None:
        if period:
            life.go_on(revise)
        life.talk(period)

    return _Life(policy, user, world).through(len(user.periods), talk, "single", ahead=False)


def replay(
    policy: Policy,
    user: User,
    recorded: Sequence[Conversation],
    world: World,
    *,
    probe: bool = True,
) -> Rollout:
    """Off-policy: memory observes a recorded conversation; no reply is generated.

    Args:
        policy: Drives memory and answers.
        user: Whose questions are asked.
        recorded: Per period, per session, its messages, ids as in ``feedback.records``.
        world: Models and seed.
        probe: Whether states are probed, too, which a diagnosis needs.
    """

    def hear(life: _Life, period: int) -> None:
        life.hear_all(recorded[period])

    return _Life(policy, user, world).through(len(recorded), hear, "single" if probe else None)


def recorded_of(rollout: Rollout, periods: int) -> tuple[Conversation, ...]:
    """What was said in the first so many periods of a rollout, as ``replay`` takes it."""
    said: list[dict[int, list[ChatMessage]]] = [{} for _ in range(periods)]
    for message in rollout.messages:
        period, session, _ = message_position(message.id)[:3]
        if period < periods:
            said[period].setdefault(session, []).append(message)
    return tuple(tuple(map(tuple, sessions.values())) for sessions in said)


def planned_calls(user: User, world: World, span: Span = Span()) -> int:
    """Calls of replies, follow-ups, answers and probes; not of writes, which vary by policy.

    Where conversations are recorded nobody replies or follows up.
    """
    total = 0
    for period in range(_periods(user, span)):
        asked, probed = len(user.asked_in(period)), len(user.probed_in(period))
        if span.answers_only:
            total += asked
            continue
        joint = min(probed, 1)
        probes = {"single": probed, "joint": joint, "both": probed + joint}[span.probes]
        total += _talk_calls(user, world, period) + asked + probes
    return total


def share(user: User, world: World, span: Span) -> Fraction:
    """What a rollout is charged: its share of the calls of a full one with single probes."""
    return Fraction(planned_calls(user, world, span), planned_calls(user, world))


def _talk_calls(user: User, world: World, period: int) -> int:
    """Replies and follow-ups of a period."""
    if user.recorded is not None:
        return 0
    return len(user.periods[period].sessions) * (2 * world.rounds(period) - 1)


def _periods(user: User, span: Span) -> int:
    return len(user.periods) if span.periods is None else min(span.periods, len(user.periods))


class _Life:
    """A rollout in the making."""

    def __init__(self, policy: Policy, user: User, world: World) -> None:
        self._lm, self._user_lm = Meter(world.lm), Meter(world.user_lm)
        seed = derive(world.seed, "agent", user.id)
        self._speaker = Speaker(policy, self._lm, seed)
        self._agent: MemoryAgent = make_agent(self._speaker)
        self._policy, self._user, self._world = policy, user, world
        self._simulated = SimulatedUser(user, world.seed)
        self._messages: list[ChatMessage] = []
        self._answers: list[Answer] = []
        self._joint: Compared | None = None
        self._memory_tokens: list[int] = []

    def talk(self, period: int) -> None:
        """Live the sessions of a period, or hear them where they are recorded."""
        if self._user.recorded is not None:
            self.hear_all(self._user.recorded[period])
            return
        for session in range(len(self._user.periods[period].sessions)):
            self.converse(period, session)

    def hear_all(self, conversation: Conversation) -> None:
        """Let memory observe the sessions of a recorded period, round by round."""
        for session in conversation:
            for messages in rounds_of(session):
                self.hear(messages)

    def converse(self, period: int, session: int) -> None:
        """Live one session, round by round."""
        said = self._simulated.open(period, session)
        so_far: tuple[ChatMessage, ...] = ()
        last = self._world.rounds(period) - 1
        for number in range(last + 1):
            reply = self._agent.reply(said)
            heard = said, ChatMessage(f"{period}.{session}.{number}.a", "assistant", reply)
            so_far += heard
            if number == last:
                self.hear(heard)
                return
            follow = partial(self._simulated.follow, period, session, so_far)
            with Together(self._world.beside) as together:
                following = together.begin(partial(metered, self._world.user_lm, follow))
                self.hear(heard)
                said = following.result().counted(self._user_lm)

    def go_on(self, revise: Revise) -> None:
        """Go on in other words."""
        self._speaker.policy = revise(self._record(None))

    def hear(self, messages: Sequence[ChatMessage]) -> None:
        """Let memory observe messages."""
        self._messages += messages
        self._agent.observe(messages)

    def through(
        self,
        periods: int,
        talk: Callable[[_Life, int], None],
        probes: ProbeMode | None,
        *,
        ahead: bool = True,
    ) -> Rollout:
        """Live through periods, each talked through and then asked about.

        The next one may be talked through while answers to a period's questions are awaited, if
        it does not depend on them (``ahead``).
        """
        if probes == "both":
            self._joint = Compared()
        try:
            with Together(self._world.beside) as together:
                asked: Asked | None = None
                for period in range(periods):
                    try:
                        talk(self, period)
                    except (PolicyFailureError, OutsideFailureError):
                        self._settle(asked)  # what was asked before counts first
                        raise
                    self._settle(asked)
                    asked = self._ask(together, period, probes)
                    if not ahead:
                        self._settle(asked)
                        asked = None
                self._settle(asked)
        except (PolicyFailureError, OutsideFailureError) as error:
            return self._record(error)
        return self._record(None)

    def _ask(self, together: Together, period: int, probes: ProbeMode | None) -> Asked:
        """Begin to ask every question of a period, and to probe states."""
        live_now = (e for e in self._agent.entries if e.retired is None)
        self._memory_tokens.append(sum(count_tokens(f"{e.label}: {e.text}") for e in live_now))
        place = self._world.seed, self._user, period
        return begin(together, self._agent, place, self._world.lm, probes)

    def _settle(self, asked: Asked | None) -> None:
        """Take the answers to what was asked, in order."""
        for answer, compared in asked.answers(self._lm) if asked else ():
            self._answers.append(answer)
            if self._joint is not None:
                self._joint += compared

    def _record(self, error: Exception | None) -> Rollout:
        """The frozen result."""
        kind: Literal["policy", "outside"] | None = None
        if error is not None:
            kind = "policy" if isinstance(error, PolicyFailureError) else "outside"
        return Rollout(
            policy=self._policy.id,
            user=self._user.id,
            messages=tuple(self._messages),
            writes=self._agent.writes,
            entries=self._agent.entries,
            answers=tuple(self._answers),
            usage=add_usage(self._lm.usage, self._user_lm.usage),
            memory_tokens=tuple(self._memory_tokens),
            failure=str(error) if error is not None else None,
            failure_kind=kind,
            joint=self._joint,
        )
