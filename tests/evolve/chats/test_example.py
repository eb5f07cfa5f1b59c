"""The example is chats and probes that are read again and say what is true."""

from evolve.chats.example import chat_lines, probe_entries, write_example
from evolve.environment import load_environment
from evolve.gym.rollout import World, live
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm.offline import OfflineLM
from feedback.diagnosis import diagnose
from policies.policy import seed_policy


def test_it_is_read_as_what_the_sample_users_live(tmp_path, capsys):
    write_example(5, 2, tmp_path)
    env, probes = (str(tmp_path / name) for name in ("chats.jsonl", "probes.yaml"))
    environment = load_environment(env, probes)
    assert len(environment.users) == 2
    assert "2 users; 2 have probes" in environment.notes[0]
    assert "replayed" in environment.notes[1]
    assert capsys.readouterr().out.startswith("wrote ")
    assert "&id" not in (tmp_path / "probes.yaml").read_text(encoding="utf-8")


def test_the_truth_of_the_probes_is_the_users():
    (user,) = users_of(make_users(3, 1), "test")
    entries = list(probe_entries(user, 1))
    assert len({entry["state"] for entry in entries}) == 6
    ends = {period.end: period.state for period in user.periods}
    for entry in entries:
        assert entry["expected"] == ends[entry["date"]][entry["state"]]
        assert entry["expected"] in entry["choices"]
    talks = list(chat_lines(user, 1))
    assert len(talks) == sum(len(period.sessions) for period in user.periods)
    assert talks[0]["messages"][0]["content"] == user.periods[0].sessions[0].query


def test_a_memory_of_it_beats_none(tmp_path):
    world = World(OfflineLM(), OfflineLM(), 1)
    write_example(5, 2, tmp_path)
    environment = load_environment(str(tmp_path / "chats.jsonl"), str(tmp_path / "probes.yaml"))
    right = {}
    for architecture in ("none", "native"):
        rollouts = [
            (live(seed_policy(architecture), user, world), user.truth())
            for user in environment.users
        ]
        found = [one for rollout, truth in rollouts for one in diagnose(rollout, truth)]
        right[architecture] = sum(one.stage == "right" for one in found)
    assert right["native"] > right["none"]
