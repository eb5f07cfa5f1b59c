"""The losses behind one rollout's wrong answers: which state, at which step, for which part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from feedback.reading import Says, SchemaReader, reader_of
from feedback.records import (
    Answer,
    Diagnosis,
    Entry,
    Rollout,
    Stage,
    StateProbe,
    TraceStage,
    UserTruth,
)
from feedback.routing import address_stage, address_trace
from feedback.trace import RolloutIndex, index_rollout

_IN_CONTEXT = (TraceStage.MISREAD, TraceStage.UNUSED)


class Case(NamedTuple):
    """One train rollout with what is true of its user and what was said of its answers.

    Attributes:
        rollout: What happened.
        truth: What is true of its user.
        diagnoses: Of all its answers, or of those that feedback may learn from.
    """

    rollout: Rollout
    truth: UserTruth
    diagnoses: tuple[Diagnosis, ...]

    @property
    def last_period(self) -> int:
        """The last period that feedback may learn from."""
        return max((diagnosis.period for diagnosis in self.diagnoses), default=-1)


@dataclass(frozen=True, slots=True)
class Scene:
    """A rollout, ready to be looked into.

    Attributes:
        rollout: What happened.
        truth: What was true.
        index: Of the rollout.
        reader: Of the user's schema.
    """

    rollout: Rollout
    truth: UserTruth
    index: RolloutIndex
    reader: SchemaReader

    def older_entries(self, state: str, period: int) -> Iterator[Entry]:
        """Live entries at a period that hold a value which the state had only earlier."""
        older, index = self._older_values(state, period), self.index
        for value in older:
            for turn in index.reveals.get((state, value), ()):
                for entry in index.by_source.get(turn.id, ()):
                    if not entry.label and index.live(entry, period):
                        yield entry
        for entry in self.rollout.entries if older else ():
            if not entry.label or not index.live(entry, period):
                continue
            item, told = (entry.label, entry.text), {name for name, _ in index.told(entry.sources)}
            if any(self.reader.says(item, state, value, told) is Says.TRUE for value in older):
                yield entry

    def shows_older(self, state: str, answer: Answer) -> bool:
        """Whether a value which the state had only earlier stood in an answer's context."""
        shown = set(answer.context.entries)
        if any(entry.id in shown for entry in self.older_entries(state, answer.period)):
            return True
        turns = set(answer.context.messages)
        return any(
            turn.id in turns
            for value in self._older_values(state, answer.period)
            for turn in self.index.reveals.get((state, value), ())
        )

    def _older_values(self, state: str, period: int) -> list[str]:
        now = self.truth.states[period][state]
        past = dict.fromkeys(states[state] for states in self.truth.states[:period])
        return [value for value in past if value != now]


@dataclass(frozen=True, slots=True)
class Loss:
    """One required state of one wrong answer, lost at one step.

    Attributes:
        state: Its name.
        stage: The trace stage, or the diagnosed stage where there is no trace.
        parts: Parts of the policy that can mend it.
        competing: For ``unwritten``: number of told facts in the write that had it.
        scene: Where it happened.
        answer: The wrong answer.
        older_shown: The value stood in the context, and so did one that the state had earlier.
    """

    state: str
    stage: str
    parts: tuple[str, ...]
    competing: int | None
    scene: Scene
    answer: Answer
    older_shown: bool

    @property
    def probe(self) -> StateProbe | None:
        """What the probe said of the state, if it was asked."""
        return next((p for p in self.answer.probes if p.state == self.state), None)

    @property
    def place(self) -> tuple[str, int, int]:
        """(user, period, question)."""
        return self.scene.truth.user, self.answer.period, self.answer.question


def scene_of(case: Case) -> Scene:
    """Index a rollout and read its entries, all in one batch."""
    index, reader = index_rollout(case.rollout), reader_of(case.truth.schema)
    reader.read(index.labelled)
    return Scene(case.rollout, case.truth, index, reader)


def find_losses(case: Case, scene: Scene, parts: tuple[str, ...]) -> tuple[Loss, ...]:
    """All losses of the diagnosed answers of a rollout, in order.

    Args:
        case: The rollout and its diagnoses.
        scene: The same rollout, indexed.
        parts: Parts that the policy has.

    Raises:
        ValueError: A diagnosis is of no answer of the rollout.
    """
    answers = {(answer.period, answer.question): answer for answer in case.rollout.answers}
    losses: list[Loss] = []
    for said in case.diagnoses:
        answer = answers.get((said.period, said.question))
        if answer is None or said.user != case.truth.user:
            raise ValueError(f"a diagnosis is of no answer of user {case.truth.user}")
        if said.stage is Stage.RIGHT:
            continue
        if said.trace and said.stage is not Stage.FORMAT:
            for lost in said.trace:
                to = address_trace(lost, parts)
                older = lost.stage in _IN_CONTEXT and scene.shows_older(lost.state, answer)
                losses.append(
                    Loss(lost.state, lost.stage, to, lost.competing, scene, answer, older)
                )
        else:
            to = address_stage(said.stage, parts)
            losses += (
                Loss(state, said.stage, to, None, scene, answer, False)
                for state in said.failed_states
            )
    return tuple(losses)
