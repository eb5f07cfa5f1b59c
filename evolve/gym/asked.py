"""The questions of a period and their probes: put to an agent side by side, read in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from evolve.agents.base import MemoryAgent, Query
from evolve.beside import Begun, Together
from evolve.gym.own_words import own_choice, own_probe
from evolve.gym.people import User
from evolve.gym.probes import ProbeMode, Values, compared, probe_values, state_probes
from evolve.gym.questions import (
    answer_query,
    choice_order,
    joint_probe_query,
    joint_states,
    probe_query,
)
from evolve.lm.asking import Read, ask
from evolve.lm.base import LM
from evolve.lm.meter import Meter, Metered, metered
from evolve.lm.parse import FormatError, parse_choice
from feedback.records import Answer, Compared, Context
from policies.errors import PolicyFailureError

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Call(Generic[Value]):
    """A query that was put to the model, and what it was shown."""

    context: Context
    begun: Begun[Metered[Read[Value]]]

    def read(self, meter: Meter) -> Read[Value]:
        """What was replied, once it is counted; a failure is raised."""
        return self.begun.result().counted(meter)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question that was put to the model, and its own probe, if it has one.

    Attributes:
        number: Of the question.
        order: In which its choices are shown.
        answer: The question itself.
        probe: Of its states; None where a joint one does, where nothing is probed, and where the
            question is answered in own words.
    """

    number: int
    order: tuple[int, ...]
    answer: _Call[int]
    probe: _Call[Values] | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked in one period.

    Attributes:
        user: Was asked.
        period: From 0.
        questions: All that are asked in it.
        joint: The probe of all their states, if there is one.
        probed: Whether states are probed.
    """

    user: User
    period: int
    questions: tuple[_Question, ...]
    joint: _Call[Values] | None
    probed: bool

    def answers(self, meter: Meter) -> Iterator[tuple[Answer, Compared]]:
        """The answers in order, each with how its probes compare with a joint one's.

        Args:
            meter: Counts what was spent; a failure is raised once the answers before it are out.
        """
        joint, first = self._joint(meter), True
        for question in self.questions:
            if self.user.questions[question.number].own_words:
                yield self._own_words(question, meter), Compared()
                continue
            yield self._answer(question, meter, joint, first=first)
            first = False

    def _joint(self, meter: Meter) -> Read[Values] | None:
        if self.joint is None:
            return None
        try:
            return self.joint.read(meter)
        except PolicyFailureError as failure:
            if all(question.probe is None for question in self.questions):
                raise
            # Beside single ones it is only looked at: what cannot be asked is not the same.
            return Read("", FormatError(str(failure)))

    def _own_words(self, question: _Question, meter: Meter) -> Answer:
        asked, state = self.user.questions[question.number], self.user.periods[self.period].state
        reply, context = question.answer.read(meter), question.answer.context
        chosen = None if isinstance(reply.value, FormatError) else reply.value
        return Answer(
            period=self.period,
            question=question.number,
            choices=0,
            right_choice=asked.right_choice(state),
            chosen=chosen,
            probes=own_probe(asked, state, chosen, reply.text) if self.probed else (),
            context=context,
            probe_context=context,
            reply=reply.text,
        )

    def _answer(
        self, question: _Question, meter: Meter, joint: Read[Values] | None, *, first: bool
    ) -> tuple[Answer, Compared]:
        asked, state = self.user.questions[question.number], self.user.periods[self.period].state
        reply = question.answer.read(meter)
        chosen = None if isinstance(reply.value, FormatError) else question.order[reply.value]
        single = question.probe.read(meter) if question.probe else None
        said, call = (joint, self.joint) if single is None else (single, question.probe)
        probes, found = (
            () if read is None else state_probes(self.user, state, asked.required, read.value)
            for read in (said, joint)
        )
        answer = Answer(
            period=self.period,
            question=question.number,
            choices=len(asked.choices),
            right_choice=asked.right_choice(state),
            chosen=chosen,
            probes=probes,
            context=question.answer.context,
            probe_context=call.context if call else question.answer.context,
            reply=reply.text,
            probe_reply=said.text if said and (single or first) else "",
        )
        return answer, compared(probes, found) if single and joint else Compared()


def begin(
    together: Together,
    agent: MemoryAgent,
    place: tuple[int, User, int],
    lm: LM,
    probes: ProbeMode | None,
) -> Asked:
    """Begin to ask the questions of a period, and to probe their states.

    Args:
        together: Begins the calls.
        agent: Is asked, as its memory is now.
        place: Seed of the run, the user, the period.
        lm: The model.
        probes: How states are probed; None for not at all.
    """
    seed, user, period = place

    def put(query: Query, read: Callable[[str], Value]) -> _Call[Value]:
        prepared = agent.prepare(query)
        asking = partial(ask, request=prepared.request, read=read)
        return _Call(prepared.context, together.begin(partial(metered, lm, asking)))

    def values(query: Query, states: Sequence[str]) -> _Call[Values]:
        return put(query, partial(probe_values, required=states))

    def question(number: int) -> _Question:
        asked, order = user.questions[number], choice_order(seed, user, number, period)
        read = partial(parse_choice, choices=[asked.choices[i].answer for i in order])
        if asked.own_words:
            read = partial(own_choice, question=asked)
        answer = put(answer_query(seed, user, number, order), read)
        single = probes in {"single", "both"} and not asked.own_words
        probe = values(probe_query(seed, user, number), asked.required) if single else None
        return _Question(number, order, answer, probe)

    joint = None
    if probes in {"joint", "both"} and user.probed_in(period):
        joint = values(joint_probe_query(seed, user, period), joint_states(user, period))
    questions = tuple(map(question, user.asked_in(period)))
    return Asked(user, period, questions, joint, probed=probes is not None)
