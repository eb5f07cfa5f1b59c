"""Budgets are read in every unit and written in one form."""

import pytest

from evolve.units import parse_units, quoted, shown, write_units
from policies.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "units", "written"),
    [
        (300, {"rollouts": 300}, 300),
        ("300", {"rollouts": 300}, 300),
        ("5000calls", {"calls": 5000}, "5kcalls"),
        ("1 call", {"calls": 1}, "1calls"),
        ("2Mtokens", {"tokens": 2_000_000}, "2Mtokens"),
        ("500ktokens", {"tokens": 500_000}, "500ktokens"),
        ("1.5Mtokens", {"tokens": 1_500_000}, "1500ktokens"),
        ("$5", {"dollars": 5.0}, "$5"),
        (" $100 ", {"dollars": 100.0}, "$100"),
        ("$0.50", {"dollars": 0.5}, "$0.5"),
        ("$.5", {"dollars": 0.5}, "$0.5"),
        ("30min", {"minutes": 30.0}, "30min"),
        ("0.5 min", {"minutes": 0.5}, "0.5min"),
        ("30min, $5.00,300", {"rollouts": 300, "dollars": 5.0, "minutes": 30.0}, "300,$5,30min"),
    ],
)
def test_a_budget(given, units, written):
    found = parse_units(given)
    assert (found, list(found)) == (units, list(units))
    assert write_units(found) == written
    assert parse_units(written) == found


@pytest.mark.parametrize(
    "given",
    [
        "",
        "$",
        "5.5",
        "bash.50",
        ".50",
        "5$",
        "many",
        "$-1",
        "1e3",
        ",30min",
        "300,",
        "5min 3",
        "2h",
    ],
)
def test_what_a_shell_made_of_a_budget_is_told(given):
    with pytest.raises(ConfigError, match=r"single quotes such as '\$5' \(a shell swallows a bare"):
        parse_units(given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("0", "--budget must be at least 1, but is 0"),
        ("-3", "--budget must be at least 1, but is -3"),
        ("$0.00", r"--budget must be above \$0, but is \$0.00; give more"),
        ("0calls", "above 0 calls, but is 0calls"),
        ("0.0001ktokens", "above 0 tokens"),
        ("300,0min", "above 0 minutes, but is 0min"),
        ("1,000", r"name each unit once, but '1,000' has rollouts twice; .*no comma"),
    ],
)
def test_budgets_of_nothing(given, reason):
    with pytest.raises(ConfigError, match=reason):
        parse_units(given)


def test_how_people_and_shells_are_told():
    assert [shown("dollars", each) for each in (0, 5, 0.5, 0.0123)] == [
        *("$0.00", "$5.00", "$0.50", "$0.012"),
    ]
    assert shown("calls", 5000) == "5000 calls"
    assert (shown("minutes", 1.0), shown("minutes", 2.5)) == ("1 minute", "2.5 minutes")
    assert (quoted("300,$5"), quoted("30min")) == ("'300,$5'", "30min")


@pytest.mark.parametrize(
    "given",
    ["9" * 5000, "$" + "9" * 400, "9" * 310 + "min", "9" * 400 + "calls", 10**5000, "1" * 13],
    ids=lambda given: str(given)[:9] if isinstance(given, str) else "int",
)
def test_a_budget_beyond_all_bounds(given):
    with pytest.raises(ConfigError, match="--budget must be") as caught:
        parse_units(given)
    assert len(str(caught.value)) < 400
