"""Feedback: what the diagnoses of one policy say, in numbers and in text, per policy part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PARTS = ("reply_prompt", "memory_types", "write_prompt", "answer_prompt", "settings")


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one policy's train rollouts say.

    Attributes:
        policy: Id of the policy.
        numbers: Flat name to number: rates per stage, per trace stage, tokens per answer, ….
        failing_states: (state, number of wrong answers blamed on it), worst first.
        mass: Policy part to the share of wrong answers addressed to it; sums to 1 if any is wrong.
        texts: Policy part to the text addressed to it, shortened to its token limit, worst first.
        markdown: All of it for a person.
    """

    policy: str
    numbers: Mapping[str, float]
    failing_states: tuple[tuple[str, int], ...]
    mass: Mapping[str, float]
    texts: Mapping[str, str]
    markdown: str
