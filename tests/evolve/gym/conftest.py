"""Users of the sample's kind, to be lived with offline."""

from collections.abc import Callable

import pytest

from evolve.gym.rollout import World, live
from evolve.gym.sample import make_users
from evolve.gym.users import User, users_of
from evolve.lm.offline import OfflineLM
from feedback.records import Rollout
from policies.policy import BUILT_IN, seed_policy


@pytest.fixture(scope="session")
def sample_users() -> tuple[User, ...]:
    return users_of(make_users(3, 4), "test")


@pytest.fixture(scope="session")
def offline_world() -> Callable[..., World]:
    """Makes a world whose models are offline."""

    def make(seed: int = 1, **rounds: int) -> World:
        return World(OfflineLM(), OfflineLM(), seed, **rounds)

    return make


@pytest.fixture(scope="session")
def lived(sample_users, offline_world) -> dict[str, list[Rollout]]:
    """Architecture to the rollouts of its seed by the sample users, in their order."""
    return {
        architecture: [
            live(seed_policy(architecture), user, offline_world()) for user in sample_users
        ]
        for architecture in BUILT_IN
    }
