"""How memories and conversations stand in a prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.agents.base import Query
from evolve.agents.prompts import PROBE_PROMPT, chat, conversation_block, memories_block, parted
from evolve.lm.base import Message
from feedback.records import ChatMessage, Entry
from policies.placeholders import names
from policies.policy import ARCHITECTURES, seed_policy


def entry(number, label, text, session=0):
    return Entry(number, label, text, ("0.0.0.u",), 0, 0, session)


def test_memories_stand_on_a_line_each_with_their_session():
    block = memories_block([entry(0, "drink", "tea"), entry(1, "", "user: hello\nyou", 4)])
    assert block == (
        "<memories>\n- [session 1] drink: tea\n- [session 5] user: hello you\n</memories>"
    )


def test_no_memories_are_said_to_be_none():
    assert memories_block([]) == "<memories>\n(none)\n</memories>"


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_nothing_in_a_memory_breaks_the_block(pairs):
    block = memories_block(entry(i, label, text) for i, (label, text) in enumerate(pairs))
    assert len(block.split("\n")) == max(1, len(pairs)) + 2


def test_conversation():
    said = [
        ChatMessage("0.0.0.u", "user", "One\nmore"),
        ChatMessage("0.0.0.a", "assistant", "Two"),
    ]
    assert conversation_block(said) == (
        "<conversation>\nuser: One\nmore\nassistant: Two\n</conversation>"
    )


def test_what_never_changes_stands_first():
    turn = ChatMessage("0.0.0.u", "user", "turn")
    assert chat("system", [turn], "last") == (
        Message("system", "system"),
        Message("user", "turn"),
        Message("user", "last"),
    )
    assert chat("system", [], "last", shown="memories")[-1] == Message("user", "memories\n\nlast")


@pytest.mark.parametrize(
    ("text", "fixed", "shown"),
    [
        ("Help.\n\nYou know:\n{{memories}}", "Help.", "You know:\n{{memories}}"),
        ("\n{{memories}}\n \t\n\nHelp.\n", "Help.", "{{memories}}"),
        ("A\n\n{{memories}}\n\nB\n\n2 {{memories}}", "A\n\nB", "{{memories}}\n\n2 {{memories}}"),
        ("Help with\n{{memories}}", "Help with\n{{memories}}", ""),  # stays whole
        ("No store.", "No store.", ""),
    ],
)
def test_paragraphs_that_show_memories_are_parted_from_those_that_never_change(text, fixed, shown):
    assert parted(text) == (fixed, shown)


def test_no_word_of_a_seed_is_lost():
    for policy in map(seed_policy, ARCHITECTURES):
        for text in policy.texts.values():
            assert sorted(" ".join(parted(text)).split()) == sorted(text.split())


def test_the_probe_prompt_has_the_placeholder_of_memories():
    assert names(PROBE_PROMPT) == ("memories",)


def test_placeholders_are_filled_by_name_and_other_braces_are_only_braces(agent_of, scripted, talk):
    """Braces of a policy and of a memory survive; a placeholder inside a memory is not filled."""
    lm = scripted(
        lambda request: '{"note": "{{memories}} {{x}} {0} %s {"}' if request.task == "write" else ""
    )
    texts = {
        "answer_prompt": "Use {json} and {} of\n{{memories}}\nand {{memories}}, %s.",
        "reply_prompt": "{{memories}}",
    }
    agent = agent_of("awi", lm, texts, write_every=2, local_window=0)
    agent.observe(talk(1))
    asked = agent.prepare(Query("answer", "Reply so.", "Question {{memories}}?", "s", 1)).request
    block = "<memories>\n- [session 1] note: {{memories}} {{x}} {0} %s {\n</memories>"
    assert asked.messages == (
        Message("system", f"Use {{json}} and {{}} of\n{block}\nand {block}, %s.\n\nReply so."),
        Message("user", "Question {{memories}}?"),
    )
    agent.reply(ChatMessage("0.1.0.u", "user", "{{memories}}"))
    assert lm.requests[-1].messages == (Message("system", block), Message("user", "{{memories}}"))


def test_a_probe_is_put_in_fixed_words(agent_of, scripted):
    for architecture in ("rag", "native"):
        agent = agent_of(architecture, scripted(lambda _: "{}"))
        request = agent.prepare(Query("probe", "Reply so.", "Which?", "s", 1)).request
        system, *_, last = (message.content for message in request.messages)
        assert "latest word counts" in system
        assert "<memories>" not in system
        assert ("<memories>" in last) == (architecture == "rag")
