"""One rollout: a policy lived through by one user, period by period, on-policy or replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evolve.agents.base import MemoryAgent
from evolve.agents.common import Speaker
from evolve.agents.registry import make_agent
from evolve.gym.questions import answer_query, choice_order, probe_query
from evolve.gym.simulate import SimulatedUser
from evolve.gym.users import User
from evolve.lm.base import LM, count_tokens
from evolve.lm.meter import Meter, add_usage
from evolve.lm.parse import UNKNOWN, FormatError, parse_choice, parse_values
from evolve.seeding import derive
from feedback.records import Answer, ChatMessage, Rollout, StateProbe
from policies.errors import OutsideFailureError, PolicyFailureError
from policies.policy import Policy

Conversation = tuple[tuple[ChatMessage, ...], ...]  # one period: sessions of messages


@dataclass(frozen=True, slots=True)
class World:
    """What all rollouts of a run share.

    Attributes:
        lm: The assistant's model.
        user_lm: The model that plays the user.
        seed: Of the run.
        first_rounds: Rounds of a session in the first period, the opening included.
        later_rounds: Rounds of a session in later periods, the opening included.
    """

    lm: LM
    user_lm: LM
    seed: int
    first_rounds: int = 1
    later_rounds: int = 2

    def rounds(self, period: int) -> int:
        """Rounds of a session in a period."""
        return self.later_rounds if period else self.first_rounds


@dataclass(frozen=True, slots=True)
class Span:
    """How much of a life is lived.

    Attributes:
        periods: How many, from the first; None for all.
        answers_only: No conversation and no probes: what ``none`` needs.
    """

    periods: int | None = None
    answers_only: bool = False


def live(policy: Policy, user: User, world: World, span: Span = Span()) -> Rollout:
    """Live one rollout on-policy; a failure is data, never an exception.

    Args:
        policy: Drives the assistant.
        user: Lives through its periods.
        world: Models, seed and rounds.
        span: How much of it.
    """
    user_lm = Meter(world.user_lm)
    simulated = SimulatedUser(user, user_lm, world.seed)
    life = _Life(policy, user, world)
    try:
        for period in range(_periods(user, span)):
            if not span.answers_only:
                for session in range(len(user.periods[period].sessions)):
                    life.converse(simulated, period, session)
            life.ask(period, probe=not span.answers_only)
    except (PolicyFailureError, OutsideFailureError) as error:
        return life.record(user_lm, error)
    return life.record(user_lm, None)


def replay(policy: Policy, user: User, recorded: Sequence[Conversation], world: World) -> Rollout:
    """Off-policy: memory observes a recorded conversation; no reply is generated.

    Args:
        policy: Drives memory and answers.
        user: Whose questions are asked.
        recorded: Per period, per session, its messages, ids as in ``feedback.records``.
        world: Models and seed.
    """
    life = _Life(policy, user, world)
    try:
        for period, sessions in enumerate(recorded):
            for session in sessions:
                for start in range(0, len(session), 2):
                    life.hear(session[start : start + 2])
            life.ask(period, probe=True)
    except (PolicyFailureError, OutsideFailureError) as error:
        return life.record(None, error)
    return life.record(None, None)


def planned_calls(user: User, world: World, span: Span = Span()) -> int:
    """Calls of replies, follow-ups, answers and probes; not of writes, which vary by policy."""
    total = 0
    for period in range(_periods(user, span)):
        asked = len(user.questions)
        if span.answers_only:
            total += asked
            continue
        rounds = world.rounds(period)
        total += len(user.periods[period].sessions) * (2 * rounds - 1) + 2 * asked
    return total


def share(user: User, world: World, span: Span) -> Fraction:
    """What a partial rollout is charged: its share of a full rollout's calls."""
    return Fraction(planned_calls(user, world, span), planned_calls(user, world))


def _periods(user: User, span: Span) -> int:
    return len(user.periods) if span.periods is None else min(span.periods, len(user.periods))


class _Life:
    """A rollout in the making."""

    def __init__(self, policy: Policy, user: User, world: World) -> None:
        self._lm = Meter(world.lm)
        seed = derive(world.seed, "agent", user.id)
        self._agent: MemoryAgent = make_agent(Speaker(policy, self._lm, seed))
        self._policy, self._user, self._world = policy, user, world
        self._messages: list[ChatMessage] = []
        self._answers: list[Answer] = []
        self._memory_tokens: list[int] = []

    def converse(self, simulated: SimulatedUser, period: int, session: int) -> None:
        """Live one session, round by round."""
        so_far: list[ChatMessage] = []
        for number in range(self._world.rounds(period)):
            said = (
                simulated.follow(period, session, so_far)
                if number
                else simulated.open(period, session)
            )
            reply = self._agent.reply(said)
            answered = ChatMessage(f"{period}.{session}.{number}.a", "assistant", reply)
            so_far += [said, answered]
            self.hear((said, answered))

    def hear(self, messages: Sequence[ChatMessage]) -> None:
        """Let memory observe messages."""
        self._messages += messages
        self._agent.observe(messages)

    def ask(self, period: int, *, probe: bool) -> None:
        """Ask every question of the period, each with its probe."""
        for question in range(len(self._user.questions)):
            self._answers.append(self._answer(period, question, probe=probe))
        live_now = (e for e in self._agent.entries if e.retired is None)
        self._memory_tokens.append(sum(count_tokens(f"{e.label}: {e.text}") for e in live_now))

    def _answer(self, period: int, question: int, *, probe: bool) -> Answer:
        user, seed = self._user, self._world.seed
        asked, state = user.questions[question], user.periods[period].state
        order = choice_order(seed, user, question, period)
        reply = self._agent.answer(answer_query(seed, user, question, order))
        try:
            shown = [asked.choices[i].answer for i in order]
            chosen: int | None = order[parse_choice(reply.text, shown)]
        except FormatError:
            chosen = None
        probed = self._agent.answer(probe_query(seed, user, question)) if probe else None
        return Answer(
            period=period,
            question=question,
            choices=len(asked.choices),
            right_choice=asked.right_choice(state),
            chosen=chosen,
            probes=_read_probe(user, asked.required, period, probed.text) if probed else (),
            context=reply.context,
            probe_context=probed.context if probed else reply.context,
            reply=reply.text,
            probe_reply=probed.text if probed else "",
        )

    def record(self, user_lm: Meter | None, error: Exception | None) -> Rollout:
        """The frozen result."""
        kind = None
        if error is not None:
            kind = "policy" if isinstance(error, PolicyFailureError) else "outside"
        return Rollout(
            policy=self._policy.id,
            user=self._user.id,
            messages=tuple(self._messages),
            writes=self._agent.writes,
            entries=self._agent.entries,
            answers=tuple(self._answers),
            usage=add_usage(self._lm.usage, user_lm.usage if user_lm else ()),
            memory_tokens=tuple(self._memory_tokens),
            failure=str(error) if error is not None else None,
            failure_kind=kind,
        )


def _read_probe(
    user: User, required: Sequence[str], period: int, reply: str
) -> tuple[StateProbe, ...]:
    values = parse_values(reply, required)
    probes = []
    for state in required:
        said, truth = values[state], user.periods[period].state[state]
        options = {" ".join(option.split()): option for option in user.schema[state]}
        value = options.get(" ".join(said.split())) if said is not None else None
        unknown = value is None and said is not None and said.casefold() == UNKNOWN
        bad = value is None and not unknown
        probes.append(StateProbe(state, truth, value, format_error=bad, unknown=unknown))
    return tuple(probes)
