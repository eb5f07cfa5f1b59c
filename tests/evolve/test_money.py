"""A run's budget: limited, told of, and its end an event of the journal."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evolve import money as module
from evolve.journal import Journal
from evolve.lm.allowance import Caps
from evolve.lm.calls import Call, CallLog, Spend
from evolve.lm.limits import Limits
from evolve.lm.models import Connection
from evolve.lm.prefix import Prefixes
from evolve.money import Paid, Purse, Terms, Timed, once_paid, paid
from evolve.units import Amounts
from evolve.workers import HereWorkers
from policies.errors import BudgetExhaustedError


@pytest.fixture
def connection():
    return Connection(CallLog(), Limits(), Prefixes())


def spend(connection: Connection, dollars: float | None) -> None:
    key = f"{connection.log.spent().get('reply', Spend()).calls:064x}"
    connection.log._append(Call(key, "reply", "o/x", "", "hi", 10, 2, 0, dollars, 0.5))


def settled(budget: Amounts, kept: Amounts) -> Terms:
    return Terms(budget, 100, 25.0, kept)


def purse_of(budget, kept, connection, folder, say=pytest.fail):
    return Purse(settled(budget, kept), connection, folder, say)


def test_what_is_kept_is_spent_at_the_end_alone(connection, tmp_path):
    budget = {"calls": 100, "tokens": 5000, "dollars": 5.0}
    kept = {"calls": 30.0, "tokens": 1000.0, "dollars": 1.5}
    purse = purse_of(budget, kept, connection, tmp_path)
    allowance = connection.limits.allowance
    assert allowance.caps == Caps(70, 4000, 3.5)
    purse.open_kept()
    assert allowance.caps == Caps(100, 5000, 5.0)
    allowance.take_call()
    spend(connection, 0.5)
    assert purse.spent == "1 of 100 calls (tries), 12 of 5000 tokens, $0.50 of $5.00"
    purse.close()
    again = purse_of({"calls": 100}, {}, connection, tmp_path)
    assert (connection.limits.allowance.sent, connection.limits.allowance.caps.calls) == (1, 100)
    again.close()


def test_half_and_four_fifths_are_told_once_each(connection, tmp_path):
    said: list[str] = []
    budget = {"rollouts": 1000, "dollars": 10.0}
    purse = purse_of(budget, {"dollars": 1.0}, connection, tmp_path, said.append)
    for dollars, lines in [(4.9, 0), (0.2, 1), (1.0, 1), (3.0, 2), (0.5, 2)]:
        spend(connection, dollars)
        purse.look(1.0, replayed=False)
        assert len(said) == lines
    assert said == ["50% of the budget of $10.00 is spent", "80% of the budget of $10.00 is spent"]
    purse_of(budget, {}, connection, tmp_path).look(1.0, replayed=False)


def test_the_unit_that_is_spent_most_is_told(connection, tmp_path):
    said: list[str] = []
    budget = {"rollouts": 20, "tokens": 100}
    purse = purse_of(budget, {}, connection, tmp_path, said.append)
    spend(connection, None)  # 12 tokens
    purse.look(10.0, replayed=False)
    for _ in range(6):
        spend(connection, None)
    purse.look(10.5, replayed=False)
    assert said == [
        "50% of the budget of 20 rollouts is spent",
        "80% of the budget of 100 tokens is spent",
    ]


def test_what_was_told_before_a_resume_is_not_told_again(tmp_path):
    said: list[str] = []
    purse = purse_of({"rollouts": 20}, {}, None, tmp_path, said.append)
    for lived in range(1, 12):
        purse.look(lived, replayed=True)
    purse.look(16, replayed=False)
    assert said == ["80% of the budget of 20 rollouts is spent"]


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_time_is_kept_for_the_end_as_it_is_needed(connection, tmp_path, clock):
    said: list[str] = []
    purse = purse_of({"minutes": 10.0}, {}, connection, tmp_path, said.append)
    allowance = connection.limits.allowance
    assert allowance.caps.deadline == 1000 + 600 - 150  # a quarter of the rollouts is set aside
    purse.look(40.0, replayed=True)
    clock[0] += 40
    purse.look(50.0, replayed=False)  # 4 s each
    assert allowance.caps.deadline == 1000 + 600 - 1.3 * 25 * 4
    clock[0] += 160
    purse.look(60.0, replayed=False)  # 10 s each: no more than half is kept
    assert allowance.caps.deadline == 1000 + 600 - 300
    assert purse.late is None
    clock[0] += 100
    assert purse.late == "time is up: 10 minutes, 5.0 of them kept for test users"
    purse.open_kept()
    assert (purse.late, allowance.caps.deadline) == (None, 1600)
    clock[0] += 300
    assert purse.late == "time is up: 10 minutes"
    purse.look(61.0, replayed=False)
    assert said == [
        "50% of the budget of 10 minutes is spent",
        "80% of the budget of 10 minutes is spent",
    ]


def test_nothing_is_begun_when_the_time_is_over(tmp_path, clock):
    purse = purse_of({"minutes": 1.0}, {}, None, tmp_path)
    purse.open_kept()

    def task():
        clock[0] += 25
        return clock[0]

    running = Timed(HereWorkers(), purse).run([task] * 5)
    assert [next(running) for _ in range(3)] == [1025, 1050, 1075]
    with pytest.raises(BudgetExhaustedError, match="time is up: 1 minute"):
        next(running)
    clock[0] = 1000
    assert len(list(Timed(HereWorkers(), purse).run([task] * 2))) == 2


def test_without_a_budget_in_what_is_called_nothing_is_limited(connection, tmp_path):
    for one in (connection, None):
        purse = purse_of({"rollouts": 10}, {}, one, tmp_path)
        purse.look(1.0, replayed=False)
        purse.open_kept()
        assert purse.late is None
        purse.close()
    assert connection.limits.allowance.caps == Caps()
    assert list(tmp_path.iterdir()) == []


def ends():
    yield "one"
    raise BudgetExhaustedError("$1 asked, $0 left")


def test_the_end_of_the_budget_is_found_again(tmp_path):
    def pay(journal, results):
        done: list[str] = []
        with pytest.raises(BudgetExhaustedError, match=r"\$1 asked, \$0 left"):
            done.extend(
                journal.once("thing", str(number), lambda found=result: found)
                for number, result in enumerate(paid(journal, results()))
            )
        return done

    with Journal(tmp_path, {}, resume=False) as journal:
        assert pay(journal, ends) == ["one"]
        journal.once("later", "", lambda: 1)
    with Journal(tmp_path, {}, resume=True) as journal:
        assert journal.once("thing", "0", dict) == "one"
        with pytest.raises(BudgetExhaustedError, match=r"\$1 asked"):
            next(paid(journal, ()))
        assert journal.once("later", "", dict) == 1


def test_one_thing_that_is_paid_for(tmp_path):
    def ended():
        raise BudgetExhaustedError("over")

    for resume in (False, True):
        with Journal(tmp_path, {}, resume=resume) as journal:
            assert once_paid(journal, "proposal", "a", lambda: 3) == 3
            with pytest.raises(BudgetExhaustedError, match="over"):
                once_paid(journal, "proposal", "b", ended if not resume else pytest.fail)


def test_what_was_paid_by_role(connection):
    spend(connection, 0.5)
    spend(connection, None)
    found = Paid.of(connection)
    assert found.prefixes == {}
    assert found.summary() == {
        "reply": {
            "calls": 2,
            "cached": 0,
            "prompt_tokens": 20,
            "completion_tokens": 4,
            "dollars": None,
        }
    }
