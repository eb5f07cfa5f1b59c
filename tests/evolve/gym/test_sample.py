"""What the sample environment guarantees, on 200 users; ``pytest -rP`` prints each margin."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evolve.gym.sample import make_users
from evolve.gym.sample_bank import VARIANTS, read_bank
from evolve.gym.sample_lives import PERIODS
from evolve.gym.sample_talk import EXPLICITNESS
from evolve.gym.users import load_users, users_of
from policies.errors import ConfigError

COUNT = 200
SEED = 11


@cache
def users_for(variant: str) -> list[dict[str, Any]]:
    return make_users(SEED, COUNT, variant)


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def users(variant: str) -> list[dict[str, Any]]:
    return users_for(variant)


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!]) ", text)


def sessions(users: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(period, session) of all users."""
    for user in users:
        for period in user["periods"]:
            for session in period["sessions"]:
                yield period, session


def right_choices(user: dict[str, Any], question: dict[str, Any]) -> list[int]:
    """Index of the right choice per period; fails unless exactly one choice is right."""
    found = []
    for period in user["periods"]:
        current = [period["state"][name] for name in question["required_info"]]
        right = [at for at, c in enumerate(question["answer_choices"]) if c["state"] == current]
        assert len(right) == 1
        found += right
    return found


def asked(users: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """(question, right choice per period) of all users."""
    for user in users:
        for question in user["qas"]:
            yield question, right_choices(user, question)


def test_every_current_value_is_revealed_in_the_period_in_which_it_takes_effect(
    users: list[dict[str, Any]],
) -> None:
    revealed = 0
    for user in users:
        before: dict[str, str] = {}
        for period in user["periods"]:
            changed = {s: v for s, v in period["state"].items() if before.get(s) != v}
            told = {k: v for s in period["sessions"] for k, v in s["exposed_states"].items()}
            assert changed.items() <= told.items()
            assert period["updates"] == {
                s: {"old": before.get(s), "new": v} for s, v in changed.items()
            }
            revealed += len(changed)
            before = period["state"]
    print(f"{revealed} of {revealed} values revealed in the period in which they take effect")


def test_a_query_says_what_the_file_says_that_it_exposes_and_nothing_else(
    users: list[dict[str, Any]], variant: str
) -> None:
    bank = read_bank(variant)
    reveals = {
        sentence: fact
        for fact, phrases in bank.phrases.items()
        for sentence in (*phrases.implied, *phrases.explicit)
    }
    requests = {request for own in bank.requests.values() for request in own}
    generic, empty = set(bank.generic), set(bank.empty)
    counts: Counter[tuple[str, int]] = Counter()
    for period, session in sessions(users):
        assert session["exposed_states"].items() <= period["state"].items()
        *said, request = sentences(session["query"])
        facts = [reveals[s] for s in said if s in reveals]
        assert dict(facts) == session["exposed_states"]
        assert len(facts) == len(session["exposed_states"])
        assert request in requests
        kinds = Counter(
            "generic" if s in generic else "empty" if s in empty else "other"
            for s in said
            if s not in reveals
        )
        assert kinds["other"] == 0
        assert kinds["generic"] in (1, 2)
        assert kinds["empty"] in (0, 1)
        counts.update((kind, kinds[kind]) for kind in ("generic", "empty"))
    total = counts["generic", 1] + counts["generic", 2]
    generic_mean = (counts["generic", 1] + 2 * counts["generic", 2]) / total
    empty_mean = counts["empty", 1] / total
    print(f"chatter a message: {generic_mean:.3f} generic, {empty_mean:.3f} empty")
    assert 1.45 < generic_mean < 1.55
    assert 0.35 < empty_mean < 0.45


def test_facts_are_explicit_at_the_stated_rate(users: list[dict[str, Any]], variant: str) -> None:
    explicit = {s for p in read_bank(variant).phrases.values() for s in p.explicit}

    def rate(made: list[dict[str, Any]]) -> float:
        told = stated = 0
        for _, session in sessions(made):
            told += len(session["exposed_states"])
            stated += sum(s in explicit for s in sentences(session["query"]))
        return stated / told

    found = rate(users)
    print(f"explicit: {found:.3f} of the facts (stated rate {EXPLICITNESS})")
    assert abs(found - EXPLICITNESS) < 0.02
    assert rate(make_users(SEED, 3, variant, explicitness=0.0)) == 0
    assert rate(make_users(SEED, 3, variant, explicitness=1.0)) == 1


def test_facts_a_message_and_sessions_a_period(users: list[dict[str, Any]]) -> None:
    first = Counter(len(s["exposed_states"]) for u in users for s in u["periods"][0]["sessions"])
    later = Counter(
        len(s["exposed_states"]) for u in users for p in u["periods"][1:] for s in p["sessions"]
    )
    assert set(first) == {2, 3}
    assert set(later) == {0, 1, 2}
    assert all(len(u["periods"]) == PERIODS for u in users)
    assert all(len(u["periods"][0]["sessions"]) == 4 for u in users)
    assert {len(p["sessions"]) for u in users for p in u["periods"][1:]} == {2, 3, 4}
    total = statistics.mean(sum(len(p["sessions"]) for p in u["periods"]) for u in users)
    print(f"{total:.1f} sessions a user; facts a message in period 0 {first}, later {later}")


def test_states_questions_and_choices_are_as_many_as_stated(users: list[dict[str, Any]]) -> None:
    domain_of = {s: d for d, states in read_bank("a").schema.items() for s in states}
    sizes: Counter[int] = Counter()
    for user in users:
        schema = user["state_schema"]
        assert 10 <= len(schema) <= 12
        assert all(len(values) in (3, 4) for values in schema.values())
        domains = Counter(domain_of[s] for s in schema)
        assert len(domains) == 3
        assert set(domains.values()) <= {3, 4}
        used = Counter(s for q in user["qas"] for s in q["required_info"])
        assert used.keys() == schema.keys()
        assert set(used.values()) <= {1, 2}
        assert len(user["qas"]) == 8
        for question in user["qas"]:
            first, second = question["required_info"]
            assert domain_of[first] == domain_of[second]
            sizes[len(question["answer_choices"])] += 1
    random = sum(sizes[n] / n for n in sizes) / sizes.total()
    print(f"choices: {dict(sorted(sizes.items()))}; random {random:.4f}")
    assert set(sizes) == {4, 6}
    assert all(count > 0.3 * sizes.total() for count in sizes.values())


def test_one_known_value_never_decides_a_question(users: list[dict[str, Any]]) -> None:
    for question, _ in asked(users):
        choices = [tuple(choice["state"]) for choice in question["answer_choices"]]
        assert len(set(choices)) == len(choices)
        for side in (0, 1):
            counts = Counter(choice[side] for choice in choices)
            assert min(counts.values()) >= 2
            assert len(set(counts.values())) == 1


def test_the_right_choice_changes_over_time(users: list[dict[str, Any]]) -> None:
    distinct = Counter(len(set(right)) for _, right in asked(users))
    often = statistics.mean(max(Counter(right).values()) / PERIODS for _, right in asked(users))
    print(f"right choices a question over time {distinct}; the commonest {often:.2f} of the time")
    assert min(distinct) == 2
    assert max(distinct) <= 6
    assert often < 0.6


def test_neither_position_nor_length_tells_the_right_choice(users: list[dict[str, Any]]) -> None:
    for choices in (4, 6):
        first: list[float] = []
        positions = [0.0] * choices
        for question, right in asked(users):
            if len(question["answer_choices"]) == choices:
                for at in right:
                    positions[at] += 1
                first.append(right.count(0) / PERIODS)
        share = [p / sum(positions) for p in positions]
        print(f"{choices} choices: right at position {[round(s, 3) for s in share]}")
        assert max(abs(s - 1 / choices) for s in share) < 0.05
    longest, shortest, chance = [], [], []
    for question, right in asked(users):
        lengths = [len(choice["answer"]) for choice in question["answer_choices"]]
        longest.append(right.count(lengths.index(max(lengths))) / PERIODS)
        shortest.append(right.count(lengths.index(min(lengths))) / PERIODS)
        chance.append(1 / len(lengths))
    figures = [statistics.mean(own) for own in (longest, shortest, chance)]
    print("right if longest {:.3f}, if shortest {:.3f}, by chance {:.3f}".format(*figures))
    assert max(abs(figure - figures[2]) for figure in figures) < 0.03


def test_values_change_at_most_three_times_and_may_come_back(users: list[dict[str, Any]]) -> None:
    changes: Counter[int] = Counter()
    back = 0
    for user in users:
        assert all(p["update_cnts"] == user["periods"][0]["update_cnts"] for p in user["periods"])
        for period in user["periods"][1:]:
            assert 1 <= len(period["updates"]) <= 6
        for state, count in user["periods"][0]["update_cnts"].items():
            lived = [period["state"][state] for period in user["periods"]]
            assert count == sum(a != b for a, b in pairwise(lived))
            changes[count] += 1
            back += count + 1 > len(set(lived))
    print(f"changes a state {dict(sorted(changes.items()))}; a value comes back in {back} states")
    assert set(changes) == {0, 1, 2, 3}
    assert min(changes.values()) > 0.05 * changes.total()
    assert back > 0.1 * changes.total()


def test_state_types_are_common_to_users(users: list[dict[str, Any]]) -> None:
    held = Counter(state for user in users for state in user["state_schema"])
    shares = [count / COUNT for count in held.values()]
    print(f"a state type is held by {min(shares):.3f} to {max(shares):.3f} of the users")
    assert len(held) == 36
    assert min(shares) >= 0.25
    assert max(shares) <= 0.5


def test_the_profile_tells_no_state(users: list[dict[str, Any]], variant: str) -> None:
    bank = read_bank(variant)
    for user in users:
        profile = user["user_profile"]
        remarks = sentences(profile["complementary_info"])
        assert len(set(remarks)) == len(remarks) == 12
        assert set(remarks) <= set(bank.generic)
        assert profile["formatted_str"] == "\n".join(
            f"{key}: {profile[key]}" for key in profile if key not in ("uuid", "formatted_str")
        )
        words = " ".join(re.findall("[a-z]+", json.dumps(profile).lower()))
        for values in user["state_schema"].values():
            assert not any(f" {value.replace('_', ' ')} " in words for value in values)


def test_time_goes_on(users: list[dict[str, Any]]) -> None:
    for user in users:
        last, last_day = datetime.min, None
        assert user["start_time"] == user["periods"][0]["period_start"]
        for period in user["periods"]:
            start = date.fromisoformat(period["period_start"])
            end = date.fromisoformat(period["period_end"])
            assert 88 <= (end - start).days <= 92
            assert last_day is None or (start - last_day).days == 1
            last_day = end
            for session in period["sessions"]:
                now = datetime.strptime(session["session_time"], "%Y-%m-%d %H:%M:%S")
                assert last < now
                assert start <= now.date() <= end
                last = now
    assert {user["start_time"][:7] for user in users} == {"2024-01"}


def test_a_user_is_the_same_whatever_the_count_and_lives_the_same_in_every_variant() -> None:
    assert make_users(SEED, 5) == users_for("a")[:5]
    assert make_users(SEED + 1, 5) != users_for("a")[:5]
    for one, other in zip(users_for("a"), users_for("b"), strict=True):
        assert one["id"] != other["id"]
        for name in ("state_schema", "start_time"):
            assert one[name] == other[name]
        for left, right in zip(one["periods"], other["periods"], strict=True):
            assert left["state"] == right["state"]
            for here, there in zip(left["sessions"], right["sessions"], strict=True):
                assert here["exposed_states"] == there["exposed_states"]
                assert here["session_time"] == there["session_time"]
        for left, right in zip(one["qas"], other["qas"], strict=True):
            assert left["required_info"] == right["required_info"]
            assert [c["state"] for c in left["answer_choices"]] == [
                c["state"] for c in right["answer_choices"]
            ]


def test_the_users_load_and_are_traceable(users: list[dict[str, Any]]) -> None:
    loaded = users_of(json.loads(json.dumps(users)), "sample")
    assert len(loaded) == COUNT
    assert all(user.truth().traceable for user in loaded)
    assert all(set(user.periods[0].sessions[0].exposed or ()) for user in loaded)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "evolve.gym.sample", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_the_packaged_file_is_what_the_command_writes(tmp_path: Path) -> None:
    out = tmp_path / "sample.json"
    run = command("--seed", "7", "--users", "72", "--out", str(out))
    assert (run.returncode, run.stderr) == (0, "")
    packaged = (files("evolve.gym") / "data" / "sample.json").read_bytes()
    assert out.read_bytes() == packaged
    assert len(packaged) < 3_000_000
    assert list(tmp_path.iterdir()) == [out]
    assert len(load_users(out)) == 72


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--users", "0"], "0 were asked for"),
        (["--users", "1", "--variant", "c"], "'c'"),
        (["--users", "1", "--out", "/dev/null/x.json"], "/dev/null/x.json cannot be"),
        (["--users", "1", "--out", "."], "cannot be"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(
    arguments: list[str], named: str, tmp_path: Path
) -> None:
    run = command("--out", str(tmp_path / "x.json"), *arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert named in run.stderr
    assert run.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_starts_without_heavy_imports() -> None:
    code = (
        "import sys, evolve.gym.sample; "
        "print({'numpy', 'sklearn', 'optuna', 'dspy', 'pandas', 'pydantic'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_make_users_refuses_what_makes_no_sense() -> None:
    with pytest.raises(ConfigError, match="at least 1 user"):
        make_users(1, -3)
