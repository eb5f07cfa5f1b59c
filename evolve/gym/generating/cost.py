"""What making an environment will call and pay, rehearsed with a stand-in before the first call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evolve.gym.generating.author import Author
from evolve.gym.generating.brief import Brief
from evolve.gym.generating.kinds import make_kinds
from evolve.gym.generating.rehearsed import Rehearsed
from evolve.gym.generating.users import make_user
from evolve.lm.meter import Meter, Spent
from evolve.lm.models import ModelSpec
from evolve.spent_table import TOKENS, dollars_cell
from evolve.tables import Table
from feedback.records import Usage

MENDED = 1.5  # times what things cost that are right at once: what is assumed of mending


@dataclass(frozen=True, slots=True)
class Cost:
    """What users will call and pay.

    Attributes:
        users: How many.
        usage: By role, mending included.
        dollars: By role; None if the model is unpriced.
    """

    users: int
    usage: Spent
    dollars: dict[str, float | None]

    @property
    def total(self) -> float | None:
        """Dollars in all; None if the model is unpriced."""
        known = [each for each in self.dollars.values() if each is not None]
        return sum(known) if len(known) == len(self.dollars) else None

    @property
    def table(self) -> Table:
        """For people."""
        rows = [
            (
                role,
                str(used.calls),
                str(used.prompt_tokens),
                str(used.completion_tokens),
                dollars_cell(self.dollars[role]),
            )
            for role, used in self.usage
        ]
        costs = "unpriced" if self.total is None else f"about ${self.total:.2f}"
        title = f"Estimate: {self.users} users, and half as much again for mending; {costs}"
        return Table(title, ("role", "calls", *TOKENS, "dollars"), tuple(rows))


def estimate(brief: Brief, users: int, spec: ModelSpec) -> Cost:
    """The estimate for users that are yet to be made, their kinds of state included.

    Args:
        brief: What they have in common.
        users: How many, at least 1.
        spec: Of the model, for its price.
    """
    from evolve.lm.prices import dollars

    # The stand-in writes no language, and would be mended for it.
    meter = Meter(Rehearsed())
    author = Author(meter, replace(brief, language="English"), brief.seed)
    kinds = make_kinds(author)
    common = dict(meter.usage)
    meter.reset()
    make_user(author, kinds, "rehearsed")
    usage = tuple(
        (role, _times(common.get(role, Usage()), 1) + _times(used, users))
        for role, used in meter.usage
    )
    paid = {role: dollars(spec, used.prompt_tokens, used.completion_tokens) for role, used in usage}
    return Cost(users, usage, paid)


def _times(usage: Usage, users: int) -> Usage:
    share = MENDED * users
    return Usage(
        round(share * usage.calls),
        round(share * usage.prompt_tokens),
        round(share * usage.completion_tokens),
    )
