"""Where events stand, and which of several rollouts of a pair is the fullest."""

from evolve.codec import to_data
from evolve.event_lines import event_line
from evolve.journal import FILE
from evolve.results.journal_lines import Rollouts, read_lines
from feedback.records import Rollout


def write(folder, *keys):
    lines = []
    for number, key in enumerate(keys):
        policy, user = key.split(":")[:2]
        lived = Rollout(policy, user, (), (), (), (), (), memory_tokens=(number,))
        lines.append(event_line("rollout", key, to_data(lived)))
    (folder / FILE).write_bytes(b"".join(lines))
    return Rollouts(read_lines(folder))


def test_the_fullest_of_each_pair(tmp_path):
    found = write(tmp_path, "p:ann:a", "p:ann:2", "p:ann:3", "p:ann", "p:ann:4", "q:ann:a")
    assert {place: found[place].memory_tokens for place in found} == {
        ("p", "ann"): (3,),
        ("q", "ann"): (5,),
    }
    found = write(tmp_path, "p:ann:a", "p:ann:2", "p:ann:3:a")
    assert found["p", "ann"].memory_tokens == (1,)


def test_ids_of_any_form(tmp_path):
    odd = 'a"b\\c: "é\ud800'
    lived = Rollout("p", odd, (), (), (), (), ())
    lines = event_line("rollout", f"p:{odd}:2", to_data(lived)), event_line("end", "x", None)
    (tmp_path / FILE).write_bytes(b"".join(lines) + b'{"kind": "torn')
    found = read_lines(tmp_path)
    assert Rollouts(found)["p", odd] == lived
    assert list(found.of("end")) == [("x", None)]
