"""Runs that searched settings by the evidence that they find: told from others, and what they are.

No model played a role in them, nobody lived and nothing was answered, so most of what is said of
ordinary runs does not hold of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evolve.journal import FILE
from evolve.tables import Table, number

STRATEGY = "search of settings by evidence"
MODELS = "none"
TOLD = (
    "settings were searched by how much of the evidence for each question they find in dialogues; "
    "no model was asked, nobody lived and nothing was answered"
)
OPTIONS = ("budget", "env", "policy", "seed", "max_answer_tokens")
"""The options that such a run goes by."""
_FIRST = b'{"kind": "trial", '


def is_evidence_search(folder: Path) -> bool:
    """Whether a run folder is that of such a run; one that has only begun is not known to be."""
    with (folder / FILE).open("rb") as file:
        file.readline()  # the header
        return file.readline().startswith(_FIRST)


def found_table(title: str, found: Mapping[str, Mapping[str, Any]]) -> Table:
    """What policies find in dialogues.

    Args:
        title: Above it.
        found: What a policy is called to what a summary says that it finds.
    """
    rows = tuple(
        (
            name,
            str(one["questions"]),
            number(one["recall"], 3),
            number(one["precision"], 4),
            number(one["tokens"], 0),
        )
        for name, one in found.items()
    )
    columns = ("policy", "questions", "evidence recall", "evidence precision", "tokens shown")
    return Table(title, columns, rows)


def limit_told(summary: Mapping[str, Any]) -> str:
    """Whether what the best settings show keeps the limit on test dialogues."""
    shown = summary["evidence"]["best"]["tokens"]
    holds = "holds" if shown <= summary["limit"] else "does not hold"
    return (
        f"the limit of {summary['limit']} tokens shown {holds} on the test dialogues: {shown:.0f} "
        "are shown"
    )
