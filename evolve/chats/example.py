"""Makes chats and probes to try: ``python -m evolve.chats.example --users 24 --out FOLDER``.

Sample users talk to the stand-in with the seed ``native``; what was said is written as an export of
chats, and what was true at the end of each period as probes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from evolve.cli import CommandParser, limit_threads, run_command
from evolve.gym.people import User
from evolve.gym.sample_bank import read_bank
from evolve.ranges import check_range
from evolve.seeding import derive
from evolve.terminal import say
from policies.errors import ConfigError
from policies.files import write_whole

_VARIANT = "a"
_STATES = 6  # of a user are probed; all of them would be no other example, and slower


def chat_lines(user: User, seed: int) -> Iterator[Mapping[str, object]]:
    """The conversations of one sample user, as objects of a file of chats.

    Args:
        user: A sample user.
        seed: Of what it says in reply.
    """
    from evolve.gym.rollout import World, live, recorded_of
    from evolve.lm.offline import OfflineLM
    from policies.policy import seed_policy

    lm = OfflineLM()
    lived = live(seed_policy("native"), user, World(lm, lm, seed))
    conversations = recorded_of(lived, len(user.periods))
    for period, conversation in zip(user.periods, conversations, strict=True):
        for session, messages in zip(period.sessions, conversation, strict=True):
            begun = datetime.fromisoformat(session.time)
            said = [message.content for message in messages]
            said[0] = session.query  # without the time, which a message has beside it
            yield {
                "user": user.id,
                "messages": [
                    {
                        "role": message.role,
                        "content": text,
                        "timestamp": (begun + timedelta(minutes=minute)).isoformat() + "Z",
                    }
                    for minute, (message, text) in enumerate(zip(messages, said, strict=True))
                ],
            }


def probe_entries(user: User, seed: int) -> Iterator[Mapping[str, object]]:
    """Probes of one sample user: one for each value of some of its states, when it begins.

    Args:
        user: A sample user.
        seed: Of the choices' words.
    """
    bank, draw = read_bank(_VARIANT), Random(derive(seed, "chats", user.id))
    for state in sorted(draw.sample(sorted(user.schema), min(_STATES, len(user.schema)))):
        advice = draw.sample(bank.advice, len(user.schema[state]))
        choices = {
            value: f"Since {draw.choice(bank.phrases[state, value].clause)}, {clause}."
            for value, clause in zip(user.schema[state], advice, strict=True)
        }
        before = None
        for period in user.periods:
            value = period.state[state]
            if value != before:
                yield {
                    "user": user.id,
                    "state": state,
                    "question": f"What would you recommend, given {bank.factors[state]}?",
                    "expected": value,
                    "date": period.end,
                    "choices": dict(choices),  # written out each time, not as an alias
                }
            before = value


def write_example(seed: int, count: int, folder: Path) -> None:
    """Write ``chats.jsonl`` and ``probes.yaml``.

    Args:
        seed: Of the users.
        count: How many, at least 1.
        folder: Where; made if it is not there.

    Raises:
        ConfigError: There are no users, or the files cannot be written.
    """
    import yaml

    from evolve.gym.sample import make_users
    from evolve.gym.users import users_of

    users = users_of(make_users(seed, count, _VARIANT), "the example")
    lines = [
        json.dumps(one, ensure_ascii=False) for user in users for one in chat_lines(user, seed)
    ]
    probes = [dict(one) for user in users for one in probe_entries(user, seed)]
    written = yaml.safe_dump(probes, sort_keys=False, allow_unicode=True, width=10_000)
    try:
        write_whole(folder / "chats.jsonl", "\n".join(lines) + "\n")
        write_whole(folder / "probes.yaml", written)
    except OSError as error:
        raise ConfigError(
            f"The example must be written where --out says, but {folder} cannot be "
            f"({error.strerror}); give a folder that can be written."
        ) from error
    say(f"wrote {len(lines)} conversations and {len(probes)} probes to {folder}")


def main() -> int:
    """The command; returns its exit status."""
    parser = CommandParser(
        prog="python -m evolve.chats.example",
        description="Write chats and probes of sample users, to try what becomes of your own.",
    )
    parser.add_argument("--users", type=int, default=24, metavar="N", help="number of users (24)")
    parser.add_argument("--seed", type=int, default=0, help="any whole number from 0 (0)")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="to write to")
    options = parser.parse_args()
    limit_threads()
    check_range("users", options.users, 1)
    check_range("seed", options.seed, 0)
    write_example(options.seed, options.users, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
