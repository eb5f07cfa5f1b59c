"""Before a run's first call: what it will call and pay is said, and asked where that is much."""

from __future__ import annotations

import sys

from evolve.config import Options
from evolve.estimate import AT_ONCE, CALL_SECONDS, Estimate, Estimator
from evolve.means import Means
from evolve.money import money
from evolve.prepare import prepare
from evolve.rehearsal import Amount
from evolve.roles import Models
from evolve.spent_table import TOKENS, dollars_cell
from evolve.tables import Table, print_tables
from evolve.terminal import agrees, say

ASKS_ABOVE = 1.0  # dollars


def preview(options: Options, means: Means, *, resumed: bool = False) -> Estimate:
    """Print what a run will call and pay.

    Args:
        options: Of the run.
        means: What it works with.
        resumed: Whether it has begun already, of which the estimate knows nothing.

    Raises:
        UserError: A file, an option or the budget is not usable.
    """
    prepared = prepare(options, means)
    if options.scope == "user":
        from evolve.user_run import affordable

        estimate = Estimator(prepared, means).of_users(len(affordable(prepared)))
    else:
        estimate = Estimator(prepared, means).within(options.units)
    if resumed:
        say("this is the estimate of the whole run, what it has called already included")
    print_tables([estimate_table(estimate, options.models)])
    if "minutes" in options.units:
        say(f"about {estimate.needs['minutes'] or 0:.1f} minutes; {assumed(means)}")
    say()
    return estimate


def agreed(estimate: Estimate, options: Options) -> bool:
    """Whether the run may begin, as ``agreed_to`` says of the most that it may pay."""
    return agreed_to(options.units.get("dollars", estimate.total))


def agreed_to(most: float | None) -> bool:
    """Whether paying may begin: asked on a terminal if that may be over a dollar, or who knows.

    Args:
        most: Dollars; None for an unknown number.
    """
    cheap = most is not None and most <= ASKS_ABOVE
    if cheap or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    unknown = "what this costs is unknown (unpriced)"
    costs = unknown if most is None else f"this may pay {money(most)}"
    return agrees(f"{costs}; go on?")


def assumed(means: Means) -> str:
    """What an estimate of minutes rests on."""
    at_once = min(AT_ONCE, means.concurrency)
    return f"assumed: {CALL_SECONDS:g} s for a call of a model, {at_once} of them at once"


def estimate_table(estimate: Estimate, models: Models) -> Table:
    """What a run will call and pay."""
    plan = estimate.plan
    rows = [
        (
            role,
            *(str(count) for count in _counts(amount)),
            dollars_cell(estimate.dollars[role]),
        )
        for role, amount in estimate.amounts.items()
    ]
    # Of what stands above them, so that who adds up finds the same.
    sums = (sum(column) for column in zip(*map(_counts, estimate.amounts.values()), strict=True))
    paid = None
    if estimate.total is not None:
        paid = sum(round(dollars or 0.0, 4) for dollars in estimate.dollars.values())
    total = ("total", *(str(each) for each in sums), dollars_cell(paid))
    costs = "offline, nothing to pay"
    if models.real:
        costs = "unpriced" if estimate.total is None else f"about {money(estimate.total)}"
    candidates = f"{plan.candidates} candidate{'s' * (plan.candidates != 1)}"
    at_gate = f", about {candidates} at the gate" * (plan.candidates > 0)
    title = f"Estimate: {plan.budget} rollouts{at_gate}; {costs}"
    return Table(title, ("role", "calls", "cached", *TOKENS, "dollars"), (*rows, total))


def _counts(amount: Amount) -> tuple[int, int, int, int]:
    """The columns of a role, as whole numbers."""
    counts = amount.calls, amount.cached, amount.prompt_tokens, amount.completion_tokens
    calls, cached, read, written = (round(each) for each in counts)
    return calls, cached, read, written
