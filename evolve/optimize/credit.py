"""Credit: which parts of a policy proposals go to, by what fails and by what has paid so far.

A part is a text or a group of settings. Its share of the proposals follows the share of wrong
answers that is addressed to it times what proposals to it have earned; a floor keeps every part
in the game. Operators are credited by the same count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from evolve.optimize.base import Verdict
from feedback.digest import Feedback
from feedback.routing import GROUPS, PARTS, groups_of
from policies.policy import Policy

FLOOR = 0.1  # of the proposals: spread evenly over all parts
PASSED = 0.5  # what a candidate earns that got beyond the minibatch; one that was accepted earns 1
_SETTINGS = "settings"
_BETWEEN = re.compile("[:,+]")  # the words of an operator
UNSCORED = frozenset({"text", "duplicate", "limit", "budget", "screen"})
"""Stages of candidates that no rollouts were spent on."""
_BEYOND = frozenset({"level", "gate"})


@dataclass(frozen=True, slots=True)
class Earned:
    """What proposals to one part, or by one operator, have earned.

    Attributes:
        proposed: Candidates that changed it; one that changed k parts counts as 1 / k of each.
        scored: Of these, those that rollouts were spent on, or that promised nothing when heard.
        passed: Those that got beyond the minibatch.
        accepted: Those that became versions.
    """

    proposed: float = 0.0
    scored: float = 0.0
    passed: float = 0.0
    accepted: float = 0.0

    @property
    def worth(self) -> float:
        """What one more may be expected to earn, in 0..1; 1/2 before anything is known."""
        reward = PASSED * self.passed + (1 - PASSED) * self.accepted
        return (1 + reward) / (2 + self.scored)

    def plus(self, verdict: Verdict, weight: float) -> Earned:
        """With one more candidate, which counts so much."""
        return replace(
            self,
            proposed=self.proposed + weight,
            scored=self.scored + weight * (verdict.stage not in UNSCORED or _in_vain(verdict)),
            passed=self.passed + weight * (verdict.stage in _BEYOND),
            accepted=self.accepted + weight * verdict.accepted,
        )


class Credit:
    """Earnings by part and by operator, from verdicts alone, so that a resumed run has the same."""

    def __init__(self) -> None:
        self._parts: dict[str, Earned] = {}
        self._operators: dict[str, Earned] = {}

    def observe(self, verdict: Verdict) -> None:
        """Count what became of a candidate."""
        parts = parts_of(verdict.operator)
        for part in parts:
            self._parts[part] = self.part(part).plus(verdict, 1 / len(parts))
        name = operator_of(verdict.operator)
        self._operators[name] = self.operator(name).plus(verdict, 1.0)

    def part(self, name: str) -> Earned:
        """What proposals to a part have earned."""
        return self._parts.get(name, Earned())

    def operator(self, name: str) -> Earned:
        """What an operator has earned."""
        return self._operators.get(name, Earned())

    def shares(self, mass: Mapping[str, float]) -> dict[str, float]:
        """Part to its share of the proposals; sums to 1.

        Args:
            mass: Part to its share of the wrong answers; where no part has any, all count alike.
        """
        weights = {part: mass[part] * self.part(part).worth for part in mass}
        if not any(weights.values()):
            weights = {part: self.part(part).worth for part in mass}
        total = sum(weights.values())
        return {p: (1 - FLOOR) * w / total + FLOOR / len(mass) for p, w in weights.items()}


def _in_vain(verdict: Verdict) -> bool:
    heard = verdict.heard_difference
    return heard is not None and heard <= 0


def parts_of(operator: str) -> tuple[str, ...]:
    """The parts that an operator such as ``rewrite:memory_types+search:finding`` changed.

    Settings that were drawn from no group are the part ``settings``.
    """
    found = [part for part in _BETWEEN.split(operator) if part in PARTS or part in GROUPS]
    anywhere = "search" in operator.removeprefix("placebo:").split("+")
    return tuple(dict.fromkeys([*found, *([_SETTINGS] if anywhere else [])]))


def operator_of(operator: str) -> str:
    """What made a candidate, without its parts: ``rewrite``, ``rewrite+search``, ``search``, …."""
    steps = operator.removeprefix("placebo:").split("+")
    return "+".join(step.partition(":")[0] for step in steps)


def mass_of(policy: Policy, feedback: Feedback) -> dict[str, float]:
    """Texts and groups of settings of a policy to their shares of the wrong answers."""
    texts = {name: feedback.mass.get(name, 0.0) for name in PARTS if name in policy.texts}
    return texts | {g: feedback.groups.get(g, 0.0) for g in groups_of(policy.settings)}


def credit_summary(verdicts: Iterable[Verdict], mass: Mapping[str, float]) -> dict[str, Any]:
    """Failure mass and earnings by part, and earnings by operator, as ``summary.json`` has them.

    Args:
        verdicts: Of all candidates of a run.
        mass: Part to its share of the best version's wrong answers.
    """
    credit, operators, parts = Credit(), set[str](), set(mass)
    for verdict in verdicts:
        credit.observe(verdict)
        operators.add(operator_of(verdict.operator))
        parts.update(parts_of(verdict.operator))
    shares = credit.shares(mass) if mass else {}
    return {
        "parts": {
            part: {"mass": mass.get(part), "share": shares.get(part), **_row(credit.part(part))}
            for part in sorted(parts)
        },
        "operators": {name: _row(credit.operator(name)) for name in sorted(operators)},
    }


def _row(earned: Earned) -> dict[str, float]:
    return {**asdict(earned), "worth": earned.worth}
