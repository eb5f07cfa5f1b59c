"""The dollars of a run: limited, told of, and their end an event of the journal."""

from __future__ import annotations

import pytest

from evolve.journal import Journal
from evolve.lm.calls import Call, CallLog, Spend
from evolve.lm.limits import Limits
from evolve.lm.models import Connection
from evolve.lm.prefix import Prefixes
from evolve.money import Dollars, Paid, Purse, money, once_paid, paid
from policies.errors import BudgetExhaustedError


@pytest.fixture
def connection():
    return Connection(CallLog(), Limits(), Prefixes())


def spend(connection: Connection, dollars: float | None) -> None:
    key = f"{connection.log.spent().get('reply', Spend()).calls:064x}"
    connection.log._append(Call(key, "reply", "o/x", "", "hi", 10, 2, 0, dollars, 0.5))


def test_what_is_kept_is_spent_at_the_end_alone(connection):
    purse = Purse(connection, Dollars(5.0, 1.5), lambda line: None)
    assert connection.limits.spend_limit == 3.5
    purse.open_kept()
    assert connection.limits.spend_limit == 5.0


def test_half_and_four_fifths_are_told_once_each(connection):
    said: list[str] = []
    purse = Purse(connection, Dollars(10.0, 1.0), said.append)
    for dollars, lines in [(4.9, 0), (0.2, 1), (1.0, 1), (3.0, 2), (0.5, 2)]:
        spend(connection, dollars)
        purse.look()
        assert len(said) == lines
    assert said == ["50% of the budget of $10.00 is spent", "80% of the budget of $10.00 is spent"]
    resumed = Purse(connection, Dollars(10.0, 1.0), said.append)
    resumed.look()
    assert len(said) == 2


def test_without_a_budget_in_dollars_nothing_is_limited(connection):
    for purse in (Purse(connection, None, pytest.fail), Purse(None, None, pytest.fail)):
        purse.look()
        purse.open_kept()
    assert connection.limits.spend_limit is None


def ends():
    yield "one"
    raise BudgetExhaustedError("$1 asked, $0 left")


def test_the_end_of_the_dollars_is_found_again(tmp_path):
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


@pytest.mark.parametrize(
    ("dollars", "shown"), [(0, "$0.00"), (5, "$5.00"), (0.5, "$0.50"), (0.0123, "$0.012")]
)
def test_dollars_as_people_write_them(dollars, shown):
    assert money(dollars) == shown
