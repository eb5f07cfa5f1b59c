"""Published runs: the published figures, the traps of the files, and files that are odd."""

import json

import pytest

from evolve.gym.reference import load_bounds, load_interactions, read_counts, read_run
from evolve.gym.users import load_users
from feedback.diagnosis import count_states, diagnose
from feedback.records import message_position
from feedback.scores import score, scores_by_period, scores_by_user
from policies.errors import ReferenceRunError

# n, right, write, read, utilization, lucky, by user in the order of the file
PUBLISHED = {
    "awi": [(110, 42, 27, 30, 11, 10), (210, 54, 83, 58, 15, 25), (210, 70, 69, 45, 26, 29)],
    "native": [(110, 47, 36, 13, 14, 5), (210, 65, 53, 61, 31, 22), (210, 63, 67, 55, 25, 34)],
}
MEMORY = {"awi": 0.14576, "native": 0.17024}


@pytest.fixture(scope="module")
def published(shared_data):
    folder = shared_data / "amemgym-v1"
    return folder, load_users(folder / "data.json")


@pytest.mark.parametrize("run", ["awi", "native"])
def test_published_figures(published, run):
    folder, users = published
    rollouts = read_run(folder / "runs" / run, users)
    found = [d for r, u in zip(rollouts, users, strict=True) for d in diagnose(r, u.truth())]
    bounds = load_bounds(folder / "runs", users)
    by_user = scores_by_user(found, bounds)
    for user, figures in zip(users, PUBLISHED[run], strict=True):
        s = by_user[user.id]
        rates = (1.0, s.accuracy, s.write, s.read, s.utilization, s.lucky)
        assert tuple(rate * s.n for rate in rates) == pytest.approx(figures)
    s = score(found, bounds)
    assert (s.n, s.format, s.unknown_probes) == (530, 0, 0)
    assert s.probe_format_errors == (10 if run == "native" else 0)
    assert s.random == pytest.approx(0.21212, abs=5e-6)
    assert s.upper == pytest.approx(0.90566, abs=5e-6)
    assert s.memory == pytest.approx(MEMORY[run], abs=6e-6)
    uppers = [by_user[user.id].upper for user in users]
    assert uppers == pytest.approx([0.88182, 0.85238, 0.97143], abs=5e-6)
    assert all(p.memory is not None for p in scores_by_period(found, bounds).values())


@pytest.mark.parametrize("run", ["awi", "native"])
def test_published_counts_are_reproduced_array_for_array(published, run):
    folder, users = published
    for user, rollout in zip(users, read_run(folder / "runs" / run, users), strict=True):
        counts = read_counts(folder / "runs" / run / user.id)
        assert counts == count_states(rollout, user.truth())


def test_unparsable_probes_are_format_errors(published):
    folder, users = published
    rollout = read_run(folder / "runs" / "native", users[:1] + users[1:])[0]
    unread = [a for a in rollout.answers if any(p.format_error for p in a.probes)]
    assert [(a.period, a.question) for a in unread] == [(p, 3) for p in range(5, 10)]
    assert all(p.reply is None and not p.right for a in unread for p in a.probes)


@pytest.mark.parametrize("run", ["awi", "native"])
def test_published_conversations(published, run):
    folder, users = published
    for user in users:
        talk = load_interactions(folder / "runs" / run / user.id, user)
        assert talk == load_interactions(folder / "runs" / run / user.id)
        flat = [m for period in talk for session in period for m in session]
        positions = [message_position(m.id) for m in flat]
        assert positions == sorted(set(positions))
        for lived, period in zip(user.periods, talk, strict=True):
            for opening, session in zip(lived.sessions, period, strict=True):
                first = session[0]
                assert first.content == f"[Current Time: {opening.time}]\n{opening.query}"
                assert [m.role for m in session] == ["user", "assistant"] * (len(session) // 2)


def test_a_tiny_run_is_read(tiny_run, edit):
    users = load_users(tiny_run / "env.json")
    ann = tiny_run / "runs" / "published" / "ann"
    edit(ann / "overall_results.json", "1.0.response_state", ["coffee", "dog"])
    edit(ann / "overall_results.json", "1.1.json_error", True)
    edit(ann / "overall_results.json", "2.1.response_state", None)
    edit(ann / "diagnosis_results.json", "2.0.results.0.response_state", "unheard of")
    edit(ann / "diagnosis_results.json", "2.0.results.1.response_state", None)
    rollout, other = read_run(tiny_run / "runs" / "published", users)
    assert (rollout.policy, rollout.user, other.user) == ("published", "ann", "bob")
    chosen = [(a.right_choice, a.chosen) for a in rollout.answers]
    assert chosen == [(0, 0), (0, 0), (1, 2), (1, None), (1, 1), (1, None)]
    first, second = rollout.answers[4].probes
    assert (first.reply, first.format_error, first.right) == ("unheard of", False, False)
    assert (second.reply, second.format_error, second.right) == (None, True, False)


def test_bounds_are_those_of_the_right_choice_of_the_period(tiny_run, edit):
    users = load_users(tiny_run / "env.json")[:1]
    edit(tiny_run / "runs" / "upperbound_ann.json", "0.1.response_state", ["tea", "cat"])
    edit(tiny_run / "runs" / "upperbound_ann.json", "1.0.json_error", True)
    bounds = load_bounds(tiny_run / "runs", users)
    assert bounds == {
        ("ann", 0, 0): 1.0,
        ("ann", 1, 0): 0.0,
        ("ann", 2, 0): 0.0,
        ("ann", 0, 1): 0.0,
        ("ann", 1, 1): 1.0,
        ("ann", 2, 1): 1.0,
    }


def test_opening_queries_tell_what_the_environment_exposes(tiny_run):
    (ann, _) = load_users(tiny_run / "env.json")
    talk = load_interactions(tiny_run / "runs" / "published" / "ann", ann)
    assert talk[1][0][0].told == (("drink", "coffee"),)
    assert talk[1][0][1].told == talk[1][1][0].told == ()
    assert talk[2][1][1].id == "2.1.0.a"


def test_a_run_may_lack_users_and_counts(tiny_run):
    ann = tiny_run / "runs" / "published" / "ann"
    (ann / "diagnosis_metrics.json").unlink()
    assert read_counts(ann) is None
    for file in (*ann.glob("interactions/*"), *ann.glob("*.json")):
        file.unlink()
    (ann / "interactions").rmdir()
    ann.rmdir()
    rollouts = read_run(tiny_run / "runs" / "published", load_users(tiny_run / "env.json"))
    assert [r.user for r in rollouts] == ["bob"]


RIGHT_FILE = "made with"
# file, path in it, new content, words of the sentence
ODD = [
    ("overall_results.json", "2", ..., ["2 periods", "has 3", RIGHT_FILE]),
    ("overall_results.json", "1.1", ..., ["period 1", "1 questions", "has 2"]),
    ("overall_results.json", "1", 7, ["period 1", "question", "7"]),
    ("overall_results.json", "1.0", [], ["period 1, question 0", "an empty list"]),
    (
        "overall_results.json",
        "1.0.answer_state",
        ["tea", "cat"],
        ["question 0", "not what is true"],
    ),
    ("overall_results.json", "1.0.answer_state", ..., ["`answer_state`", "missing"]),
    ("overall_results.json", "1.0.response_state", ["tea", "dog"], ["no choice", "tea, dog"]),
    ("overall_results.json", "1.0.response_state", "tea", ["`response_state`", "list"]),
    ("overall_results.json", "1.0.json_error", "no", ["`json_error`", "true or false"]),
    ("diagnosis_results.json", "0.0.results.1", ..., ["1 probed states", "has 2"]),
    ("diagnosis_results.json", "0.0.results.0.info_type", "pet", ['"pet"', '"drink"', RIGHT_FILE]),
    (
        "diagnosis_results.json",
        "0.0.results.0.answer_state",
        "x",
        ["probed state 0", "not what is"],
    ),
    ("diagnosis_results.json", "0.0.results.0.response_state", 5, ["`response_state`", "5"]),
    ("diagnosis_results.json", "0.0.results", None, ["`results`", "null"]),
]


@pytest.mark.parametrize(("name", "steps", "new", "words"), ODD)
def test_odd_files_are_one_sentence(tiny_run, edit, name, steps, new, words):
    path = tiny_run / "runs" / "published" / "bob" / name
    edit(path, steps, new)
    with pytest.raises(ReferenceRunError) as caught:
        read_run(tiny_run / "runs" / "published", load_users(tiny_run / "env.json"))
    text = str(caught.value)
    assert "\n" not in text
    for word in [str(path), *words]:
        assert word in text


ODD_COUNTS = [
    ("write_failure", ..., "`write_failure`"),
    ("read_failure.0", 3, "period 0"),
    ("read_failure.0.1", 0.5, "whole number"),
    ("memory_success.0.1", True, "whole number"),
]


@pytest.mark.parametrize(("steps", "new", "words"), ODD_COUNTS)
def test_odd_counts(tiny_run, edit, steps, new, words):
    folder = tiny_run / "runs" / "published" / "bob"
    edit(folder / "diagnosis_metrics.json", steps, new)
    with pytest.raises(ReferenceRunError, match=words):
        read_counts(folder)


ODD_TALK = [
    ("0.1", ..., "pairs of user and assistant"),
    ("0", [], "at least one message"),
    ("1", ..., "1 sessions where the environment file has 2"),
    ("0.0.role", "assistant", "must be user"),
    ("0.1.content", None, "`content`"),
]


@pytest.mark.parametrize(("steps", "new", "words"), ODD_TALK)
def test_odd_conversations(tiny_run, edit, steps, new, words):
    folder = tiny_run / "runs" / "published" / "bob"
    edit(folder / "interactions" / "period_01.json", steps, new)
    bob = load_users(tiny_run / "env.json")[1]
    with pytest.raises(ReferenceRunError, match=words) as caught:
        load_interactions(folder, bob)
    assert "period_01.json" in str(caught.value)


def test_missing_things(tiny_run):
    users = load_users(tiny_run / "env.json")
    run = tiny_run / "runs" / "published"
    with pytest.raises(ReferenceRunError, match=r"no folder .*none"):
        read_run(tiny_run / "none", users)
    with pytest.raises(ReferenceRunError, match="bob is of no user"):
        read_run(run, users[:1])
    (tiny_run / "empty").mkdir()
    with pytest.raises(ReferenceRunError, match="holds no folder of a user"):
        read_run(tiny_run / "empty", users)
    with pytest.raises(ReferenceRunError, match=r"upperbound_ann\.json"):
        load_bounds(run, users)
    (run / "ann" / "interactions" / "period_01.json").rename(run / "ann" / "period_01.json")
    with pytest.raises(ReferenceRunError, match=r"no period_01\.json"):
        load_interactions(run / "ann")
    with pytest.raises(ReferenceRunError, match=r"no period_00\.json"):
        load_interactions(run)
    (run / "bob" / "interactions" / "period_02.json").unlink()
    with pytest.raises(ReferenceRunError, match="holds 2 periods where user bob has 3"):
        load_interactions(run / "bob", users[1])
    (run / "bob" / "interactions" / "period_last.json").touch()
    with pytest.raises(ReferenceRunError, match="no number of a period"):
        load_interactions(run / "bob")
    (run / "ann" / "overall_results.json").unlink()
    with pytest.raises(ReferenceRunError, match=r"There is no file .*overall_results\.json"):
        read_run(run, users)


def test_odd_bounds(tiny_run, edit):
    users = load_users(tiny_run / "env.json")
    path = tiny_run / "runs" / "upperbound_ann.json"
    edit(path, "0.1", ...)
    with pytest.raises(ReferenceRunError, match=r"question 0 .*2 choices where .* has 3"):
        load_bounds(path.parent, users)
    path.write_text(json.dumps([]))
    with pytest.raises(ReferenceRunError, match="at least one question"):
        load_bounds(path.parent, users)
