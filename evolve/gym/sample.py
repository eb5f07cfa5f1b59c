"""Makes the sample environment: ``python -m evolve.gym.sample --seed 7 --users 72 --out FILE``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from evolve.cli import CommandParser, run_command
from evolve.gym.sample_bank import VARIANTS, Bank, read_bank
from evolve.gym.sample_calendar import PlannedPeriod, PlannedSession, draw_calendar
from evolve.gym.sample_lives import PERIODS, Life, Schema, draw_life
from evolve.gym.sample_people import SMALL_TALK, draw_person
from evolve.gym.sample_talk import EXPLICITNESS, Speaker
from evolve.seeding import derive
from evolve.terminal import say
from policies.errors import ConfigError
from policies.files import write_whole


def make_users(
    seed: int,
    count: int,
    variant: str = "a",
    explicitness: float = EXPLICITNESS,
    domains: Sequence[str] = (),
) -> list[dict[str, object]]:
    """Users in the layout of AMemGym's ``data.json``, ready for ``json.dump``.

    User ``k`` of a seed is the same whatever ``count`` is, and lives the same life in every
    variant: a variant has words of its own only.

    Args:
        seed: Any integer.
        count: Number of users, at least 1.
        variant: Bank of phrases, ``"a"`` or ``"b"``.
        explicitness: Share, 0 to 1, of the facts that are stated and not only implied.
        domains: Life domains that the users are from; none for all three. Users of other domains
            show whether what was learned transfers; their lives are as full.

    Raises:
        ConfigError: If ``count`` is below 1, or the variant or a domain is unknown or there twice.
    """
    if count < 1:
        raise ConfigError(
            f"A sample environment has at least 1 user, but {count} were asked for; "
            "give --users 1 or more."
        )
    if variant not in VARIANTS:
        raise ConfigError(
            f"The variant of a sample environment is one of {', '.join(VARIANTS)}, "
            f"not {variant!r}; give one of them as --variant."
        )
    bank = read_bank(variant)
    schema = _lived_in(bank, domains)
    place = "" if len(schema) == len(bank.schema) else f"-{'+'.join(schema)}"
    users = []
    for index in range(count):
        user_id = f"sample-{variant}-{seed}{place}-{index:04d}"
        speaker = Speaker(bank, Random(derive(seed, "sample", "talk", index)), explicitness)
        users.append(_make_user(user_id, draw_life(seed, index, schema), speaker, (seed, index)))
    return users


def _lived_in(bank: Bank, domains: Sequence[str]) -> Schema:
    """The part of a bank's schema that users of some domains live in; all of it for none."""
    for name in domains:
        if name not in bank.schema or domains.count(name) > 1:
            raise ConfigError(
                f"The domains of a sample environment are {', '.join(bank.schema)}, each named at "
                f"most once, but {', '.join(domains)} were asked for; mend --domains."
            )
    return {name: types for name, types in bank.schema.items() if not domains or name in domains}


def _make_user(
    user_id: str, life: Life, speaker: Speaker, place: tuple[int, int]
) -> dict[str, object]:
    """User ``index`` of a ``seed``, its place; what has words is drawn apart from what has none."""
    seed, index = place
    calendar = draw_calendar(life, Random(derive(seed, "sample", "calendar", index)))
    person = Random(derive(seed, "sample", "person", index))
    return {
        "id": user_id,
        "start_time": calendar[0].start,
        "user_profile": draw_person(user_id, speaker.small_talk(SMALL_TALK), person),
        "state_schema": {state: list(speaker.values(state)) for state in life.values},
        "periods": [_period(life, at, planned, speaker) for at, planned in enumerate(calendar)],
        "qas": [speaker.question(asked) for asked in life.asked],
    }


def _period(life: Life, period: int, planned: PlannedPeriod, speaker: Speaker) -> dict[str, object]:
    """One period of a user's file entry."""
    state = life.state(period)
    before = life.state(period - 1) if period else {}
    counts = Counter(name for at in range(1, PERIODS) for name in life.updated(at))
    return {
        "period_start": planned.start,
        "period_end": planned.end,
        "period_summary": None,
        "sessions": [_session(session, state, speaker) for session in planned.sessions],
        "state": state,
        "updates": {
            name: {"old": before.get(name), "new": state[name]} for name in life.updated(period)
        },
        "update_cnts": {name: counts[name] for name in state},
    }


def _session(
    planned: PlannedSession, state: Mapping[str, str], speaker: Speaker
) -> dict[str, object]:
    """One session of a user's file entry."""
    exposed = {name: state[name] for name in planned.reveals}
    return {
        "event": None,
        "exposed_states": exposed,
        "query": speaker.opening(exposed.items(), planned.domain),
        "messages": [],
        "session_time": planned.time,
    }


def write_users(users: Sequence[dict[str, object]], path: Path) -> None:
    """Write an environment file whole or not at all, the same bytes for the same users.

    Raises:
        ConfigError: If the file cannot be written there.
    """
    try:
        write_whole(path, json.dumps(users, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(
            f"The environment file must be written where --out says, but {path} cannot be "
            f"({error.strerror}); give a path in a folder that can be written."
        ) from error


def main() -> int:
    """The command; returns its exit status."""
    parser = CommandParser(
        prog="python -m evolve.gym.sample",
        description="Make a sample environment: simulated users with known, changing states.",
    )
    parser.add_argument("--seed", type=int, default=7, help="any integer (7)")
    parser.add_argument("--users", type=int, default=72, help="number of users (72)")
    parser.add_argument("--out", type=Path, required=True, help="environment file to write")
    parser.add_argument("--variant", default="a", help="bank of phrases: a or b (a)")
    parser.add_argument(
        "--domains", default="", metavar="A,B", help="life domains of the users (all three)"
    )
    options = parser.parse_args()
    domains = [name.strip() for name in options.domains.split(",") if name.strip()]
    users = make_users(options.seed, options.users, options.variant, domains=domains)
    write_users(users, options.out)
    say(f"wrote {len(users)} users to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
