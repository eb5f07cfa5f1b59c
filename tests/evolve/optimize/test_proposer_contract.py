"""What every proposer keeps, whichever it is."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from evolve.lm.offline import OfflineLM
from evolve.optimize.base import Proposer, RejectedRewriteError, Verdict
from evolve.optimize.strategy import STRATEGIES, having, make_proposer
from policies.policy import Policy, make_policy, seed_policy

PROPOSERS: dict[str, Callable[..., Proposer]] = {
    name: lambda rules, name=name: make_proposer(name, OfflineLM(), rules, 1)
    for name, strategy in STRATEGIES.items()
    if strategy.make is not None
}
CASES = [
    (name, architecture) for name in PROPOSERS for architecture in having(STRATEGIES[name].needs)
]


@pytest.mark.parametrize(("name", "architecture"), CASES)
class TestProposerContract:
    """Every strategy with a proposer is held to all of this."""

    @pytest.fixture
    def make(self, name, rules) -> Callable[[], Proposer]:
        return lambda: PROPOSERS[name](rules)

    @pytest.fixture
    def parent(self, architecture) -> Policy:
        return seed_policy(architecture)

    def _life(self, proposer, parent, context_for, verdict_on, steps=8) -> list[Verdict]:
        """What a run of candidates, the third of them accepted, makes a proposer observe."""
        seen: list[Verdict] = []
        versions = (parent,)
        for step in range(steps):
            last = seen[-1] if seen else None
            try:
                made = proposer.propose(context_for(versions[-1], step, versions, last=last))
            except RejectedRewriteError as error:
                verdict = verdict_on(
                    versions[-1], versions[-1], error.proposal.operator, None, stage="text"
                )
            else:
                candidate = versions[-1].derive(made.texts, made.settings)
                gain = 0.1 if step == 2 else 0.02 * (step % 3) - 0.03
                accepted = step == 2 and candidate.id != versions[-1].id
                verdict = verdict_on(
                    candidate, versions[-1], made.operator, gain, accepted=accepted
                )
                versions += (candidate,) if accepted else ()
            proposer.observe(verdict)
            seen.append(verdict)
        return seen

    def test_changes_only_what_the_architecture_has(self, make, parent, context_for) -> None:
        proposer, found = make(), 0
        for seed in range(12):
            try:
                made = proposer.propose(context_for(parent, seed))
            except RejectedRewriteError:
                continue
            found += bool(made.texts or made.settings)
            assert made.texts.keys() <= parent.texts.keys()
            assert made.settings.keys() <= parent.settings.keys()
            assert all(made.texts[name] != parent.texts[name] for name in made.texts)
            assert all(made.settings[name] != parent.settings[name] for name in made.settings)
            make_policy(
                parent.architecture,
                {**parent.texts, **made.texts},
                {**parent.settings, **made.settings},
            )
        assert found or not parent.settings

    def test_the_same_context_gives_the_same_proposal(self, make, parent, context_for) -> None:
        context = context_for(parent, 5)
        assert make().propose(context) == make().propose(context)

    def test_another_seed_gives_another_proposal(self, make, parent, context_for) -> None:
        made = [make().propose(context_for(parent, seed)) for seed in range(8)]
        distinct = {(m.operator, *m.texts.values(), *m.settings.items()) for m in made}
        assert len(distinct) > 1 or not parent.settings

    def test_inputs_are_left_alone(self, make, parent, context_for, verdict_on) -> None:
        context = context_for(parent, 3)
        before = copy.deepcopy(context)
        proposer = make()
        made = proposer.propose(context)
        verdict = verdict_on(parent.derive(made.texts, made.settings), parent, made.operator)
        seen = copy.deepcopy(verdict)
        proposer.observe(verdict)
        proposer.propose(context)
        assert context == before
        assert verdict == seen

    def test_a_resumed_proposer_goes_on_alike(self, make, parent, context_for, verdict_on) -> None:
        lived = make()
        seen = self._life(lived, parent, context_for, verdict_on)
        resumed = make()
        for verdict in seen:
            resumed.observe(verdict)
        context = context_for(parent, 99, last=seen[-1])
        assert lived.propose(context) == resumed.propose(context)
