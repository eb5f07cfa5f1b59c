"""Strategies by name: what proposes candidates, and which engine judges them.

What a strategy needs is imported when it is made, so that naming the strategies costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evolve.seeding import derive
from policies.errors import ConfigError
from policies.placeholders import TEXTS, texts_of
from policies.settings import applicable

if TYPE_CHECKING:
    from evolve.lm.base import LM
    from evolve.optimize.base import Proposal, ProposalContext, Proposer, Verdict
    from policies.text_rules import RewriteRules

GATED = "gated"
"""The engine that judges every candidate on a minibatch, then at the gate."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to evolve a policy.

    Attributes:
        name: What ``--strategy`` calls it.
        make: Makes its proposer from the rewriter, what rewrites must obey, and a seed; None where
            the engine proposes by itself.
        engine: What judges what it proposes.
        meaning: One line, as docs/guide/evolve.md has it.
        needs: What a seed policy must have: ``memory_types``, ``settings`` or nothing (empty).
        screened: Whether candidates are heard off-policy before the best go on-policy.
    """

    name: str
    make: Callable[[LM, RewriteRules, int], Proposer] | None
    engine: str = GATED
    meaning: str = ""
    needs: str = ""
    screened: bool = False


def _joint(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.joint import JointProposer

    return JointProposer(lm, rules)


def _placebo(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.placebo import PlaceboProposer

    return PlaceboProposer(_joint(lm, rules, seed), rules, seed)


def _search_only(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.search_only import WholeSearchProposer

    return WholeSearchProposer()


def _rewrite_only(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.rewrite import RewriteProposer

    return RewriteProposer(lm, rules)


def _random(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.random_search import RandomProposer

    return RandomProposer(lm, rules)


def _sequential(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.sequential import SequentialProposer

    return SequentialProposer(_rewrite_only(lm, rules, seed), _search_only(lm, rules, seed))


def _self_evolution(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.types_proposer import TypesProposer

    return TypesProposer(lm)


def _diagnose_and_set(lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    from evolve.optimize.diagnose_and_set import DiagnoseProposer

    return DiagnoseProposer(lm)


_ALL = (
    Strategy(
        "joint",
        _joint,
        meaning="rewrites texts and searches settings, together and alone",
        screened=True,
    ),
    Strategy(
        "placebo",
        _placebo,
        screened=True,
        meaning="`joint`, with random words where it would add types to remember",
        needs="memory_types",
    ),
    Strategy(
        "random",
        _random,
        engine="validation",
        meaning="settings by chance and, as often as `joint`, a text changed without knowing what"
        " failed; the best on gate users is kept",
    ),
    Strategy(
        "search-only",
        _search_only,
        engine="validation",
        meaning="Optuna searches the settings alone; the best on gate users is kept, and its pruner"
        " stops who is behind",
        needs="settings",
    ),
    Strategy("rewrite-only", _rewrite_only, meaning="rewrites texts alone"),
    Strategy(
        "sequential",
        _sequential,
        meaning="rewrites texts until half of what candidates may cost is spent, then searches the"
        " settings",
    ),
    Strategy(
        "diagnose-and-set",
        _diagnose_and_set,
        engine="validation",
        meaning="a model reads the log of failures and sets the settings, chance where it is stuck;"
        " the best on gate users is kept",
        needs="settings",
    ),
    Strategy(
        "gepa",
        None,
        engine="gepa",
        meaning="the gepa package evolves the texts by its own rules, gate users being its"
        " validation set",
    ),
    Strategy(
        "self-evolution",
        _self_evolution,
        engine="self-evolution",
        meaning="the published method: the list of types is rewritten and installed at once,"
        " without a gate",
        needs="memory_types",
    ),
)

STRATEGIES: Mapping[str, Strategy] = {strategy.name: strategy for strategy in _ALL}
"""All of them, the default first."""


def make_proposer(strategy: str, lm: LM, rules: RewriteRules, seed: int) -> Proposer:
    """The proposer of a strategy, with a stream of random numbers of its own.

    Args:
        strategy: Its name.
        lm: The rewriter; wrap it in a meter to count what rewriting costs.
        rules: What rewrites must obey.
        seed: Of the run.

    Raises:
        ConfigError: No strategy of this name has a proposer.
    """
    known = STRATEGIES.get(strategy)
    if known is None or known.make is None:
        names = ", ".join(name for name, one in STRATEGIES.items() if one.make is not None)
        raise ConfigError(
            f"strategy must be one of {names}, but is {strategy!r}; name one of these"
        )
    own = derive(seed, "strategy", strategy)
    return _OwnStream(known.make(lm, rules, own), own)


def check_strategy(strategy: str, architecture: str) -> None:
    """Check that a strategy can begin with an architecture, before a run starts.

    Raises:
        ConfigError: The architecture has nothing that the strategy could change.
    """
    needs = STRATEGIES[strategy].needs
    if not _has(architecture, needs):
        what = "settings" if needs == "settings" else f"the text {needs}"
        raise ConfigError(
            f"strategy {strategy} needs an architecture with {what} ({', '.join(having(needs))}),"
            f" not {architecture}; choose such a policy, or strategy joint"
        )


def having(needs: str) -> tuple[str, ...]:
    """The built-in architectures that have what a strategy needs."""
    return tuple(name for name in TEXTS if _has(name, needs))


def _has(architecture: str, needs: str) -> bool:
    if needs == "settings":
        return bool(applicable(architecture))
    return not needs or needs in texts_of(architecture)


class _OwnStream:
    """A proposer that shares no random number with another strategy's.

    Args:
        proposer: Proposes.
        seed: Of the strategy in this run.
    """

    def __init__(self, proposer: Proposer, seed: int) -> None:
        self._proposer = proposer
        self._seed = seed

    def propose(self, context: ProposalContext) -> Proposal:
        """What the proposer proposes."""
        return self._proposer.propose(replace(context, seed=derive(self._seed, context.seed)))

    def observe(self, verdict: Verdict) -> None:
        """Pass it on."""
        self._proposer.observe(verdict)
