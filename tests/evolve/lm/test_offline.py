"""The offline model as a whole: one request, one reply, everywhere and for every prompt."""

import json
import pickle
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evolve.gym.bounds import bound_user
from evolve.gym.people import Choice, Period, Question, Session, User
from evolve.gym.rollout import World, live
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm import offline
from evolve.lm.base import Message, Request, count_tokens
from evolve.lm.lexicon import is_cjk
from evolve.lm.offline import OfflineLM
from evolve.lm.parse import FormatError, parse_object, parse_write
from policies.policy import BUILT_IN, seed_policy

TASKS = ("reply", "write", "answer", "probe", "user", "bound", "rewrite")

# Parts of prompts, whole and broken, and of texts that no lexicon knows.
PIECES = [
    *("<memories>\n", "\n</memories>", "<memories>", "<conversation>\n", "\n</conversation>"),
    *("<memory_types>\n", "\n</memory_types>", "<facts>\n", "\n</facts>", "<question>\n"),
    *("\n</question>", "<choices>\n", "\n</choices>", "<profile>\n", "\n</profile>", "<states>"),
    *("- [session 3] diet: vegan\n", "- [session x] ", "- drink: tea\n", "diet_style: a | b\n"),
    *("user: ", "assistant: ", "1. Tea\n", "2. 喝茶\n", "[Current Time: x]\n", "- diet style\n"),
    *(
        "I am vegan.",
        "我吃素。",
        "Ich esse kein Fleisch!",
        "qwer asdf",
        "Ask about: ",
        "询问用户关于",
    ),
    *(
        "newest wins",
        "\n",
        "\n\n",
        " ",
        "?",
        "。",
        "：",
        ":",
        ": ",
        " | ",
        "{{memories}}",
        "{",
        "}",
    ),
    *("\x00", "\ufeff", "😀", '"', "'", "\\", "### drink: 3 of 4 answers wrong (x)\n", "—"),
    *("[[ ## current_text ## ]]\n", "[[ ## feedback ## ]]\n", "[[ ## second_text ## ]]\n"),
    *("[[ ## purpose ## ]]\nmemory_types: x\n", "At most 9 characters", "\n\nRespond with a JSON"),
]
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(("system", "user", "assistant")),
        st.lists(st.sampled_from(PIECES), max_size=15).map("".join),
    ),
    min_size=1,
    max_size=4,
).map(tuple)


def say(task, *messages, seed=1):
    return OfflineLM().complete(Request(task, messages, seed)).text


def test_it_never_claims_to_be_a_language_model(sample_calls):
    assert OfflineLM().name == "offline"
    assert "It is not an LLM" in str(offline.__doc__)
    claims = re.compile(
        r"\b(?:AI|LLM|GPT|language model|neural|trained|chatbot)\b|语言模型|人工智能"
    )
    for requests, replies in sample_calls:
        assert {request.task for request in requests} >= {"reply", "user", "answer", "probe"}
        assert not any(claims.search(reply) for reply in replies)


def test_tokens_are_bytes_by_four(sample_calls):
    requests, _ = sample_calls[0]
    done = OfflineLM().complete(requests[0])
    assert done.prompt_tokens == sum(count_tokens(m.content) for m in requests[0].messages)
    assert done.completion_tokens == count_tokens(done.text)


class Recorder:
    """The offline model, with what went through it."""

    name = "offline"

    def __init__(self):
        self.lm, self.requests, self.replies = OfflineLM(), [], []

    def complete(self, request):
        done = self.lm.complete(request)
        self.requests.append(request)
        self.replies.append(done.text)
        return done


@pytest.fixture(scope="module")
def sample_calls():
    """Of each architecture by one sample user: requests and replies of a rollout and its bounds."""
    (user,) = users_of(make_users(5, 1), "test")
    found = []
    for architecture in BUILT_IN:
        lm = Recorder()
        policy = seed_policy(architecture)
        asking = policy.texts["reply_prompt"].rstrip() + "\nAsk the user about pets and sleep.\n"
        live(policy.derive(texts={"reply_prompt": asking}), user, World(lm, lm, 1))
        bound_user(user, lm, 1)
        found.append((lm.requests, lm.replies))
    return found


AGAIN = """
import pickle, socket, sys
def refuse(*_): raise AssertionError("the network is used")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from evolve.lm.offline import OfflineLM
requests = pickle.load(sys.stdin.buffer)
lm = OfflineLM()
replies = [lm.complete(request).text for request in reversed(requests)]
assert not {"litellm", "dspy", "openai"} & set(sys.modules), "a model library is loaded"
sys.stdout.buffer.write(pickle.dumps(replies[::-1]))
"""


def test_another_process_says_the_same_from_the_prompts_alone(sample_calls):
    """Cold, in reverse order, with another hash seed, and without network."""
    requests = [request for asked, _ in sample_calls for request in asked]
    replies = [reply for _, said in sample_calls for reply in said]
    requests.append(Request("rewrite", (Message("user", "[[ ## current_text ## ]]\n- a"),), 3))
    replies.append(say("rewrite", *requests[-1].messages, seed=3))
    done = subprocess.run(
        [sys.executable, "-c", AGAIN],
        input=pickle.dumps(requests),
        capture_output=True,
        check=False,
        cwd=Path(__file__).parents[3],
        env={"PYTHONHASHSEED": "12345"},
    )
    assert done.stderr.decode() == ""
    assert pickle.loads(done.stdout) == replies


def test_nothing_is_asked_of_the_network(sample_calls, monkeypatch):
    def refuse(*_):
        raise AssertionError("the network is used")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    requests, replies = sample_calls[-1]
    lm = OfflineLM()
    assert [lm.complete(request).text for request in requests] == replies


@given(task=st.sampled_from(TASKS), messages=MESSAGES, seed=st.integers(0, 2**63 - 1))
@example(task="write", messages=(Message("user", ""),), seed=0)
@example(task="probe", messages=(Message("user", "<states>\n\n</states>"),), seed=0)
@example(task="answer", messages=(Message("user", "<choices>\n\n</choices>"),), seed=0)
def test_no_prompt_breaks_it_and_each_gets_one_reply(task, messages, seed):
    reply = say(task, *messages, seed=seed)
    assert say(task, *messages, seed=seed) == reply
    reply.encode()
    if task in {"write", "probe"}:
        assert isinstance(json.loads(reply), dict)
    if task == "user":
        assert parse_object(reply, "message")


@pytest.mark.parametrize("states", ["", "drink", "drink: tea\n\npet: cat"])
def test_states_without_values_do_not_break_the_user(states):
    say("user", Message("user", f"<states>\n{states}\n</states>"))


@pytest.mark.parametrize("task", ["answer", "bound"])
def test_a_choice_without_words_does_not_break_it(task):
    choices = "1. I am vegan and eat no animal products\n2. I eat everything, meat and fish\n3. "
    say(task, Message("system", ""), Message("user", f"<choices>\n{choices}\n</choices>"))


def test_a_type_that_begins_with_a_colon_makes_no_broken_write():
    prompt = (
        "<memory_types>\n- : diet style\n</memory_types>\n<conversation>\n"
        "user: I am fully vegan.\nassistant: Good.\n</conversation>"
    )
    try:
        parse_write(say("write", Message("user", prompt)))
    except FormatError as error:
        pytest.fail(str(error))


BARE = {
    "memory_types": "x",
    "write_prompt": "{{conversation}}{{memories}}{{memory_types}}",
    "reply_prompt": "{{memories}}",
    "answer_prompt": "{{memories}}",
}
ODD = {
    "memory_types": "\n- ？\n1) {}\n* 饮食习惯：吃什么\n- user: what\n\n",
    "write_prompt": "</conversation>{{memories}}<memories>{{conversation}}\nuser: {{memory_types}}",
    "reply_prompt": "Ask:\nask about , , and ? 询问用户关于。<memories>{{memories}}{{memories}}",
    "answer_prompt": "</memories>{{memories}}</memories><choices>\n1. x\n</choices>",
}


@pytest.mark.parametrize("architecture", BUILT_IN)
@pytest.mark.parametrize("texts", [BARE, ODD], ids=["bare", "odd"])
def test_policies_made_by_hand_are_lived(sample_user, architecture, texts):
    seed = seed_policy(architecture)
    own = {name: text for name, text in texts.items() if name in seed.texts}
    if architecture in {"none", "native"}:
        own = {name: text.replace("{{memories}}", "Hi") for name, text in own.items()}
    lm = OfflineLM()
    rollout = live(seed.derive(texts=own), sample_user, World(lm, lm, 1))
    assert rollout.failure is None
    assert all(answer.chosen is not None for answer in rollout.answers)


@pytest.fixture(scope="module")
def sample_user():
    (user,) = users_of(make_users(6, 1), "test")
    return replace(user, periods=user.periods[:3])


def person(words):
    """A user whose words are given: profile, state, two values, two queries, question, choices."""
    profile, state, one, other, before, after, question, *answers = words
    periods = tuple(
        Period(
            None,
            None,
            tuple(
                Session(query, f"2024-0{p + 1}-0{n + 1} 09:00:00", {state: value})
                for n, query in enumerate((said, said))
            ),
            {state: value},
            frozenset({state} if p else ()),
        )
        for p, (said, value) in enumerate(((before, one), (after, other), (after, other)))
    )
    choices = (Choice((one,), answers[0]), Choice((other,), answers[1]))
    asked = Question(question, (state,), choices)
    return User("odd", profile, {state: (one, other)}, periods, (asked,))


STRANGERS = {
    "German": (
        *("Anna ist Bäckerin und mag lange Spaziergänge.", "Ernährungsweise", "Mischkost"),
        *("vegetarisch", "Ich esse alles, auch Fleisch. Was koche ich?"),
        *("Seit Mai lebe ich vegetarisch. Was koche ich?", "Was soll ich kochen?"),
        *("Einen Braten mit Klößen, weil Mischkost passt.", "Ein vegetarisches Curry."),
    ),
    "Chinese": (
        *("她是面包师，喜欢在公园里散步很久。", "星座", "白羊座", "双鱼座"),
        *("我的星座是白羊座。今天运势如何？", "我的星座是双鱼座。今天运势如何？"),
        *("我该看哪一页？", "看白羊座那一页。", "看双鱼座那一页。"),
    ),
    "gibberish": (
        *("Zxq.", "blorf", "Qwee", "Zund", "Qwee qwee vlim. Snarf?", "Zund zund ploo. Snarf?"),
        *("Snarf blorf?", "Vlim qwee.", "Ploo zund."),
    ),
    "marks": ("?", "?!", "!", "…", "…", "¿", "?", ".", ","),
}


@pytest.mark.parametrize("architecture", BUILT_IN)
@pytest.mark.parametrize("language", STRANGERS)
def test_lives_outside_the_lexicon_are_lived(language, architecture):
    user, lm = person(STRANGERS[language]), OfflineLM()
    rollout = live(seed_policy(architecture), user, World(lm, lm, 1))
    assert rollout.failure is None
    assert all(answer.chosen is not None for answer in rollout.answers)
    assert not any(probe.format_error for answer in rollout.answers for probe in answer.probes)
    assert not any(write.format_error for write in rollout.writes)
    bounds, _ = bound_user(user, lm, 1)
    assert len(bounds) == 3


@pytest.mark.parametrize("architecture", ["awe", "awi"])
def test_memories_of_a_chinese_life_are_chinese(architecture):
    user, lm = person(STRANGERS["Chinese"]), OfflineLM()
    policy = seed_policy(architecture).derive(
        texts={"memory_types": "- 星座：用户的星座"},
        settings={"write_every": 2, "local_window": 0}
        | ({"supersede": True} if architecture == "awe" else {}),
    )
    rollout = live(policy, user, World(lm, lm, 1))
    assert rollout.entries
    for entry in rollout.entries:
        assert is_cjk(entry.text)
        assert entry.label == "星座"
    last = rollout.answers[-1]
    assert last.probes[0].right
    assert last.right
