"""Before a run's first call: what it will call and pay is said, and asked where that is much."""

from __future__ import annotations

import sys

from evolve.config import Means, Models, Options
from evolve.estimate import AT_ONCE, CALL_SECONDS, Estimate, Estimator
from evolve.money import money
from evolve.prepare import prepare
from evolve.rehearsal import Amount
from evolve.report_tables import TOKENS, dollars_cell
from evolve.tables import Table, print_tables

ASKS_ABOVE = 1.0  # dollars


def preview(options: Options, means: Means) -> Estimate:
    """Print what a run will call and pay.

    Raises:
        UserError: A file, an option or the budget is not usable.
    """
    prepared = prepare(options, means)
    if options.scope == "user":
        from evolve.user_run import affordable

        estimate = Estimator(prepared, means).of_users(len(affordable(prepared)))
    else:
        estimate = Estimator(prepared, means).within(options.units)
    print_tables([estimate_table(estimate, options.models)])
    if "minutes" in options.units:
        print(f"about {estimate.needs['minutes'] or 0:.1f} minutes; {assumed(means)}")
    print(flush=True)
    return estimate


def agreed(estimate: Estimate, options: Options) -> bool:
    """Whether the run may begin: on a terminal that is asked if it may pay over a dollar."""
    most = options.units.get("dollars", estimate.total)
    if most is None or most <= ASKS_ABOVE or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    try:
        answer = input(f"this may pay {money(most)}; go on? [y/N] ")
    except EOFError:
        return False
    return answer.strip().casefold() in {"y", "yes"}


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
            f"{amount.calls:.0f}",
            f"{amount.cached:.0f}",
            f"{amount.prompt_tokens:.0f}",
            f"{amount.completion_tokens:.0f}",
            dollars_cell(estimate.dollars[role]),
        )
        for role, amount in estimate.amounts.items()
    ]
    whole = Amount()
    for amount in estimate.amounts.values():
        whole = whole.plus(amount)
    sums = (whole.calls, whole.cached, whole.prompt_tokens, whole.completion_tokens)
    total = ("total", *(f"{each:.0f}" for each in sums), dollars_cell(estimate.total))
    costs = "offline, nothing to pay"
    if models.real:
        costs = "unpriced" if estimate.total is None else f"about {money(estimate.total)}"
    candidates = f"{plan.candidates} candidate{'s' * (plan.candidates != 1)}"
    at_gate = f", about {candidates} at the gate" * (plan.candidates > 0)
    title = f"Estimate: {plan.budget} rollouts{at_gate}; {costs}"
    return Table(title, ("role", "calls", "cached", *TOKENS, "dollars"), (*rows, total))
