"""What a run reads and settles before it begins: users, seed policy, models, splits; no folder."""

from __future__ import annotations

from dataclasses import dataclass

from evolve.config import Options, check_payable
from evolve.connecting import Cast, make_cast, world_spec
from evolve.environment import load_environment
from evolve.field import Field, possible_splits
from evolve.gym.recorded import users_words
from evolve.gym.rollout import World
from evolve.gym.users import User
from evolve.inputs import load_policy
from evolve.lm.models import ModelSpec
from evolve.means import Means
from evolve.optimize.strategy import check_strategy
from evolve.plan import Plan, make_plan, smallest_budget
from evolve.probing import most_measured
from evolve.roles import OFFLINE
from evolve.workers import WorldSpec
from policies.policy import BUILT_IN, Policy
from policies.text_rules import RewriteRules


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run before its first call.

    Attributes:
        options: What was asked for.
        users: Of the environment.
        seed: The policy that it begins with.
        cast: Who plays which role.
        splits: That the environment allows, the preferred one first.
        environment: Digest of its file, or files.
        notes: What every report on its users must say.
    """

    options: Options
    users: tuple[User, ...]
    seed: Policy
    cast: Cast
    splits: tuple[Field, ...]
    environment: str
    notes: tuple[str, ...] = ()

    @property
    def spec(self) -> WorldSpec:
        """What workers build their world from."""
        return world_spec(self.options, self.cast)

    @property
    def measures(self) -> World:
        """A world that tells how long a life is; nobody speaks in it."""
        offline, rounds = ModelSpec(OFFLINE), (self.options.first_rounds, self.options.later_rounds)
        return WorldSpec(offline, offline, self.options.seed, *rounds).build()

    def plan(self, rollouts: int) -> tuple[Field, Plan]:
        """The split, and what so many rollouts buy.

        Raises:
            BudgetTooSmallError: Not even one proposal.
            ConfigError: No outcome at any split's gate could be accepted.
        """
        return make_plan(
            rollouts, self.splits, self.measures, native=self._native, measured=self._measured
        )

    @property
    def smallest(self) -> int:
        """The fewest rollouts that buy a proposal.

        Raises:
            ConfigError: No outcome at any split's gate could be accepted.
        """
        return smallest_budget(
            self.splits, self.measures, native=self._native, measured=self._measured
        )

    @property
    def architectures(self) -> tuple[str, ...]:
        """That policies of the run may have."""
        seed = self.seed.architecture
        moving = self.options.architecture == "any"
        return tuple(dict.fromkeys((*BUILT_IN, seed))) if moving else (seed,)

    @property
    def _native(self) -> bool:
        return self.seed.architecture == "native"

    @property
    def _measured(self) -> int:
        return most_measured(self.seed.architecture, self.architectures)

    def rules(self) -> RewriteRules:
        """What rewrites must obey."""
        return RewriteRules.build((user.schema for user in self.users), _words_of(self.users))


def prepare(options: Options, means: Means) -> Prepared:
    """Read what a run needs.

    Raises:
        UserError: A file or an option is not usable.
    """
    check_payable(options, means)
    if means.storage is not None:
        from evolve.optimize.mirror import check_url

        check_url(means.storage)
    if means.mlflow is not None:
        from evolve.mlflow_log import check_store

        check_store(means.mlflow)
    environment = load_environment(options.env_path, options.probes)
    users = environment.users
    seed = options.constraints.fitted(load_policy(options.policy, options.agent))
    check_strategy(options.strategy, seed.architecture)
    splits = tuple(possible_splits(users, options.holdout, options.seed))
    cast = make_cast(options.models, means.timeout)
    return Prepared(options, users, seed, cast, splits, environment.digest, environment.notes)


def _words_of(users: tuple[User, ...]) -> list[str]:
    """What a rewrite must not copy from: questions, choices, users' own words."""
    texts = []
    for user in users:
        texts.append(user.profile)
        texts += [session.query for period in user.periods for session in period.sessions]
        texts += users_words(user.recorded or ())
        for question in user.questions:
            texts += [question.query, *(choice.answer for choice in question.choices)]
    return texts
