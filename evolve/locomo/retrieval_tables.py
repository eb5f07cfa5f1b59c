"""Evidence recall and precision as tables, and what was odd in a file as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.locomo.dialogues import CATEGORIES, Dialogue
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


def odd_lines(dialogues: Sequence[Dialogue]) -> list[str]:
    """What was read otherwise than as it stands, and what could not be read."""
    odd = [one for dialogue in dialogues for one in dialogue.oddities]
    lines = [
        f"evidence {one.found!r} of {one.dialogue}, question {one.question}: {one.told}"
        for one in odd
    ]
    without = sum(not q.evidence for dialogue in dialogues for q in dialogue.questions)
    asked = sum(len(dialogue.questions) for dialogue in dialogues)
    lines.append(
        f"{asked} questions of {len(dialogues)} dialogues; {without} without evidence that can be "
        "read, which recall and precision leave out"
    )
    return lines


def _cells(mean: Retrieval) -> tuple[str, ...]:
    return (
        str(mean.questions),
        number(mean.recall, 3),
        number(mean.precision, 4),
        number(mean.tokens, 0),
    )
