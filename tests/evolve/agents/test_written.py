"""Facts under labels: what a new one does to the old ones."""

import json

import pytest


@pytest.fixture
def write_all(agent_of, scripted, talk):
    """Lets an architecture write replies one after the other; returns the agent."""

    def run(architecture, replies, **settings):
        waiting = list(replies)
        lm = scripted(lambda _: json.dumps(waiting.pop(0)))
        agent = agent_of(architecture, lm, write_every=2, local_window=0, **settings)
        agent.observe(talk(len(replies)))
        assert not any(write.format_error for write in agent.writes)
        return agent

    return run


def live(agent):
    return [(entry.label, entry.text) for entry in agent.entries if entry.retired is None]


def ends(agent):
    return [(e.text, e.retired, e.retired_because) for e in agent.entries]


def test_awi_overwrites_the_value_of_a_label(write_all):
    agent = write_all("awi", [{"drink": "tea", "pet": "cat"}, {"drink": "milk"}])
    assert live(agent) == [("pet", "cat"), ("drink", "milk")]
    assert ends(agent) == [("tea", 1, "overwritten"), ("cat", None, None), ("milk", None, None)]


def test_awe_keeps_both_without_supersede(write_all):
    agent = write_all("awe", [{"drink": "tea"}, {"drink": "milk"}], supersede=False)
    assert live(agent) == [("drink", "tea"), ("drink", "milk")]


def test_awe_retires_the_old_with_supersede(write_all):
    agent = write_all("awe", [{"drink": "tea"}, {"drink": "milk"}], supersede=True)
    assert live(agent) == [("drink", "milk")]
    assert ends(agent) == [("tea", 1, "superseded"), ("milk", None, None)]


def test_only_the_same_fact_is_refreshed_without_supersede(write_all):
    agent = write_all("awe", [{"drink": "tea"}, {"drink": "milk"}, {"drink": "tea"}])
    assert live(agent) == [("drink", "milk"), ("drink", "tea")]
    assert agent.entries[2].sources == ("0.0.0.u", "0.0.0.a", "0.2.0.u", "0.2.0.a")


@pytest.mark.parametrize(
    ("architecture", "settings"),
    [("awi", {}), ("awe", {"supersede": False}), ("awe", {"supersede": True})],
)
class TestAllWriters:
    def test_a_fact_said_again_is_refreshed(self, write_all, architecture, settings):
        agent = write_all(
            architecture, [{"drink": "tea"}, {"pet": "cat"}, {"drink": "tea"}], **settings
        )
        assert live(agent) == [("pet", "cat"), ("drink", "tea")]
        assert agent.entries[0].retired_because == "superseded"
        fresh = agent.entries[2]
        assert fresh.sources == ("0.0.0.u", "0.0.0.a", "0.2.0.u", "0.2.0.a")
        assert (fresh.written, fresh.session) == (2, 2)

    def test_labels_that_differ_in_case_are_one(self, write_all, architecture, settings):
        agent = write_all(
            architecture,
            [{"Drink": "tea"}, {"dRINK": "tea"}, {"STRASSE": "a"}, {"straße": "a"}],
            **settings,
        )
        assert live(agent) == [("dRINK", "tea"), ("straße", "a")]

    def test_other_labels_are_left_alone(self, write_all, architecture, settings):
        agent = write_all(architecture, [{"drink": "tea"}, {"drinks": "tea"}], **settings)
        assert live(agent) == [("drink", "tea"), ("drinks", "tea")]

    def test_a_fact_counts_as_updated_when_it_is_said_again(
        self, write_all, architecture, settings
    ):
        long = [{"a": "x" * 392}, {"b": "y" * 392}, {"a": "x" * 392}, {"c": "z" * 392}]
        agent = write_all(architecture, long, max_memory_tokens=200, **settings)
        assert [label for label, _ in live(agent)] == ["a", "c"]
        assert agent.entries[1].retired_because == "max_memory_tokens"
