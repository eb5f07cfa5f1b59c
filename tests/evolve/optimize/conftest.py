"""What tests of proposers share: a scripted model, rules, feedback and contexts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from evolve.lm.base import Completion, Request, count_tokens
from evolve.optimize.base import ProposalContext, Tried, Verdict
from feedback.digest import Feedback
from feedback.routing import groups_of
from policies.policy import Policy
from policies.text_rules import RewriteRules

STATES = (
    "diet_style",
    "kitchen_size",
    "grocery_budget",
    "main_sport",
    "injury",
    "sleep_length",
    "home_town",
    "pet_kind",
    "reading_taste",
    "travel_companion",
)
DIGEST = "\n\n".join(
    f"### {state}: {20 - n} of 40 answers wrong (12 unwritten)\n- the user said so in period {n}"
    for n, state in enumerate(STATES)
)
TEXTS = ("reply_prompt", "memory_types", "write_prompt", "answer_prompt")


@dataclass
class ScriptedLM:
    """Gives its replies in order and keeps what it was asked; an exception is raised."""

    replies: list[str | Exception]
    requests: list[Request] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "scripted"

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply, 1, count_tokens(reply))


@pytest.fixture
def scripted() -> type[ScriptedLM]:
    return ScriptedLM


@pytest.fixture
def rules() -> RewriteRules:
    schema = dict.fromkeys(STATES, ("deep sea diving", "mountain hut tours"))
    return RewriteRules.build(
        [schema], ["Which of the seven little boats should I take out today?"]
    )


@pytest.fixture
def context_for() -> Callable[..., ProposalContext]:
    def make(
        parent: Policy,
        seed: int = 0,
        versions: tuple[Policy, ...] = (),
        mass: dict[str, float] | None = None,
        last: Verdict | None = None,
        **more,
    ) -> ProposalContext:
        mass = mass or dict.fromkeys((*TEXTS, "settings"), 0.2)
        groups = groups_of(parent.settings)
        feedback = Feedback(
            policy=parent.id,
            numbers={"tokens_per_answer": 900.0},
            failing_states=tuple((state, 20 - n) for n, state in enumerate(STATES)),
            mass=mass,
            texts=dict.fromkeys(TEXTS, DIGEST),
            markdown=DIGEST,
            groups={group: mass.get("settings", 0.0) / len(groups) for group in groups},
        )
        return ProposalContext(parent, versions or (parent,), feedback, last, seed, **more)

    return make


@pytest.fixture
def verdict_on() -> Callable[..., Verdict]:
    def make(
        candidate: Policy, parent: Policy, operator: str, difference: float | None = 0.0, **more
    ) -> Verdict:
        known = {
            "accepted": False,
            "stage": "minibatch",
            "reason": "no gain",
            "tokens_per_answer": None if difference is None else 800.0,
        }
        return Verdict(
            candidate.id,
            parent.id,
            candidate.settings,
            operator,
            minibatch_difference=difference,
            **{**known, **more},
        )

    return make


@pytest.fixture
def tried_on(context_for, verdict_on) -> Callable[..., Tried]:
    """A candidate that was scored; its parent is what it was compared with."""

    def make(candidate: Policy, parent: Policy, *how, **more) -> Tried:
        verdict = verdict_on(candidate, parent, *how, **more)
        return Tried(candidate, parent, verdict, context_for(parent).feedback, {})

    return make
