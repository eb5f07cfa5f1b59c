"""Which step lost a required state of a wrong answer, followed through the memory itself.

A *revealing turn* is a message that told the true value in its current spell: from the value's
write period to the end of the answer's period. Each copy of it is followed; the state is lost where
the copy that came furthest was lost.

- A raw turn is memory of itself: a message in the answer's context, and an entry without a label
  (rag), which is never ``corrupted``. Where a turn was cut into several such entries, the one that
  resembles the state stands for it; if none does, any of them.
- A labelled entry that names the turn among its sources is a copy if its words say the true value
  (see ``feedback.reading``) or repeat most of the turn. It is ``corrupted`` if they say another
  value, unless another of its sources told that one; ``undecided`` if they are about the state with
  no clear value; else it is about something else, also where it quotes a part of the turn that
  resembles no state: such a part is chatter far more often than not. An undecided entry that a
  right probe was shown counts as a copy. So does an entry that retired a copy under the same label
  and says the true value.
- A message that is in no write and not in the context was dropped (``lost``) where the history is
  the memory (no writes, contexts that show messages); else it is ``unwritten``, and nothing
  competed with it.

Every required state that some step lost is named. A value that stood in the context and was probed
right is ``unused`` only where nothing else was lost: then the loss is the answer's own. So a wrong
answer with a readable choice always has a trace, and a format failure has none, for a reply without
a choice says nothing of memory. Where no probe was asked, a value in the context is ``unused``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from feedback.reading import FLOOR, Says, SchemaReader, reader_of
from feedback.records import (
    Answer,
    ChatMessage,
    Entry,
    Rollout,
    StateTrace,
    TraceStage,
    UserTruth,
    Write,
    message_position,
)
from feedback.similarity import share_within

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")

_WHOLE_TURN = 0.6  # share of a turn's n-grams in an entry that repeats it
_ORDER = {stage: place for place, stage in enumerate(TraceStage)}


@dataclass(frozen=True, slots=True)
class RolloutIndex:
    """A rollout, looked up from all sides; built once.

    Attributes:
        messages: By id.
        reveals: (state, value) to the messages that told it, in order.
        entries: By id.
        by_source: Message id to the entries that name it among their sources.
        made_in: Write number to the entries that it made.
        writes: By number.
        written_in: Message id to the writes whose batch had it.
        labelled: (label, text) of every entry with a label.
        keeps_history: Whether the raw history is the memory: nothing is written, messages shown.
    """

    messages: Mapping[str, ChatMessage]
    reveals: Mapping[tuple[str, str], tuple[ChatMessage, ...]]
    entries: Mapping[int, Entry]
    by_source: Mapping[str, tuple[Entry, ...]]
    made_in: Mapping[int, tuple[Entry, ...]]
    writes: Mapping[int, Write]
    written_in: Mapping[str, tuple[Write, ...]]
    labelled: tuple[tuple[str, str], ...]
    keeps_history: bool

    def told(self, message_ids: Iterable[str]) -> frozenset[tuple[str, str]]:
        """All (state, value) pairs that some messages told."""
        known = (self.messages[i] for i in message_ids if i in self.messages)
        return frozenset(pair for message in known for pair in message.told)

    def live(self, entry: Entry, period: int) -> bool:
        """Whether an entry is in memory at the end of a period."""
        if entry.period > period:
            return False
        return entry.retired is None or self.writes[entry.retired].period > period


def index_rollout(rollout: Rollout) -> RolloutIndex:
    """Index a rollout for tracing; cheap, and independent of the environment."""
    messages = sorted(rollout.messages, key=lambda message: message_position(message.id))
    shown = any(a.context.messages or a.probe_context.messages for a in rollout.answers)
    return RolloutIndex(
        messages={message.id: message for message in messages},
        reveals=_grouped((pair, message) for message in messages for pair in message.told),
        entries={entry.id: entry for entry in rollout.entries},
        by_source=_grouped(
            (source, entry) for entry in rollout.entries for source in dict.fromkeys(entry.sources)
        ),
        made_in=_grouped((entry.written, entry) for entry in rollout.entries),
        writes={write.number: write for write in rollout.writes},
        written_in=_grouped((i, write) for write in rollout.writes for i in write.batch),
        labelled=tuple((entry.label, entry.text) for entry in rollout.entries if entry.label),
        keeps_history=shown and not rollout.writes,
    )


def revealing_turns(
    state: str, period: int, index: RolloutIndex, truth: UserTruth
) -> tuple[ChatMessage, ...]:
    """Messages that told the value a state has at a period, in the current spell, in order."""
    since = truth.write_period(state, period)
    told = index.reveals.get((state, truth.states[period][state]), ())
    return tuple(m for m in told if since <= message_position(m.id)[0] <= period)


def trace_answer(answer: Answer, index: RolloutIndex, truth: UserTruth) -> tuple[StateTrace, ...]:
    """Trace one answer.

    Args:
        answer: Any answer of the indexed rollout.
        index: Of its rollout.
        truth: Of its user.

    Returns:
        One per required state that some step lost, in the question's order; empty for a right
        answer, for one without a readable choice, and where turns are not known to reveal states.
    """
    if answer.right or answer.chosen is None or not truth.traceable:
        return ()
    reader = reader_of(truth.schema)
    reader.read(index.labelled)  # in one batch; later look-ups are free
    probed = {probe.state: probe.right for probe in answer.probes}
    traces = [
        _Follower(state, answer, index, truth, reader, probed.get(state)).trace()
        for state in dict.fromkeys(truth.required[answer.question])
    ]
    lost = tuple(trace for trace in traces if trace.stage is not TraceStage.UNUSED)
    return lost or tuple(traces)


@dataclass(frozen=True, slots=True)
class _Follower:
    """Follows one state's value to one answer."""

    state: str
    answer: Answer
    index: RolloutIndex
    truth: UserTruth
    reader: SchemaReader
    probed_right: bool | None

    @property
    def value(self) -> str:
        return self.truth.states[self.answer.period][self.state]

    def trace(self) -> StateTrace:
        turns = revealing_turns(self.state, self.answer.period, self.index, self.truth)
        if not turns:
            return StateTrace(self.state, TraceStage.UNSAID)
        stage = max((self._turn(turn) for turn in turns), key=_ORDER.__getitem__)
        competing = self._competing(turns) if stage is TraceStage.UNWRITTEN else None
        return StateTrace(self.state, stage, competing)

    def _turn(self, turn: ChatMessage) -> TraceStage:
        if turn.id in self.answer.context.messages:
            return self._in_context()
        if self.index.keeps_history:
            return TraceStage.LOST
        stages = [self._held(entry) for entry in self._raw(turn)]
        stages += [self._labelled(entry, turn) for entry in self._sourced(turn) if entry.label]
        return max(stages, key=_ORDER.__getitem__, default=TraceStage.UNWRITTEN)

    def _sourced(self, turn: ChatMessage) -> list[Entry]:
        found = self.index.by_source.get(turn.id, ())
        return [entry for entry in found if entry.period <= self.answer.period]

    def _raw(self, turn: ChatMessage) -> list[Entry]:
        """Entries without a label that stand for a turn; of one cut into pieces, the best."""
        by_write: dict[int, list[Entry]] = {}
        for entry in self._sourced(turn):
            if not entry.label:
                by_write.setdefault(entry.written, []).append(entry)
        chosen = []
        for pieces in by_write.values():
            if len(pieces) > 1:
                readings = self.reader.read([("", piece.text) for piece in pieces])
                found = [reading.resemblance[self.state] for reading in readings]
                least = max(found) if max(found) >= FLOOR else 0.0
                chosen += [
                    p for p, likeness in zip(pieces, found, strict=True) if likeness >= least
                ]
            else:
                chosen += pieces
        return chosen

    def _labelled(self, entry: Entry, turn: ChatMessage) -> TraceStage:
        says = self._says(entry, turn)
        if says is Says.UNCLEAR and self._probe_read(entry):
            says = Says.TRUE
        if says is Says.TRUE:
            return self._carried(entry)
        return {
            Says.ANOTHER: TraceStage.CORRUPTED,
            Says.UNCLEAR: TraceStage.UNDECIDED,
        }.get(says, TraceStage.UNWRITTEN)

    def _says(self, entry: Entry, turn: ChatMessage) -> Says:
        item = (entry.label, entry.text)
        told = self.index.told(entry.sources)
        says = self.reader.says(item, self.state, self.value, [state for state, _ in told])
        if says is Says.TRUE or share_within(turn.content, entry.text) >= _WHOLE_TURN:
            return Says.TRUE
        if says is Says.ANOTHER and (self.state, self.reader.nearest(item, self.state)) in told:
            return Says.NOTHING
        return says

    def _probe_read(self, entry: Entry) -> bool:
        return bool(self.probed_right) and entry.id in self.answer.probe_context.entries

    def _carried(self, copy: Entry) -> TraceStage:
        """Furthest stage of a copy and of what replaced it under its label with the same value."""
        stage = self._held(copy)
        while stage is TraceStage.LOST and copy.retired is not None:
            heirs = [
                entry
                for entry in self.index.made_in.get(copy.retired, ())
                if entry.label.casefold() == copy.label.casefold() and self._restates(entry)
            ]
            if not heirs:
                break
            copy = heirs[0]
            stage = self._held(copy)
        return stage

    def _restates(self, entry: Entry) -> bool:
        item = (entry.label, entry.text)
        states = [state for state, _ in self.index.told(entry.sources)]
        said = self.reader.says(item, self.state, self.value, [*states, self.state])
        return entry.period <= self.answer.period and said is Says.TRUE

    def _held(self, entry: Entry) -> TraceStage:
        if entry.id in self.answer.context.entries:
            return self._in_context()
        live = self.index.live(entry, self.answer.period)
        return TraceStage.UNRETRIEVED if live else TraceStage.LOST

    def _in_context(self) -> TraceStage:
        return TraceStage.MISREAD if self.probed_right is False else TraceStage.UNUSED

    def _competing(self, turns: Iterable[ChatMessage]) -> int | None:
        batches = {
            write.number: write.batch
            for turn in turns
            for write in self.index.written_in.get(turn.id, ())
            if write.period <= self.answer.period
        }
        if not batches:
            return None
        told = self.index.told(i for batch in batches.values() for i in batch)
        return len({state for state, _ in told})


def _grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, tuple[_Item, ...]]:
    groups: dict[_Key, list[_Item]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}
