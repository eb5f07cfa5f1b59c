"""What was spent, by role, as a table: used alone, or paid for as well."""

from __future__ import annotations

from collections.abc import Sequence

from evolve.money import Paid
from evolve.tables import Table
from feedback.records import Usage

TOKENS = ("prompt tokens", "completion tokens")
OUTSIDE = " (outside the budget)"  # stands after a role that is no part of the budget
_PAID = ("role", "calls", "cached", *TOKENS, "dollars", "seconds", "prefix sent before")


def usage_table(title: str, usage: Sequence[tuple[str, Usage]]) -> Table:
    """What models that cost nothing were used for."""
    rows = tuple(
        (role, str(used.calls), str(used.prompt_tokens), str(used.completion_tokens))
        for role, used in usage
    )
    return Table(title, ("role", "calls", *TOKENS), rows)


def paid_table(title: str, usage: Sequence[tuple[str, Usage]], paid: Paid) -> Table:
    """What was paid, by role; of a role that is played offline what it used, which is free.

    Args:
        title: Of the table.
        usage: What rollouts used by role, in the order of the rows. What was paid for rollouts that
            were never finished is in ``paid`` alone.
        paid: What was paid.
    """
    used_by = dict(usage)
    known = {role.removesuffix(OUTSIDE) for role in used_by}
    roles = [*used_by, *(role for role in paid.spends if role not in known)]
    return Table(title, _PAID, tuple(_row(role, used_by, paid) for role in roles))


def _row(role: str, used_by: dict[str, Usage], paid: Paid) -> tuple[str, ...]:
    name = role.removesuffix(OUTSIDE)
    spend = paid.spends.get(name)
    if spend is None:
        used = used_by[role]
        tokens = str(used.prompt_tokens), str(used.completion_tokens)
        return role, str(used.calls), "-", *tokens, "0", "-", "-"
    share = paid.prefixes.get(name)
    return (
        role,
        str(spend.calls),
        str(spend.cached),
        str(spend.prompt_tokens),
        str(spend.completion_tokens),
        dollars_cell(spend.dollars),
        f"{spend.seconds:.0f}",
        "-" if share is None else f"{share:.0%}",
    )


def dollars_cell(value: float | None) -> str:
    """Dollars in a table."""
    return "unpriced" if value is None else f"{value:.4f}"
