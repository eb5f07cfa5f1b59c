"""Tasks that are away: their models are made there, and what they paid comes home."""

import json
import threading
from dataclasses import dataclass

import pytest

from evolve import away
from evolve.away import Away, AwayWorkers, Terms, home
from evolve.beside import beside_here
from evolve.lm import client
from evolve.lm.base import Message, Request
from evolve.lm.calls import CallLog
from evolve.lm.limits import Limits
from evolve.lm.models import Connection, ModelSpec, make_lm
from evolve.lm.prefix import Prefixes
from evolve.lm.provider import Reply
from evolve.workers import HereWorkers
from policies.errors import TooManyFailuresError

SPEC = ModelSpec("openai/x", price=(1.0, 1.0))


class Played:
    """A provider that repeats what it is told; counts its calls in flight."""

    flying = peak = 0

    def __init__(self, spec, lost=None):
        pass

    def takes(self, request):
        pass

    def send(self, request):
        Played.flying += 1
        Played.peak = max(Played.peak, Played.flying)
        threading.Event().wait(0.01)
        Played.flying -= 1
        return Reply(request.messages[0].content, "x-1", 10, 5, 0, False, 0.25)


@dataclass(frozen=True)
class Ask:
    """Asks for words side by side, then fails if it is to."""

    words: tuple[str, ...]
    error: Exception | None = None

    def __call__(self):
        lm = make_lm(SPEC)

        def asked(word):
            return lambda: lm.complete(Request("reply", (Message("user", word),), 9)).text

        said = [each.result() for each in [beside_here().begin(asked(w)) for w in self.words]]
        if self.error is not None:
            raise self.error
        return said


@pytest.fixture(autouse=True)
def played(monkeypatch):
    monkeypatch.setattr(client, "Provider", Played)
    monkeypatch.setattr(away, "_desks", {})
    Played.flying = Played.peak = 0
    yield
    for desk in away._desks.values():
        desk.close()


@pytest.fixture
def connection(tmp_path):
    with CallLog(tmp_path) as log:
        yield Connection(log, Limits(), Prefixes())


def test_what_was_paid_away_is_in_the_log_of_the_run(connection, tmp_path):
    workers = AwayWorkers(HereWorkers(), Terms("a run", 4), connection)
    said = list(workers.run([Ask(("one", "two")), Ask(("two", "two", "three"))]))
    assert said == [["one", "two"], ["two", "two", "three"]]
    spend = connection.log.spent()["reply"]
    assert (spend.calls, spend.cached, spend.prompt_tokens, spend.seconds) == (3, 2, 30, 0.75)
    assert spend.dollars == pytest.approx(45e-6)
    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["text"] for line in lines) == ["one", "three", "two"]
    assert connection.prefixes.shares().keys() == {"reply"}
    with CallLog(tmp_path) as resumed:
        assert resumed.spent()["reply"].calls == 3


def test_a_task_that_fails_has_paid_all_the_same(connection):
    error = TooManyFailuresError("twice")
    workers = AwayWorkers(HereWorkers(), Terms("a run", 4), connection)
    with pytest.raises(TooManyFailuresError, match="twice"):
        list(workers.run([Ask(("one",), error), Ask(("two",))]))
    assert connection.log.spent()["reply"].calls == 1


def test_a_defect_says_where_it_is():
    brought = Away(Ask((), ZeroDivisionError("by nothing")), None)()
    with pytest.raises(ZeroDivisionError, match="by nothing") as caught:
        list(home([brought], None))
    assert "test_away.py" in caught.value.__notes__[0]


def test_no_more_calls_in_flight_than_the_terms_say():
    Away(Ask(("first",)), Terms("a run", 3))()  # goes alone
    Away(Ask(tuple(map(str, range(12)))), Terms("a run", 3))()
    assert Played.peak == 3


def test_a_worker_keeps_the_replies_of_one_run_and_forgets_the_others():
    assert len(Away(Ask(("one",)), Terms("a run", 2))().slip.calls) == 1
    assert Away(Ask(("one",)), Terms("a run", 2))().slip.cached == {"reply": 1}
    assert len(Away(Ask(("one",)), Terms("another", 2))().slip.calls) == 1
    assert [terms.run for terms in away._desks] == ["another"]


def test_replies_in_a_folder_that_is_there_too_cost_nothing(connection, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    Away(Ask(("one",)), Terms("earlier", 2, shared))()
    brought = Away(Ask(("one", "two")), Terms("a run", 2, shared))()
    list(home([brought], connection))
    spend = connection.log.spent()["reply"]
    assert (spend.calls, spend.cached) == (1, 1)
    assert len((shared / "replies.jsonl").read_text().splitlines()) == 2
    assert Away(Ask(("one",)), Terms("elsewhere", 2, tmp_path / "absent"))().slip.calls
    assert not (tmp_path / "absent").exists()


def test_a_reply_that_a_worker_shared_is_not_shared_again(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    with CallLog(tmp_path, shared) as log:
        brought = Away(Ask(("one",)), Terms("a run", 2, shared))()
        list(home([brought], Connection(log, Limits(), Prefixes())))
        assert log.spent()["reply"].calls == 1
    assert len((shared / "replies.jsonl").read_text().splitlines()) == 1
