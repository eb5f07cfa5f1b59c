"""What a candidate changed, line by line."""

from evolve.results.text_changes import Line, changes
from policies.policy import make_policy, seed_policy

AWE = seed_policy("awe")


def plain(line):
    return line.sign, "".join(piece for piece, _ in line.pieces)


def test_equal_policies_differ_in_nothing():
    assert changes(AWE, AWE.derive(name="other")) == changes(AWE, AWE)
    assert (changes(AWE, AWE).settings, changes(AWE, AWE).texts) == ((), ())


def test_settings_are_told_before_and_after():
    found = changes(AWE, AWE.derive(settings={"top_k": 7, "recency_half_life": 4}))
    assert found.settings == (("top_k", "10", "7"), ("recency_half_life", "null", "4"))
    assert found.texts == ()


def test_a_line_that_came_stands_among_its_neighbours_and_the_rest_is_counted():
    before = AWE.derive(texts={"memory_types": "\n".join(f"- type {n}" for n in range(9))})
    after = AWE.derive(texts={"memory_types": before.texts["memory_types"] + "\n- pet"})
    ((name, lines),) = changes(before, after).texts
    assert name == "memory_types"
    assert [plain(line) for line in lines] == [
        ("left out", "7 lines unchanged"),
        ("same", "- type 7"),
        ("same", "- type 8"),
        ("new", "- pet"),
    ]


def test_within_a_line_that_was_changed_the_words_are_marked():
    before = AWE.derive(texts={"memory_types": "- what the user likes to eat"})
    after = AWE.derive(texts={"memory_types": "- what the user likes to drink"})
    ((_, (gone, new)),) = changes(before, after).texts
    assert gone == Line("gone", (("- what the user likes to ", False), ("eat", True)))
    assert new == Line("new", (("- what the user likes to ", False), ("drink", True)))


def test_a_move_to_another_architecture_shows_what_went_and_what_came():
    awi = seed_policy("awi")
    moved = make_policy("awi", awi.texts, {})
    found = changes(AWE, moved)
    assert found.settings[0] == ("architecture", "awe", "awi")
    assert ("top_k", "10", "(none)") in found.settings
