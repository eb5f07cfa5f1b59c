"""The dspy engine: what passes through it, and what dspy must not do."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field

import pytest

from evolve.lm.base import Completion, Request
from evolve.lm.dspy_lm import MOST_TOKENS, ask
from evolve.lm.meter import Meter
from policies.errors import OutsideFailureError, PolicyFailureError, RejectedTextError

GOOD = "[[ ## new_text ## ]]\n- tea {{memories}} {\n- milk\n\n[[ ## completed ## ]]"
PROSE = "I would rather not."


@dataclass
class Scripted:
    replies: list[str | Exception]
    tokens: int = 10
    requests: list[Request] = field(default_factory=list)
    name: str = "scripted"

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply, 7, self.tokens)


def program() -> str | None:
    from evolve.optimize.rewrite_program import Rewriter

    text: str | None = Rewriter()(
        purpose="p: x", rules="- none", current_text="- old", feedback="### a: 1 of 2"
    ).new_text
    return text


def test_passes_the_prompt_as_a_rewrite() -> None:
    lm = Scripted([GOOD])
    assert ask(lm, 11, program) == "- tea {{memories}} {\n- milk"
    (request,) = lm.requests
    assert (request.task, request.seed, request.max_tokens) == ("rewrite", 11, MOST_TOKENS)
    assert [message.role for message in request.messages] == ["system", "user"]
    assert "[[ ## current_text ## ]]\n- old\n" in request.messages[1].content


def test_counts_as_the_role_rewrite() -> None:
    meter = Meter(Scripted([GOOD]))
    ask(meter, 0, program)
    ((role, usage),) = meter.usage
    assert (role, usage.calls, usage.prompt_tokens) == ("rewrite", 1, 7)


@pytest.mark.parametrize(
    ("replies", "text"),
    [
        ([PROSE, '{"new_text": "- tea"}'], "- tea"),
        (['{"new_text": "- tea"}', '```json\n{"new_text": "- milk"}\n```'], "- milk"),
        (["<think>[hm]</think>\n" + GOOD], "- tea {{memories}} {\n- milk"),
        ([PROSE, '{"new_text": null}'], "None"),
        (["[[ ## new_text ## ]]\n\n[[ ## completed ## ]]"], ""),
    ],
)
def test_odd_replies_that_can_be_read(replies, text) -> None:
    assert ask(Scripted(list(replies)), 0, program) == text


@pytest.mark.parametrize(
    "replies", [[PROSE, PROSE], ["", ""], ["null", "[1, 2]"], ["{", '{"a": 1}']]
)
def test_what_cannot_be_read_is_rejected(replies) -> None:
    with pytest.raises(RejectedTextError, match="no new_text that can be read"):
        ask(Scripted(list(replies)), 0, program)


def test_a_reply_that_was_cut_off_is_rejected() -> None:
    with pytest.raises(RejectedTextError, match="cut off after 4096 tokens"):
        ask(Scripted([GOOD], MOST_TOKENS), 0, program)


@pytest.mark.parametrize("kind", [OutsideFailureError, PolicyFailureError])
def test_the_models_errors_pass_and_are_not_retried(kind) -> None:
    lm = Scripted([kind("no route to the provider"), GOOD])
    with pytest.raises(kind, match=r"^no route to the provider$"):
        ask(lm, 0, program)
    assert len(lm.requests) == 1


def test_threads_keep_their_models_apart() -> None:
    made: dict[int, list[str | None]] = {}

    def work(number: int) -> None:
        lm = Scripted([f"[[ ## new_text ## ]]\n- {number}"] * 20)
        made[number] = [ask(lm, 0, program) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == {number: [f"- {number}"] * 20 for number in range(4)}


def test_works_with_any_dspy_lm() -> None:
    import dspy
    from dspy.utils import DummyLM

    with dspy.context(lm=DummyLM([{"new_text": "- tea"}])):
        assert program() == "- tea"


def test_leaves_no_trace_at_home_or_on_the_network(tmp_path) -> None:
    code = """
import socket, sys

def refuse(*_):
    raise AssertionError("network")

socket.socket.connect = socket.getaddrinfo = refuse
from evolve.lm.offline import OfflineLM
from evolve.optimize.base import ProposalContext
from evolve.optimize.strategy import make_proposer
from feedback.digest import Feedback
from policies.policy import seed_policy
from policies.text_rules import RewriteRules

proposer = make_proposer("joint", OfflineLM(), RewriteRules.build([], []), 0)
assert not {"dspy", "optuna", "litellm"} & set(sys.modules)
parent = seed_policy("awe")
texts = {"memory_types": "### tea_kind: 3 of 9 answers wrong"}
feedback = Feedback(parent.id, {}, (), {"memory_types": 1.0}, texts, "")
contexts = [ProposalContext(parent, (parent,), feedback, None, seed) for seed in range(9)]
assert any("+search:" in proposer.propose(context).operator for context in contexts)
assert {"dspy", "optuna"} <= set(sys.modules)
assert not {"litellm", "evolve.lm.lexicon", "sklearn"} & set(sys.modules)
"""
    home = {"HOME": str(tmp_path), "PATH": "", "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=home)
    assert not list(tmp_path.rglob("*"))
