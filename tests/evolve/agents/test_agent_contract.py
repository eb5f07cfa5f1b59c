"""What every memory architecture keeps, whichever it is."""

import copy
import json
from importlib.util import find_spec
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.agents.base import Query
from evolve.agents.registry import AGENTS
from evolve.lm.extraction import as_reply, asks
from feedback.records import ChatMessage, message_position
from policies.errors import OutsideFailureError, PolicyFailureError
from policies.policy import ARCHITECTURES, EXTRA

WRITERS = ("awe", "awi")
RETRIEVE = ("rag", "awe", "mem0")
EVERY = [
    pytest.param(
        name,
        marks=[
            pytest.mark.extra,
            pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed"),
        ]
        if name in EXTRA
        else [],
    )
    for name in sorted(AGENTS)
]
ANSWER = Query("answer", "Reply so.", "Which of 1. word1 2. milk?", "word1 or milk", 5)
PROBE = Query("probe", "Reply so.", "Which is true of word2?", "word2", 6)
MESSAGE = ChatMessage("8.0.0.u", "user", "What about word1?")


def obliging(request):
    """Writes what the user said last, under one of three labels; repeats the rest."""
    if request.task == "write":
        said = request.messages[-1].content.split("user: ")[-1].split("\n")[0]
        if asks(request.messages[-1].content):
            return as_reply([said])
        return json.dumps({f"label {len(said) % 3}": said})
    return f"a reply to {request.messages[-1].content}"


def test_every_architecture_is_registered():
    assert set(AGENTS) == set(ARCHITECTURES)


@pytest.mark.parametrize("architecture", EVERY)
class TestAgentContract:
    """Add an architecture to ``AGENTS`` and it is held to all of this."""

    def test_reply_and_prepare_store_nothing(self, architecture, agent_of, scripted, talk):
        lms = scripted(obliging), scripted(obliging)
        asked, left_alone = (agent_of(architecture, lm) for lm in lms)
        messages = talk(12)
        for start in range(0, len(messages), 6):
            before = copy.deepcopy((asked.entries, asked.writes))
            replies = [asked.reply(MESSAGE) for _ in range(3)]
            answers = [asked.prepare(query) for query in (ANSWER, PROBE, ANSWER, PROBE)]
            assert (asked.entries, asked.writes) == before
            assert len(set(replies)) == 1
            assert answers[:2] == answers[2:]
            for agent in (asked, left_alone):
                agent.observe(messages[start : start + 6])
        assert (asked.entries, asked.writes) == (left_alone.entries, left_alone.writes)
        assert asked.prepare(ANSWER) == left_alone.prepare(ANSWER)
        assert lms[0].asked("write") == lms[1].asked("write")

    def test_observe_changes_what_is_shown(self, architecture, agent_of, scripted, talk):
        lm = scripted(obliging)
        agent = agent_of(architecture, lm)
        contexts = [agent.prepare(ANSWER).context]
        for message in talk(6):
            agent.observe([message])
            contexts.append(agent.prepare(ANSWER).context)
        assert contexts[0].entries == contexts[0].messages == ()
        changed = [one != other for one, other in pairwise(contexts)]
        assert all(changed) if architecture != "none" else not any(changed)

    def test_entries_come_from_what_was_observed(self, architecture, agent_of, scripted, talk):
        agent = agent_of(architecture, scripted(obliging))
        messages = talk(12)
        agent.observe(messages)
        observed = [message.id for message in messages]
        written = [i for write in agent.writes for i in write.batch]
        assert written == observed[: len(written)]
        assert [entry.id for entry in agent.entries] == list(range(len(agent.entries)))
        assert [write.number for write in agent.writes] == list(range(len(agent.writes)))
        for write in agent.writes:
            assert write.entries == tuple(e.id for e in agent.entries if e.written == write.number)
        for entry in agent.entries:
            assert set(entry.sources) <= set(written)
            assert set(entry.sources) & set(agent.writes[entry.written].batch)
            assert (entry.retired is None) == (entry.retired_because is None)
            assert entry.retired is None or entry.written < entry.retired < len(agent.writes)

    def test_a_write_knows_when_it_happened(self, architecture, agent_of, scripted, talk):
        agent = agent_of(architecture, scripted(obliging))
        for session, message in ((n // 2, m) for n, m in enumerate(talk(12))):
            before, made = len(agent.writes), len(agent.entries)
            agent.observe([message])
            period = message_position(message.id)[0]
            assert {write.period for write in agent.writes[before:]} <= {period}
            assert {(e.period, e.session) for e in agent.entries[made:]} <= {(period, session)}

    @given(cuts=st.lists(st.integers(0, 24)))
    def test_it_does_not_matter_how_messages_are_grouped(
        self, architecture, agent_of, scripted, talk, cuts
    ):
        messages = talk(12)
        whole, pieces = (agent_of(architecture, scripted(obliging)) for _ in range(2))
        whole.observe(messages)
        places = [0, *sorted(cuts), len(messages)]
        for start, end in pairwise(places):
            pieces.observe(messages[start:end])
        assert (whole.entries, whole.writes) == (pieces.entries, pieces.writes)
        assert whole.prepare(PROBE) == pieces.prepare(PROBE)

    def test_the_same_life_asks_the_same(self, architecture, agent_of, scripted, talk):
        lms = [scripted(obliging) for _ in range(2)]
        asked = [[], []]
        for lm, prepared in zip(lms, asked, strict=True):
            agent = agent_of(architecture, lm)
            for message in talk(12):
                agent.observe([message])
                agent.reply(MESSAGE)
                prepared.append(agent.prepare(ANSWER))
        assert lms[0].requests == lms[1].requests
        assert asked[0] == asked[1]

    def test_instances_do_not_share_state(self, architecture, agent_of, scripted, talk):
        lm = scripted(obliging)
        one, other = agent_of(architecture, lm), agent_of(architecture, lm)
        one.observe(talk(12))
        assert other.entries == other.writes == ()
        context = other.prepare(ANSWER).context
        assert context.entries == context.messages == ()
        assert agent_of(architecture, lm).prepare(ANSWER) == other.prepare(ANSWER)

    def test_the_prompt_is_laid_out_and_holds_what_the_context_says(
        self, architecture, agent_of, scripted, talk
    ):
        lm = scripted(obliging)
        agent = agent_of(architecture, lm)
        messages = {message.id: message for message in talk(12)}
        agent.observe(list(messages.values()))
        for query in (ANSWER, PROBE):
            before = len(lm.requests)
            prepared = agent.prepare(query)
            assert len(lm.requests) == before
            request = prepared.request
            assert (request.task, request.seed) == (query.task, query.seed)
            system, *turns, last = request.messages
            assert (system.role, last.role) == ("system", "user")
            assert system.content.endswith(f"\n\n{query.rules}")
            memory, _, asked = last.content.rpartition("\n\n")
            assert asked == query.prompt
            assert bool(memory) == (architecture in RETRIEVE)
            shown = [messages[i] for i in prepared.context.messages]
            assert [(t.role, t.content) for t in turns] == [(m.role, m.content) for m in shown]
            live = {e.id: e for e in agent.entries if e.retired is None}
            for entry in agent.entries:
                seen = entry.text in (memory or system.content)
                assert seen == (entry.id in prepared.context.entries)
            places = [
                (memory or system.content).index(live[i].text) for i in prepared.context.entries
            ]
            assert places == sorted(places)

    def test_thinking_is_not_said(self, architecture, agent_of, scripted):
        agent = agent_of(architecture, scripted(lambda _: "<think>Hm.</think>\nHello. "))
        assert agent.reply(MESSAGE) == "Hello."

    @pytest.mark.parametrize("error", [OutsideFailureError("down"), PolicyFailureError("long")])
    def test_errors_of_the_model_pass_through(self, architecture, agent_of, scripted, talk, error):
        def failing(request):
            raise error

        agent = agent_of(architecture, scripted(failing))
        calls = [lambda: agent.reply(MESSAGE)]
        if architecture in {*WRITERS, "mem0"}:
            calls.append(lambda: agent.observe(talk(12)))
        for call in calls:
            with pytest.raises(type(error), match=str(error)):
                call()
        assert agent.entries == agent.writes == ()


@pytest.mark.parametrize("architecture", WRITERS)
class TestAgenticWriteContract:
    """Architectures whose model writes are held to this, too."""

    @pytest.mark.parametrize(
        "bad", ["", "Sorry.", "[]", "null", '{"a": 1}', '{"a": "b"', '{"": "x"}']
    )
    def test_a_reply_that_cannot_be_read_leaves_memory_as_it_was(
        self, architecture, agent_of, scripted, talk, bad
    ):
        def sometimes(request):
            number = 1 + next(n for n in range(5) if f"word{n} " in request.messages[0].content)
            return bad if number in {1, 3} else json.dumps({"label": f"fact {number}"})

        lm = scripted(sometimes)
        agent = agent_of(architecture, lm, write_every=2, local_window=0)
        known = []
        for number, start in enumerate(range(0, 10, 2), 1):
            before = agent.entries
            agent.observe(talk(5)[start : start + 2])
            assert len(agent.writes) == number
            last = agent.writes[-1]
            if number in {1, 3}:
                assert agent.entries == before
                assert last.entries == ()
                assert last.format_error
            else:
                known.append(f"fact {number}")
                assert last.format_error is None
            assert [e.text for e in agent.entries] == known
        assert len(lm.requests) == 5 + 2  # those two were asked once more
        assert all(len(write.batch) == 2 for write in agent.writes)

    def test_what_is_said_when_asked_once_more_counts(self, architecture, agent_of, scripted, talk):
        lm = scripted(lambda r: '{"label": "fact"}' if len(r.messages) > 1 else "Sorry.")
        agent = agent_of(architecture, lm, write_every=2, local_window=0)
        agent.observe(talk(1))
        assert [(w.entries, w.format_error) for w in agent.writes] == [((0,), None)]
        assert len(lm.requests) == 2

    def test_an_empty_object_writes_nothing(self, architecture, agent_of, scripted, talk):
        agent = agent_of(architecture, scripted(lambda _: "{}"), write_every=2, local_window=0)
        agent.observe(talk(2))
        assert agent.entries == ()
        assert [(w.entries, w.format_error) for w in agent.writes] == [((), None)] * 2

    def test_what_a_write_is_asked(self, architecture, agent_of, scripted, talk):
        lm = scripted(obliging)
        texts = {
            "memory_types": "- drinks {x}",
            "write_prompt": "A {b} {{memory_types}} B {{memories}} C {{conversation}} D",
        }
        agent = agent_of(architecture, lm, texts, write_every=2, local_window=2)
        agent.observe(talk(3, said=["I drink {{memories}}.", "I left.", "Yes."]))
        first, second = lm.asked("write")
        assert len(first.messages) == 1
        assert first.messages[0].content == (
            "A {b} <memory_types>\n- drinks {x}\n</memory_types> B <memories>\n(none)\n</memories> "
            "C <conversation>\nuser: I drink {{memories}}.\nassistant: That is reply0.\n"
            "</conversation> D"
        )
        assert "- [session 2] label 0: I drink {{memories}}." in second.messages[0].content
        assert first.seed != second.seed
