"""Memory systems of one's own: how they are named, what they must say, how they fail."""

import signal
import sys
from dataclasses import replace

import pytest

from evolve.agents.base import Prepared, Query
from evolve.agents.common import Speaker
from evolve.agents.example import UserWords
from evolve.agents.own import declare_agent, declare_class
from evolve.agents.registry import make_agent
from evolve.inputs import load_policy
from evolve.lm.offline import OfflineLM
from feedback.records import ChatMessage, Entry
from policies.errors import AgentError, PolicyFileError
from policies.policy import read_policy, write_policy

NAME = "evolve.agents.example:UserWords"
MESSAGE = ChatMessage("0.0.0.u", "user", "I like tea.")
QUERY = Query("probe", "Reply so.", "Which?", "tea", 6)


def test_its_name_is_the_architecture_of_its_policies(tmp_path):
    policy = declare_agent(NAME)
    assert (policy.architecture, policy.settings) == (NAME, {"top_k": 5})
    assert list(policy.texts) == ["reply_prompt", "answer_prompt"]
    write_policy(policy.derive(settings={"top_k": 7}), tmp_path / "mine.yaml")
    assert load_policy(str(tmp_path / "mine.yaml"), NAME).settings["top_k"] == 7
    assert load_policy(NAME, NAME) == policy
    with pytest.raises(PolicyFileError, match=r"unknown placeholder \{\{x\}\}"):
        policy.derive(texts={"reply_prompt": "Reply. {{memories}} {{x}}"})
    with pytest.raises(PolicyFileError, match="top_k must be a whole number from 1 to 50"):
        policy.derive(settings={"top_k": 51})


def test_a_policy_of_an_agent_that_is_not_named_is_refused(tmp_path):
    text = "schema: 1\narchitecture: 'unheard:Of'\ntexts: {}\nsettings: {}\n"
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(PolicyFileError, match=r"'unheard:Of' is a memory .* add --agent"):
        read_policy(tmp_path / "mine.yaml")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "must be a class as package:Class, but is ''; name"),
        ("UserWords", "must be a class as package:Class"),
        ("evolve.agents.example:", "must be a class as package:Class"),
        ("os.path:join(1)", "must be a class as package:Class"),
        ("no_such_module:X", r"importing no_such_module .* \(ModuleNotFoundError"),
        ("evolve.agents.example:No", "has no class No; its classes are: UserWords"),
        ("evolve.agents.example:annotations", "has no class annotations"),
        ("evolve.agents.native:NativeAgent", "has neither texts nor settings; give"),
    ],
)
def test_names_that_are_none(name, said):
    with pytest.raises(AgentError, match=said):
        declare_agent(name)


def test_a_module_that_fails_is_no_traceback(tmp_path, monkeypatch):
    (tmp_path / "broken_memory.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AgentError, match=r"\(ZeroDivisionError: division by zero\); mend it"):
        declare_agent("broken_memory:X")
    sys.modules.pop("broken_memory", None)


def test_a_module_that_exits_is_no_end_without_a_word(tmp_path, monkeypatch):
    (tmp_path / "leaving_memory.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AgentError, match=r"importing leaving_memory .* fails \(SystemExit"):
        declare_agent("leaving_memory:X")


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"texts": {}, "settings": {}}, "has neither texts nor settings"),
        ({"texts": "Reply."}, "texts of an agent maps names to values, but .* 'Reply.'; write"),
        ({"texts": {"prompt": "x"}}, "texts of an agent are among reply_prompt, .* 'prompt'; re"),
        ({"texts": {"reply_prompt": 3}}, "text reply_prompt must be text, not 3"),
        ({"texts": {"reply_prompt": " "}}, "text reply_prompt must not be empty"),
        ({"settings": {"chunk": 3}}, "settings of an agent are among write_every, .* 'chunk'"),
        ({"settings": {"top_k": 0}}, "top_k must be a whole number from 1 to 50, but .* has 0"),
        ({"settings": ["top_k"]}, "settings of an agent maps names to values"),
    ],
)
def test_what_a_class_must_say_of_itself(attributes, said):
    with pytest.raises(AgentError, match=said):
        declare_class(type("Mine", (UserWords,), attributes))


def live(given):
    policy = load_policy(declare_class(given))
    agent = make_agent(Speaker(policy, OfflineLM(), 1))
    assert agent.entries == ()
    agent.reply(MESSAGE)
    agent.prepare(QUERY)
    agent.observe([MESSAGE])
    list(agent.entries)
    list(agent.writes)


def entry(**fields):
    return replace(Entry(0, "", "tea", (MESSAGE.id,), 0, 0, 0), **fields)


def observing(**kept):
    return lambda self, messages: vars(self).update(kept)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"observe": None}, "has the methods reply, prepare, observe, but .* lacks observe"),
        ({"__init__": lambda self: None}, "its making of .* raised TypeError"),
        ({"__init__": lambda self, speaker: None}, "entries of .* raised AttributeError"),
        ({"reply": lambda self, message: {}["x"]}, r"reply of .* raised KeyError: 'x' in .*, line"),
        ({"reply": lambda self, message: None}, "reply returns text, but .* returned None"),
        ({"prepare": lambda self, query: "x"}, "prepare returns a Prepared, but .* returned 'x'"),
        ({"observe": lambda self, messages: 1 / 0}, "observe of .* raised ZeroDivisionError"),
        ({"reply": lambda self, message: "\ud800"}, "returned '.ud800', with half a character"),
        ({"prepare": lambda self, query: Prepared(None, None)}, "one whose request is None; mend"),
        ({"observe": observing(writes=(1, 2))}, "of the kind Write, but number 0 of .* is 1; mend"),
        ({"observe": observing(entries={"a": 1})}, "of the kind Entry, but number 0 .* is 'a'"),
        ({"observe": observing(entries=(entry(text=5),))}, "is one whose text is 5; mend it"),
        ({"observe": observing(entries=(entry(id=True),))}, "is one whose id is True"),
        ({"observe": observing(entries=(entry(sources=[]),))}, r"sources is \[\], not a tuple"),
    ],
)
def test_a_mistake_of_the_class_is_one_sentence(attributes, said):
    with pytest.raises(AgentError, match=said):
        live(type("Mine", (UserWords,), attributes))


def raising(error):
    def reply(self, message):
        raise error

    return type("Mine", (UserWords,), {"reply": reply})


def test_an_agent_that_exits_is_told_and_ctrl_c_is_not_taken_for_it(monkeypatch):
    with pytest.raises(AgentError, match=r"reply of .* raised SystemExit: 3 in "):
        live(raising(SystemExit(3)))
    monkeypatch.setattr("signal.getsignal", lambda number: signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        live(raising(KeyboardInterrupt()))
    monkeypatch.setattr("signal.getsignal", lambda number: None)  # as within a run
    with pytest.raises(AgentError, match=r"reply of .* raised KeyboardInterrupt"):
        live(raising(KeyboardInterrupt()))
