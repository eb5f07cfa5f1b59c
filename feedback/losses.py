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


class Case(NamedTuple):
    """One train rollout with what is true of its user and what was said of its answers."""

    rollout: Rollout
    truth: UserTruth
    diagnoses: tuple[Diagnosis, ...]


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
    """

    state: str
    stage: str
    parts: tuple[str, ...]
    competing: int | None
    scene: Scene
    answer: Answer

    @property
    def traced(self) -> bool:
        """Whether the loss was found by the trace."""
        return self.stage in set(TraceStage)

    @property
    def probe(self) -> StateProbe | None:
        """What the probe said of the state, if it was asked."""
        return next((p for p in self.answer.probes if p.state == self.state), None)

    @property
    def place(self) -> tuple[str, int, int]:
        """(user, period, question)."""
        return self.scene.truth.user, self.answer.period, self.answer.question


def find_losses(case: Case, parts: tuple[str, ...]) -> tuple[Loss, ...]:
    """All losses of a rollout, in the order of its answers.

    Args:
        case: Diagnoses must come one per answer, in order.
        parts: Parts that the policy has.
    """
    rollout, truth, diagnoses = case
    index, reader = index_rollout(rollout), reader_of(truth.schema)
    reader.read(index.labelled)
    scene = Scene(rollout, truth, index, reader)
    losses: list[Loss] = []
    for answer, said in zip(rollout.answers, diagnoses, strict=True):
        if said.stage is Stage.RIGHT:
            continue
        if said.trace and said.stage is not Stage.FORMAT:
            losses += (
                Loss(t.state, t.stage, address_trace(t, parts), t.competing, scene, answer)
                for t in said.trace
            )
        else:
            to = address_stage(said.stage, parts)
            losses += (
                Loss(state, said.stage, to, None, scene, answer) for state in said.failed_states
            )
    return tuple(losses)
