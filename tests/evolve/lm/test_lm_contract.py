"""What every LM keeps, whoever answers; a new one goes into ``MODELS``."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import pytest

from evolve.lm.base import LM, Completion, Message, Request, Task, count_tokens
from evolve.lm.calls import CallLog
from evolve.lm.client import LiteLLMClient
from evolve.lm.limits import Limits
from evolve.lm.meter import Meter
from evolve.lm.models import Connection, ModelSpec
from evolve.lm.offline import OfflineLM
from evolve.lm.prefix import Prefixes
from evolve.lm.provider import Reply


def client() -> LM:
    """The client of real models, whose provider is played by the offline model."""
    lm = LiteLLMClient(ModelSpec("offline"), Connection(CallLog(), Limits(), Prefixes()))
    offline = OfflineLM()

    def send(request: Request) -> Reply:
        done = offline.complete(request)
        return Reply(done.text, "1", done.prompt_tokens, done.completion_tokens, 0, False, 0.1)

    lm._provider.send = send
    return lm


MODELS: dict[str, Callable[[], LM]] = {
    "offline": OfflineLM,
    "metered": lambda: Meter(OfflineLM()),
    "client": client,
}
PROMPT = (Message("system", "Be brief."), Message("user", "I sold my car. What should I cook?"))


@pytest.fixture(params=MODELS)
def lm(request: pytest.FixtureRequest) -> LM:
    return MODELS[request.param]()


@pytest.mark.parametrize("task", get_args(Task))
class TestEveryModel:
    def test_answers_every_role_with_text_and_its_cost(self, lm: LM, task: Task) -> None:
        done = lm.complete(Request(task, PROMPT, seed=1))
        assert isinstance(done, Completion)
        assert done.text
        assert done.prompt_tokens > 0
        assert done.completion_tokens > 0

    def test_the_same_request_gives_the_same_completion(self, lm: LM, task: Task) -> None:
        request = Request(task, PROMPT, seed=1)
        first = lm.complete(request)
        lm.complete(Request(task, (Message("user", "Something else?"),), seed=2))
        assert lm.complete(request) == first

    def test_it_may_be_asked_from_several_threads(self, lm: LM, task: Task) -> None:
        requests = [Request(task, PROMPT, seed=seed) for seed in range(8)]
        alone = [lm.complete(request) for request in requests]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lm.complete, requests)) == alone

    def test_what_it_says_can_be_stored(self, lm: LM, task: Task) -> None:
        lm.complete(Request(task, PROMPT, seed=1)).text.encode()


def test_a_model_has_a_name(lm: LM) -> None:
    assert lm.name == "offline"


def test_offline_tokens_are_bytes_by_four() -> None:
    done = OfflineLM().complete(Request("reply", PROMPT, seed=1))
    assert done.prompt_tokens == sum(count_tokens(message.content) for message in PROMPT)
    assert done.completion_tokens == count_tokens(done.text)
