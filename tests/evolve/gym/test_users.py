"""Environment files: what is read, and every way in which one can be wrong."""

import json
import os
import random
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.gym.users import file_digest, load_users, split_users, users_of
from policies.errors import EnvironmentFileError


def message(content) -> str:
    with pytest.raises(EnvironmentFileError) as caught:
        users_of(content, "env.json")
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert text.startswith("env.json")
    return text


def test_valid_file_is_read(tiny):
    ann, bob = users_of(tiny(), "env.json")
    assert (ann.id, bob.id) == ("ann", "bob")
    assert ann.profile == "name: Ann\nage: 40\nlikes: tea, cats"
    assert ann.schema == {"drink": ("tea", "coffee"), "pet": ("cat", "dog")}
    assert [p.updated for p in ann.periods] == [frozenset(), frozenset({"drink"}), frozenset()]
    assert ann.periods[0].start is None
    assert ann.periods[1].end == "2024-01-12"
    assert ann.periods[1].sessions[0].exposed == {"drink": "coffee"}
    assert ann.periods[1].sessions[1].exposed is None
    question = ann.questions[0]
    assert [question.right_choice(p.state) for p in ann.periods] == [0, 1, 1]
    with pytest.raises(ValueError, match="no choice suits"):
        question.right_choice({"drink": "tea", "pet": "dog"})


def test_truth(tiny):
    content = tiny()
    truth = users_of(content, "env.json")[0].truth()
    assert not truth.traceable
    assert [truth.write_period("drink", p) for p in range(3)] == [0, 1, 1]
    assert [truth.write_period("pet", p) for p in range(3)] == [0, 0, 0]
    assert truth.required == (("drink", "pet"), ("drink",))
    assert truth.queries == ("What shall I drink with my pet?", "Which cup?")
    assert truth.choices == tuple(
        tuple(choice["answer"] for choice in question["answer_choices"])
        for question in content[0]["qas"]
    )
    for period in content[0]["periods"]:
        for session in period["sessions"]:
            session.setdefault("exposed_states", {})
    assert users_of(content, "env.json")[0].truth().traceable


def test_optional_fields_may_be_null_or_absent(tiny):
    content = tiny()
    user = content[0]
    user["user_profile"] = None
    del user["start_time"]
    del user["periods"][0]["updates"]
    user["periods"][1]["updates"] = None
    for key in ("period_start", "period_end", "period_summary"):
        user["periods"][0].pop(key)
        user["periods"][1][key] = None
    user["periods"][0]["sessions"][0]["exposed_states"] = None
    loaded = users_of(content, "env.json")[0]
    assert loaded.profile == ""
    assert loaded.periods[1].updated == {"drink"}
    assert loaded.periods[0].start is loaded.periods[0].end is None


def test_formatted_profile_and_a_state_required_twice(tiny):
    content = tiny()
    content[0]["user_profile"]["formatted_str"] = "A person."
    content[0]["qas"][1] = {
        "query": "Which?",
        "required_info": ["drink", "drink"],
        "answer_choices": [
            {"state": ["tea", "tea"], "answer": "a"},
            {"state": ["coffee", "coffee"], "answer": "b"},
        ],
    }
    loaded = users_of(content, "env.json")[0]
    assert loaded.profile == "A person."
    assert loaded.questions[1].right_choice({"drink": "coffee"}) == 1


DELETE = object()
# path from the first user to what is broken; its new content; what the sentence must name
CASES = [
    ("id", DELETE, ["user 0", "`id`", "missing"]),
    ("id", None, ["`id`", "null"]),
    ("id", 7, ["`id`", "7"]),
    ("id", "  ", ["`id`", "not blank"]),
    ("id", "bob", ['"bob"', "already that of user 0"]),
    ("user_profile", "Ann", ["user ann", "`user_profile`", '"Ann"']),
    ("user_profile.age", {"years": 4}, ["user ann", "`user_profile`", '"age"']),
    ("user_profile.name", "\ud800", ["user ann", "surrogate"]),
    ("state_schema", DELETE, ["user ann", "`state_schema`"]),
    ("state_schema", {}, ["`state_schema` is empty"]),
    ("state_schema", ["drink"], ["`state_schema`", "a list of 1"]),
    ("state_schema.pet", "cat", ["`pet`", "list", '"cat"']),
    ("state_schema.pet", [], ["`pet`", "an empty list"]),
    ("state_schema.pet", ["cat", 3], ["`pet`", "3"]),
    ("state_schema.pet", ["cat", "cat"], ['"pet"', "twice"]),
    ("periods", DELETE, ["user ann", "`periods`", "missing"]),
    ("periods", [], ["at least one period", "an empty list", "add one"]),
    ("periods", {}, ["at least one period"]),
    ("periods.1", None, ["period 1 (counted from 0)", "null"]),
    ("periods.1.state", DELETE, ["period 1", "`state`", "missing"]),
    ("periods.1.state.pet", DELETE, ["period 1", 'lacks "pet"']),
    ("periods.1.state.pet", "cow", ["period 1", '"pet"', '"cow"', 'one of "cat", "dog"']),
    ("periods.1.state.pet", ["cat"], ["period 1", '"pet"', "a list of 1"]),
    ("periods.1.state.car", "red", ["period 1", '"car"', "no state of the schema"]),
    ("periods.1.period_start", 2024, ["period 1", "`period_start`", "2024"]),
    ("periods.1.updates", [], ["period 1", "`updates`", "an empty list"]),
    ("periods.1.updates.drink.new", "tea", ["period 1", '"drink" to "tea"', '"coffee"']),
    ("periods.1.updates.drink.new", DELETE, ["period 1", "`new`", "missing"]),
    ("periods.1.updates.drink", "coffee", ["period 1", "`drink`", '"coffee"']),
    ("periods.1.updates.car", {"new": "red"}, ["period 1", '"car"', "no state"]),
    ("periods.1.sessions", [], ["period 1", "at least one session", "add one"]),
    ("periods.1.sessions", DELETE, ["period 1", "`sessions`", "missing"]),
    ("periods.1.sessions.0", "hello", ["period 1, session 0", '"hello"']),
    ("periods.1.sessions.0.query", DELETE, ["period 1, session 0", "`query`"]),
    ("periods.1.sessions.0.query", ["a"], ["session 0", "`query`", "a list of 1"]),
    ("periods.1.sessions.0.session_time", DELETE, ["session 0", "`session_time`"]),
    ("periods.1.sessions.0.session_time", "soon", ["session 0", '"soon"', "2024-05-31 18:30:00"]),
    ("periods.1.sessions.0.session_time", "2024-01-11 09:00:00Z", ["session 0", "zone"]),
    ("periods.1.sessions.0.session_time", "2024-01-13 09:00", ["period 1, session 1", "order"]),
    ("periods.1.sessions.0.session_time", "2023-01-01", ["period 1, session 0", "order"]),
    ("periods.1.sessions.0.exposed_states", ["drink"], ["session 0", "`exposed_states`"]),
    ("periods.1.sessions.0.exposed_states.car", "red", ["session 0", '"car"', "no state"]),
    ("periods.1.sessions.0.exposed_states.pet", "cow", ["session 0", '"pet"', '"cow"']),
    ("qas", DELETE, ["user ann", "`qas`"]),
    ("qas", [], ["at least one question"]),
    ("qas.1", 5, ["question 1", "5"]),
    ("qas.1.query", "", ["question 1", "`query`"]),
    ("qas.1.required_info", [], ["question 1", "`required_info`"]),
    ("qas.1.required_info", "drink", ["question 1", "`required_info`"]),
    ("qas.1.required_info.0", "car", ["question 1", '"car"', "no state of the schema"]),
    ("qas.1.answer_choices", [], ["question 1", "at least one choice"]),
    ("qas.1.answer_choices.1", DELETE, ["question 1", "at least two choices", "found 1"]),
    ("qas.1.answer_choices.1.state", ["coffee", "cat"], ["choice 1", "2 values", "1 states"]),
    ("qas.1.answer_choices.1.state.0", "cocoa", ["question 1, choice 1", '"cocoa"', '"drink"']),
    ("qas.1.answer_choices.1.state.0", "tea", ["question 1, choice 1", "earlier choice", '"tea"']),
    ("qas.1.answer_choices.1.answer", DELETE, ["choice 1", "`answer`"]),
    ("qas.0.answer_choices.1", DELETE, ["question 0, period 1", '"coffee", "cat"']),
]


@pytest.mark.parametrize(("path", "new", "named"), CASES)
def test_every_rule_has_one_sentence(tiny, path, new, named):
    content = tiny()
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    node = content[0]
    for step in steps:
        node = node[step]
    if new is DELETE:
        del node[last]
    else:
        node[last] = new
    text = message(content)
    for part in named:
        assert part in text


@pytest.mark.parametrize("content", [[], {}, None, 3, "users", {"id": "ann"}])
def test_a_file_must_hold_a_list_of_users(content):
    assert "at least one user" in message(content)


@pytest.mark.parametrize("content", [[None], [[]], ["ann"], [3]])
def test_a_user_must_be_an_object(content):
    assert "user 0" in message(content)


def test_unprintable_and_long_things_are_shown_briefly(tiny):
    content = tiny()
    content[0]["id"] = "a\nb" + "c" * 500
    content[0]["state_schema"] = 10**400
    text = message(content)
    assert len(text) < 300
    assert "a\\nb" in text


BYTES = [
    (b"", "is empty"),
    (b" \n", "is empty"),
    (b"[{]", "not JSON: .* at line 1, column 3"),
    (b'[{"id": "ann"}', "not JSON"),
    (b"[\xff]", "not UTF-8 from byte 1 on"),
    (b"[" * 100_000, "nested too deeply"),
    (b"[" + b"1" * 5000 + b"]", "number too long"),
]


@pytest.mark.parametrize(("data", "rule"), BYTES)
def test_files_that_are_no_json(tmp_path, data, rule):
    path = tmp_path / "env.json"
    path.write_bytes(data)
    with pytest.raises(EnvironmentFileError, match=rule) as caught:
        load_users(path)
    assert str(path) in str(caught.value)


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(EnvironmentFileError, match="There is no file"):
        load_users(tmp_path / "none.json")
    with pytest.raises(EnvironmentFileError, match="is a folder"):
        load_users(tmp_path)
    with pytest.raises(EnvironmentFileError, match="cannot be read"):
        load_users(tmp_path / ("x" * 300))
    with pytest.raises(EnvironmentFileError, match="no path of a file"):
        load_users("a\0b")
    with pytest.raises(EnvironmentFileError, match="There is no file"):
        file_digest(tmp_path / "none.json")


def test_file_digest_follows_the_bytes(tmp_path, tiny):
    path = tmp_path / "env.json"
    path.write_text(json.dumps(tiny()))
    digest = file_digest(path)
    assert len(digest) == 16
    assert int(digest, 16) >= 0
    assert load_users(path)[1].id == "bob"
    path.write_text(json.dumps(tiny(), indent=1))
    assert file_digest(path) != digest
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(tiny()).encode())
    assert len(load_users(path)) == 2


def nodes(value, found=None):
    """Every (container, key) below ``value``."""
    found = [] if found is None else found
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], dict | list):
            nodes(value[key], found)
    return found


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["tea", "cat", "ann", "drink", "2024-01-01 00:00:00", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["drink", "new", "x"]), inner)
    ),
    max_leaves=4,
)


@given(data=st.data())
def test_any_mutation_is_read_or_refused_in_one_sentence(tiny, data):
    content = tiny()
    for _ in range(data.draw(st.integers(1, 3))):
        places = nodes(content)
        if not places:
            break
        container, key = data.draw(st.sampled_from(places))
        action = data.draw(st.sampled_from(["replace", "delete", "repeat", "swap"]))
        if action == "replace":
            container[key] = data.draw(JSON)
        elif action == "delete":
            del container[key]
        elif action == "repeat" and isinstance(container, list):
            container.insert(key, json.loads(json.dumps(container[key])))
        elif isinstance(container, list):
            container.reverse()
    try:
        users_of(content, "env.json")
    except EnvironmentFileError as error:
        text = str(error)
        assert text.startswith("env.json")
        assert "\n" not in text
        assert len(text) < 800


@given(data=st.data())
def test_any_damaged_bytes_are_read_or_refused(tmp_path_factory, tiny, data):
    raw = bytearray(json.dumps(tiny()).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(len(raw) // 2, 2 * len(raw)))]
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(raw)
    with suppress(EnvironmentFileError):  # nothing else may come out
        load_users(path)


@pytest.mark.parametrize(("n", "sizes"), [(72, (24, 24, 24)), (3, (1, 1, 1)), (5, (2, 2, 1))])
def test_split_in_thirds_whatever_the_order(tiny, n, sizes):
    content = [dict(tiny()[0], id=f"user {i}") for i in range(n)]
    users = list(users_of(content, "env.json"))
    split = split_users(users, seed=3)
    assert (len(split.train), len(split.gate), len(split.test)) == sizes
    assert sorted(u.id for u in split.train + split.gate + split.test) == sorted(
        u.id for u in users
    )
    random.Random(1).shuffle(users)
    assert split_users(users, seed=3) == split
    if n > 5:
        assert split_users(users, seed=4) != split


def test_published_users(shared_data):
    users = load_users(shared_data / "amemgym-v1" / "data.json")
    assert [len(user.periods) for user in users] == [11, 21, 21]
    assert sum(len(p.sessions) for user in users for p in user.periods) == 198
    assert sum(len(user.questions) for user in users) == 30
    assert not any(user.truth().traceable for user in users)
    assert users[0].profile.startswith("name: Maria Bermudez\nage: 70\n")


@pytest.mark.parametrize("run", ["awi", "native"])
def test_write_periods_are_those_of_the_published_runs(shared_data, run):
    compared = 0
    for user in load_users(shared_data / "amemgym-v1" / "data.json"):
        truth = user.truth()
        folder: Path = shared_data / "amemgym-v1" / "runs" / run / user.id
        results = json.loads((folder / "diagnosis_results.json").read_text())
        for period, row in enumerate(results):
            for probe in row:
                for state in probe["results"]:
                    name = state["info_type"]
                    assert truth.write_period(name, period) == state["write_pos"]
                    assert truth.states[period][name] == state["answer_state"]
                    compared += 1
    assert compared == 1060


def test_a_big_file_loads_fast(shared_data, tmp_path):
    content = json.loads((shared_data / "amemgym-v1" / "data.json").read_text())
    many = [dict(user, id=f"{user['id']}-{i}") for i in range(50) for user in content]
    path = tmp_path / "big.json"
    path.write_text(json.dumps(many))
    start = time.process_time()
    assert len(load_users(path)) == 150
    assert time.process_time() - start < 5  # under 1 s when measured: 15 MB


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EnvironmentFileError, match="it is a device or a pipe, not a file"):
        load_users(tmp_path / "pipe")
