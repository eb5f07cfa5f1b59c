"""Scores the answers of a replayed dialogue, and says by the evidence where a wrong one was lost.

A turn is *in memory* at the end if a live entry was written from a batch with it, or it still
stands in the history or window; it was *shown* if that entry, or the turn itself, stood in the
context of the answer. An entry that the model wrote from several messages need not say what each of
them said, so for written memory both are upper limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evolve.gym.overlap import OVERLAPS
from evolve.gym.people import Question
from evolve.lm.parse import FormatError, parse_words
from evolve.locomo.dialogues import ADVERSARIAL, Dialogue, recorded
from feedback.records import Answer, Rollout, Stage


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer.

    Attributes:
        dialogue: Id of the dialogue.
        question: Number of the question, from 0.
        category: Of the question.
        f1: Token F1 as the benchmark takes it, in 0..1; of an adversarial question 1 for a refusal.
        stage: ``RIGHT``; ``FORMAT`` where no answer could be read; ``WRITE`` where some evidence is
            not in memory; ``READ`` where some was not shown; else ``UTILIZATION``, as is every
            wrong answer to an adversarial question. None for a wrong answer without evidence.
        kept: Share of the evidence turns in memory, in 0..1; None without evidence.
        shown: Share of them that the answer was shown; None likewise.
    """

    dialogue: str
    question: int
    category: int
    f1: float
    stage: Stage | None
    kept: float | None
    shown: float | None


def score_rollout(
    rollout: Rollout, dialogue: Dialogue, questions: Sequence[Question]
) -> tuple[Scored, ...]:
    """Score all answers of a rollout that did not fail.

    Args:
        rollout: Of the dialogue's user, whose questions were all asked at the end.
        dialogue: With its evidence.
        questions: Of that user.
    """
    turn_of = recorded(dialogue).turn_of
    sources = {entry.id: entry.sources for entry in rollout.entries}
    live = {source for e in rollout.entries if e.retired is None for source in e.sources}

    def turns(messages: Iterable[str]) -> frozenset[str]:
        return frozenset(turn_of[message] for message in messages)

    scored = []
    for answer in rollout.answers:
        evidence = frozenset(dialogue.questions[answer.question].evidence)
        category = dialogue.questions[answer.question].category
        seen = {source for entry in answer.context.entries for source in sources[entry]}
        kept = _share(evidence, turns({*live, *answer.context.messages}))
        shown = _share(evidence, turns({*seen, *answer.context.messages}))
        stage = _stage(answer, category, kept, shown)
        f1 = _f1(answer, questions[answer.question])
        scored.append(Scored(dialogue.id, answer.question, category, f1, stage, kept, shown))
    return tuple(scored)


def _share(evidence: frozenset[str], found: frozenset[str]) -> float | None:
    return len(evidence & found) / len(evidence) if evidence else None


def _stage(answer: Answer, category: int, kept: float | None, shown: float | None) -> Stage | None:
    if answer.right:
        return Stage.RIGHT
    if answer.chosen is None:
        return Stage.FORMAT
    if category == ADVERSARIAL:
        return Stage.UTILIZATION
    if kept is None or shown is None:
        return None
    if kept < 1:
        return Stage.WRITE
    return Stage.READ if shown < 1 else Stage.UTILIZATION


def _f1(answer: Answer, question: Question) -> float:
    try:
        said = parse_words(answer.reply)
    except FormatError:
        return 0.0
    return OVERLAPS[question.match](said, question.choices[0].answer)
