"""The tables that close a run: candidates, front, test users, memory gain, what was spent."""

from __future__ import annotations

from evolve.engine import Engine
from evolve.finish import Outcome, Tested
from evolve.front_table import Offer, front_table
from evolve.gains import lead_rows
from evolve.money import Paid, money
from evolve.optimize.archive import Archive
from evolve.optimize.pareto import front, points
from evolve.screening import ScreenSummary
from evolve.setup import Setup
from evolve.spent_table import OUTSIDE, paid_table, usage_table
from evolve.tables import Table, number
from feedback.records import Usage


def closing_tables(
    setup: Setup,
    evolution: Engine,
    outcome: Outcome,
    paid: Paid | None = None,
    units: str = "",
) -> list[Table]:
    """All of them but empty ones, in the order in which they are printed.

    Args:
        setup: What the run is made of.
        evolution: What evolved it.
        outcome: What it found.
        paid: What it paid; None where all roles are played offline.
        units: What was spent of a budget that is not in rollouts alone, in words.
    """
    lived = f"{float(setup.evaluator.ledger.spent):.1f} of {setup.plan.budget} rollouts"
    told = [units, lived] if units else [lived]
    if paid is not None and "$" not in units:
        told.append("unpriced" if paid.dollars is None else money(paid.dollars))
    title, usage = f"Spent: {', '.join(told)}", _usage(setup)
    spent = usage_table(title, usage) if paid is None else paid_table(title, usage, paid)
    tables = (
        _candidates(evolution),
        _front(evolution.book.archive),
        _test(outcome),
        _memory_gain(outcome),
        spent,
    )
    return [table for table in tables if table.rows]


def _candidates(evolution: Engine) -> Table:
    rows = tuple(
        (
            f"{name} {verdict.candidate[:8]}",
            verdict.operator,
            number(verdict.minibatch_difference, 3),
            number(verdict.tokens_per_answer, 0),
            "accepted" if verdict.accepted else f"rejected: {verdict.stage}",
        )
        for name, verdict in evolution.book.judged.items()
    )
    columns = ("candidate", "operator", "minibatch", "tokens/answer", "verdict")
    ended = f"Candidates ({evolution.reason}{_screened(evolution.screen)})"
    return Table(ended, columns, rows)


def _screened(screen: ScreenSummary | None) -> str:
    """What the screen did, if there was any."""
    if screen is None or not screen.heard:
        return ""
    told = "no pair of them was seen both ways"
    if screen.concordance is not None:
        told = f"of those seen both ways it told the order of {screen.concordance:.0%} of pairs"
    state = "" if screen.on else ", so it was turned off"
    return f"; {screen.heard} heard off-policy for {screen.rollouts:.1f} rollouts, {told}{state}"


def _front(archive: Archive) -> Table:
    offers = [
        Offer(
            f"{point.policy.name or point.policy.architecture} {point.policy.short_id}",
            point.policy.id,
            point.accuracy,
            point.clusters,
            point.tokens,
            point.accepted,
        )
        for point in front(points(archive))
    ]
    why = {one.policy.id: f"{one.difference:+.3f}" for one in archive.passed_over}
    title = "Pareto front (no other policy is as accurate on gate users and as cheap)"
    return front_table(offers, archive.best().policy.id, why, title)


def _memory_gain(outcome: Outcome) -> Table:
    """Best less the baselines: what memory brings, as the model and the questions are the same."""
    rows = lead_rows("best", outcome.leads)
    title = "Memory gain on test users: same model, same questions, paired, with 95 % intervals"
    return Table(title, ("memory gain", "clusters", "memory score", "accuracy"), rows)


def _test(outcome: Outcome) -> Table:
    columns = (
        "test users",
        "answers",
        "accuracy",
        "write",
        "read",
        "utilization",
        "format",
        "memory",
        "tokens/answer",
    )
    names: dict[str, list[str]] = {}  # of one policy: a seed that stays is the best, too
    for name, tested in outcome.tested.items():
        names.setdefault(tested.policy.id, []).append(name)
    rows = tuple(_test_row(" = ".join(same), outcome.tested[same[0]]) for same in names.values())
    return Table(_test_title(outcome), columns, rows)


def _test_title(outcome: Outcome) -> str:
    notes = []
    for tested in list(outcome.tested.values())[:1]:  # the same answers for all
        random, upper = number(tested.scores.random, 3), number(tested.scores.upper, 3)
        notes = [f"random {random}, upper bound {upper}"]
    if outcome.shrinkage is not None:
        notes.append(f"shrinkage from gate to test {outcome.shrinkage:.2f}")
    return f"Test users ({', '.join(notes)})" if notes else "Test users"


def _test_row(name: str, tested: Tested) -> tuple[str, ...]:
    s = tested.scores
    return (
        f"{name} {tested.policy.short_id}",
        str(s.n),
        number(s.accuracy, 3),
        number(s.write, 3),
        number(s.read, 3),
        number(s.utilization, 3),
        number(s.format, 3),
        number(s.memory, 3, "undefined"),
        number(tested.tokens, 0),
    )


def _usage(setup: Setup) -> list[tuple[str, Usage]]:
    """Role to what it used; upper bounds are no part of the budget, and said not to be."""
    evaluator = setup.evaluator
    return [*evaluator.usage, *((f"{r}{OUTSIDE}", u) for r, u in evaluator.bound_usage)]
