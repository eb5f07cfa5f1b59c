"""What mem0 is told, what it keeps, and that nothing of it leaves this process."""

import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest

from evolve.agents.base import Query
from evolve.lm.extraction import as_reply

PROBE = Query("probe", "Reply so.", "Which is true?", "word1", 6)


def texts_of(entries):
    return [entry.text for entry in entries]


@pytest.mark.extra
@pytest.mark.skipif(find_spec("mem0") is None, reason="mem0 is not installed")
class TestMem0:
    @pytest.fixture(autouse=True)
    def _offline(self, monkeypatch):
        def refuse(*_):
            raise AssertionError("the network is used")

        for name in ("create_connection", "getaddrinfo"):
            monkeypatch.setattr(socket, name, refuse)
        monkeypatch.setattr(socket.socket, "connect", refuse)

    def test_the_texts_are_the_custom_instructions_of_its_own_prompt(
        self, agent_of, scripted, talk
    ):
        lm = scripted(lambda _: as_reply(["likes tea"]))
        texts = {"memory_types": "- drinks {x}", "write_prompt": "Only {b}: {{memory_types}}."}
        agent = agent_of("mem0", lm, texts, write_every=2, local_window=2)
        agent.observe(talk(3))
        first, second = (request.messages for request in lm.asked("write"))
        assert first[0].role == "system"
        assert first[0].content.strip().startswith("# ROLE")
        told = "Only {b}: <memory_types>\n- drinks {x}\n</memory_types>."
        assert f"## Custom Instructions\n{told}\n\n# Output:" in first[1].content
        assert "## New Messages\nuser: I saw the word0 today.\n" in first[1].content
        assert '## Existing Memories\n[{"id": "0", "text": "likes tea"}]' in second[1].content
        assert "Date\n" not in first[1].content  # today's, which is that of no conversation

    def test_top_k_and_threshold_say_what_is_retrieved(self, agent_of, scripted, talk):
        shown = {}
        for top_k, threshold in ((50, 0), (2, 0), (50, 30)):
            said = iter(as_reply([f"fact {number} of word1", "none such"]) for number in range(4))
            lm = scripted(lambda _, said=said: next(said))
            agent = agent_of(
                "mem0", lm, write_every=2, local_window=0, top_k=top_k, threshold=threshold
            )
            agent.observe(talk(4))
            ids = agent.prepare(PROBE).context.entries
            shown[top_k, threshold] = [agent.entries[one].text for one in ids]
        assert [len(shown[key]) for key in shown] == [5, 2, 4]  # "none such" is kept but once
        assert shown[2, 0] == shown[50, 0][:2]
        assert "none such" not in shown[50, 30]

    def test_without_inference_messages_are_kept_as_they_were_said(self, agent_of, scripted, talk):
        lm = scripted(lambda _: "never asked")
        agent = agent_of("mem0", lm, write_every=2, local_window=0, infer=False)
        agent.observe(talk(1))
        assert texts_of(agent.entries) == [
            "user: I saw the word0 today.",
            "assistant: That is reply0.",
        ]
        assert [entry.sources for entry in agent.entries] == [("0.0.0.u",), ("0.0.0.a",)]
        assert lm.requests == []

    @pytest.mark.parametrize("bad", ["", "Sorry.", "[]", '{"a": 1}', '{"memory": [{"id": "0"}]}'])
    def test_a_reply_that_cannot_be_read_leaves_memory_as_it_was(
        self, agent_of, scripted, talk, bad
    ):
        lm = scripted(lambda r: bad if "word1 " in r.messages[1].content else as_reply(["fact"]))
        agent = agent_of("mem0", lm, write_every=2, local_window=0)
        agent.observe(talk(1))
        before = agent.entries
        agent.observe(talk(2)[2:])
        assert agent.entries == before
        assert [write.entries for write in agent.writes] == [(0,), ()]
        assert agent.writes[0].format_error is None
        assert agent.writes[1].format_error
        assert len(lm.requests) == 1 + 2  # it was asked once more

    def test_what_was_extracted_before_is_not_kept_twice(self, agent_of, scripted, talk):
        agent = agent_of("mem0", scripted(lambda _: as_reply(["a", "a", "b"])), write_every=2)
        agent.observe(talk(6))
        assert texts_of(agent.entries) == ["a", "b"]
        assert len(agent.writes) == 4

    @pytest.mark.parametrize("said", ["…", " ", "?!", "我是素食者", "😀"])
    def test_odd_messages_are_kept_and_searched(self, agent_of, scripted, talk, said):
        agent = agent_of(
            "mem0", scripted(lambda _: "x"), write_every=2, local_window=0, infer=False
        )
        agent.observe(talk(1, said=[said]))
        agent.reply(talk(1, said=[said])[0])
        assert len(agent.entries) == 2


BLOCKED = """
import sys
sys.modules["mem0"] = None
from evolve.agents.mem0_store import load_mem0
try:
    load_mem0()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_missing_package_is_named():
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("ConfigError Architecture mem0 needs the package mem0ai, which")
    assert "install it with make extras" in done.stdout
