"""The digest in words: the text for each part of a policy.

A part's text is a list of failing state types, the one with most wrong answers first. Each has a
heading ``### STATE: N of M answers wrong (unwritten 5, lost 2)``: N answers are wrong because of
this state by a step that this part can mend, M answers require the state. All headings are kept,
even where they alone exceed the limit; then the evidence that fits, one example of each state
before the second of any. Where older values stood in contexts, a first line says how often. No
other line than the headings starts with ``#``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedback.evidence import evidence_lines
from feedback.losses import Loss
from feedback.records import Stage, TraceStage

_LEAST_EVIDENCE = 200  # bytes; no piece of evidence is shorter
_STAGES = [stage.value for stage in TraceStage] + [stage.value for stage in Stage]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a digest says.

    Attributes:
        part_tokens: Size of the text of one part, in UTF-8 bytes / 4.
        examples: Pieces of evidence per failing state type and part, at most.
    """

    part_tokens: int = 1500
    examples: int = 2


def part_text(losses: Sequence[Loss], required: Mapping[str, int], limits: Limits) -> str:
    """The text for one part; "" where nothing is addressed to it.

    Args:
        losses: Those addressed to the part, in a fixed order.
        required: State to the number of answers that require it.
        limits: How much is said.
    """
    by_state: dict[str, list[Loss]] = {}
    for loss in losses:
        by_state.setdefault(loss.state, []).append(loss)
    order = sorted(by_state, key=lambda state: (-len(by_state[state]), state))
    sections = {state: [_heading(state, by_state[state], required[state])] for state in order}
    older = sum(loss.older_shown for loss in losses)
    opening = [
        f"An older value also stood in the context in {older} of these {len(losses)} cases."
    ][: bool(older)]
    left = limits.part_tokens * 4 - sum(map(_size, (opening, *sections.values())))
    chosen = {state: _examples(by_state[state], limits.examples) for state in order}
    for place in range(limits.examples):
        for state in order:
            if place >= len(chosen[state]) or left < _LEAST_EVIDENCE:
                continue
            lines = evidence_lines(chosen[state][place])
            if _size(lines) <= left:
                left -= _size(lines)
                sections[state] += lines
    return "\n".join([*opening, *(line for state in order for line in sections[state])])


def stage_counts(losses: Sequence[Loss]) -> list[tuple[str, int]]:
    """How many losses each step has, most first."""
    counts = Counter(str(loss.stage) for loss in losses)
    return sorted(counts.items(), key=lambda item: (-item[1], _STAGES.index(item[0])))


def _heading(state: str, losses: Sequence[Loss], required: int) -> str:
    stages = ", ".join(f"{stage} {count}" for stage, count in stage_counts(losses))
    return f"### {state}: {len(losses)} of {required} answers wrong ({stages})"


def _examples(losses: Sequence[Loss], limit: int) -> list[Loss]:
    """The first loss at each step, the most frequent step first; then those of other users."""
    chosen: list[Loss] = []
    for stage, _ in stage_counts(losses):
        chosen.append(next(loss for loss in losses if loss.stage == stage))
    for loss in losses:
        if all(loss.place[0] != other.place[0] for other in chosen):
            chosen.append(loss)
    return chosen[:limit]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
