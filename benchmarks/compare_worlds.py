"""Where strategies are compared: which users a draw has, and which seeds judge.

The seeds of a judging are settled here before it begins, and no draw of it is used for anything
else: methods are chosen on the draws of ``TRIAL_SEED``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.published import find_data
from evolve.gym.sample import make_users, write_users
from evolve.gym.sample_bank import read_bank
from evolve.gym.users import file_digest

USERS, TRANSFER_USERS = 72, 24
BUDGET = 400
MOST_TOKENS = 2000
"""Per answer. The seed policy takes some 1,300; with four times its entries retrieved, some 1,700;
with every message written at once as well, more than this."""
TRIAL_SEED = 5_000  # of the first draw; for choosing methods, never for judging
ABLATION_SEED = 10_000
JUDGING_SEEDS = (20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000)
"""Of the first draw of judging 1, 2, ...; those of other draws follow one by one."""
_APART = 500_000  # test users of another domain are drawn from seeds so far away


@dataclass(frozen=True, slots=True)
class World:
    """One kind of users.

    Attributes:
        name: For options and files.
        meaning: Half a sentence.
        judged: Whether something is claimed of it.
        most_draws: Draws that are enough; None for as many as are asked for.
        most_tokens: That a policy may take per answer; None for no limit.
    """

    name: str
    meaning: str
    judged: bool
    most_draws: int | None = None
    most_tokens: int | None = MOST_TOKENS


WORLDS = {
    world.name: world
    for world in (
        World("a", "fresh users of the sample generator in every draw", judged=True),
        World("b", "the same lives in the phrases of the other bank", judged=True),
        World(
            "transfer",
            "test users from a life domain that no other user has, each domain in turn",
            judged=False,
            most_draws=12,
        ),
        World(
            "amemgym",
            "the three published users, split by time; draws differ in the run's seed alone",
            judged=False,
            most_draws=5,
            most_tokens=None,  # what real users take, nothing is known of
        ),
    )
}


@dataclass(frozen=True, slots=True)
class CompareSpec:
    """One run.

    Attributes:
        world: Name of one of ``WORLDS``.
        environment: Names the users; a seed or a digest is part of it.
        strategy: As in ``Options``.
        seed: Of the run.
        budget: Rollouts.
        most_tokens: That a policy may take per answer; None for no limit.
        without: Name of the part that an ablation leaves out; empty for none.
    """

    world: str
    environment: str
    strategy: str
    seed: int
    budget: int
    most_tokens: int | None
    without: str = ""

    @property
    def holdout(self) -> Literal["users", "periods"]:
        """As in ``Options``."""
        return "periods" if self.world == "amemgym" else "users"

    @property
    def name(self) -> str:
        """For progress lines."""
        part = f" without {self.without}" if self.without else ""
        return f"{self.environment} {self.strategy}{part}"


@dataclass(frozen=True, slots=True)
class Place:
    """The files of a run.

    Attributes:
        env: The environment.
        test: Users on whom versions are scored; None for the environment's own test users.
    """

    env: Path
    test: Path | None = None


@dataclass(frozen=True, slots=True)
class Draws:
    """The draws of one comparison.

    Attributes:
        first_seed: Of draw 0.
        budget: Rollouts of a run.
        users: Of a generated environment, at least 3.
        data: Folder of the published data; None where it is not there.
    """

    first_seed: int
    budget: int = BUDGET
    users: int = USERS
    data: Path | None = None

    def spec(self, world: str, strategy: str, draw: int, without: str = "") -> CompareSpec:
        """The run of a strategy in a draw; users and split are the same for all strategies.

        Raises:
            ValueError: The world's data is not there.
        """
        seed = self.first_seed + draw
        if world == "transfer":
            domains = list(read_bank("a").schema)
            environment = f"transfer-{domains[draw % len(domains)]}-{seed}-{self.users}"
        elif world == "amemgym":
            if self.data is None:
                raise ValueError("the published users are not there")
            environment = f"amemgym-{file_digest(_published(self.data))}-{seed}"
        else:
            environment = f"sample-{world}-{seed}-{self.users}"
        limit = WORLDS[world].most_tokens
        return CompareSpec(world, environment, strategy, seed, self.budget, limit, without)


def make_place(spec: CompareSpec, folder: Path, data: Path | None) -> Place:
    """Make the files of a run in a folder, or find them."""
    kind, *parts = spec.environment.split("-")
    if kind == "amemgym":
        assert data is not None  # or there would be no such spec
        return Place(_published(data))
    env = folder / "users.json"
    if kind == "sample":
        variant, seed, count = parts
        write_users(make_users(int(seed), int(count), variant), env)
        return Place(env)
    domain, seed, count = parts
    others = [name for name in read_bank("a").schema if name != domain]
    write_users(make_users(int(seed), int(count), domains=others), env)
    test = folder / "test.json"
    write_users(make_users(int(seed) + _APART, TRANSFER_USERS, domains=[domain]), test)
    return Place(env, test)


def worlds_here(names: list[str], data: Path | None) -> tuple[list[World], list[str]]:
    """The worlds that can be lived in, of those named, and why others cannot."""
    missing = [name for name in names if name == "amemgym" and find_data(data) is None]
    kept = [WORLDS[name] for name in names if name not in missing]
    where = data or os.environ.get("MNEMOTUNE_DATA", "the usual places")
    why = f"amemgym is skipped: the published data is not in {where} (--data, MNEMOTUNE_DATA)."
    return kept, [why] * bool(missing)


def _published(data: Path) -> Path:
    return data / "amemgym-v1" / "data.json"
