"""Evidence recall and precision as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.locomo.dialogues import CATEGORIES
from evolve.locomo.retrieval import Found, Retrieval, by_category, mean_of
from evolve.locomo.tuning import SPACE, Trial
from evolve.tables import Table, number
from policies.settings import as_text

COLUMNS = ("questions", "recall", "precision", "tokens shown")


def retrieval_table(title: str, found: Mapping[str, Sequence[Found]]) -> Table:
    """Rows per policy and category, all questions last.

    Args:
        title: What the questions are of.
        found: Name of a policy to what it finds.
    """
    rows = []
    for name, one in found.items():
        rows += [
            (f"{name}, {CATEGORIES[category]}", *_cells(mean))
            for category, mean in by_category(one).items()
        ]
        rows.append((f"{name}, all", *_cells(mean_of(one))))
    return Table(f"{title}: evidence found", ("policy, category", *COLUMNS), tuple(rows))


def front_table(trials: Sequence[Trial]) -> Table:
    """The settings that no others beat in recall and precision on the train dialogues."""
    names = [setting.name for setting in SPACE]
    rows = [
        (
            number(trial.recall, 3),
            number(trial.precision, 4),
            number(trial.tokens, 0),
            *(as_text(trial.settings[name]) for name in names),
        )
        for trial in trials
    ]
    columns = ("recall", "precision", "tokens shown", *names)
    return Table("Train dialogues: settings that no others beat", columns, tuple(rows))


def limit_table(sizes: Mapping[str, tuple[float, float]], limit: int) -> Table:
    """What seed and best show on average, by part of the dialogues, beside the limit.

    Args:
        sizes: Part to the tokens of seed and best.
        limit: What may be shown.
    """
    rows = tuple(
        (
            part,
            number(seed, 0),
            number(best, 0),
            str(limit),
            "yes" if best <= limit else f"no, over by {best / limit - 1:.0%}",
        )
        for part, (seed, best) in sizes.items()
    )
    columns = ("dialogues", "seed", "best", "limit", "best keeps it")
    return Table("Tokens shown for a question, on average", columns, rows)


def _cells(mean: Retrieval) -> tuple[str, ...]:
    return (
        str(mean.questions),
        number(mean.recall, 3),
        number(mean.precision, 4),
        number(mean.tokens, 0),
    )
