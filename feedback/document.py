"""The digest as a Markdown document for a person: numbers with their meanings, then the texts.

Evidence that stands under several parts is printed under the first of them alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from feedback.records import TraceStage
from policies.policy import Policy

_SHARE = "share of the answers:"
_LAST = "mean per user at the end of the last period:"

MEANINGS: Mapping[str, str] = {
    "answers": "count: one per user, period and question",
    "users": "count: those whose rollout did not fail",
    "wrong": "count of answers: another choice than the right one, or none that can be read",
    "accuracy": f"{_SHARE} right",
    "write": f"{_SHARE} wrong, and a required state was probed wrong now and in the period of its"
    " latest change",
    "read": f"{_SHARE} wrong, and each required state that was probed wrong now was probed right in"
    " the period of its latest change",
    "utilization": f"{_SHARE} wrong, though every required state was probed right",
    "format": f"{_SHARE} no choice could be read from the reply",
    "lucky": f"{_SHARE} right, though a required state was probed wrong; part of accuracy",
    "tokens_per_answer": "tokens: prompts and completions of reply, write and answer calls of whole"
    " rollouts, divided by their answers",
    "stale_in_context": "count of (wrong answer, lost state) pairs: misread or unused, and an older"
    " value of the state stood in the answer's context too",
    "stale_live": "count of (wrong answer, lost state) pairs: an older value of the state was still"
    " in memory at the end of the answer's period",
    "competing_facts": "mean per unwritten (wrong answer, lost state) pair: facts told in the"
    " messages of the writes that should have kept the state, itself among them",
    "probe_format_errors": "count of (answer, required state) pairs: the probe's value could not be"
    " read",
    "unknown_probes": "count of (answer, required state) pairs: the probe said that it does not"
    " know; wrong",
    "memory_tokens": f"{_LAST} tokens of all live memory",
    "memory_entries": f"{_LAST} entries of live memory",
    "unreadable_writes": "count over all users and periods: writes whose reply could not be read",
    "failed_rollouts": "count: users whose rollout failed; they are in no other number",
}
"""Name of a number to its unit and meaning, in the order in which numbers stand."""

TRACE_MEANINGS: Mapping[str, str] = {
    TraceStage.UNSAID: "the user never revealed the present value",
    TraceStage.UNWRITTEN: "revealed, but no memory entry took it up",
    TraceStage.CORRUPTED: "the entry made of it says another value",
    TraceStage.UNDECIDED: "an entry is about the state, with no clear value",
    TraceStage.LOST: "written, but retired or fallen out of the history by then",
    TraceStage.UNRETRIEVED: "in memory, but not in the answer's context",
    TraceStage.MISREAD: "in the context, but probed wrong",
    TraceStage.UNUSED: "in the context and not probed wrong, but answered wrong",
}
"""Step at which a required state is lost, to what it means."""

_ABOVE = {
    "number": "A *probe* asks for the value of each state that a question requires; a *lost state*"
    " is one that a wrong answer is blamed on.",
    "trace": "Share of all answers whose earliest lost step it is: the first step at which a"
    " required state of the wrong answer was lost on its way from the user's words to the answer.",
    "state": "Share of the answers requiring a state that are wrong and blamed on it; the state"
    " with most such answers comes first.",
    "period": "Shares of the answers of each period, counted from 0; the columns are those of the"
    " first table.",
}
_STAGES = (
    "A wrong answer has one stage, the first that failed by its probes: write (a required state was"
    " not known when it changed last), read (it was known then, but no longer), utilization (all"
    " was known, yet the answer is wrong) or format (no choice can be read); a right answer is"
    " lucky if not all was known. `docs/design.md` defines them, and the steps of the trace."
)
_COUNTING = (
    "The share beside a part's name splits each wrong answer over the parts that can mend its"
    " earliest loss, so that the shares add up to 100 %: evenly, but of what both the types and the"
    " write prompt can mend most goes to the types where they do not name the lost state, and else"
    " to the write prompt; a state's heading, `N of M answers"
    " wrong`, counts whole (wrong answer, lost state) pairs that the part can mend, of M answers"
    " requiring the state, so that an answer counts under each state that it lost, and under each"
    " part that can mend it. A message is named by period, session, round and speaker: 2.0.1.u is"
    " what the user said in the second round of the first session of period 2."
)
_BLOCK = re.compile(r"^(?=### )", re.MULTILINE)
_ITEM = re.compile(r"^(?=- )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a digest comes from.

    Attributes:
        policy: What was lived.
        users: Ids of the users whose rollouts it is of.
        periods: Periods of the answers, from 0, in order.
    """

    policy: Policy
    users: tuple[str, ...]
    periods: tuple[int, ...]


def document(
    source: Source,
    numbers: Mapping[str, float],
    mass: Mapping[str, float],
    texts: Mapping[str, str],
) -> str:
    """The whole digest as Markdown.

    Args:
        source: Where it comes from.
        numbers: In the order in which they are to stand; names with a dot are grouped. The others
            are among ``MEANINGS``, with ``answers`` among them.
        mass: Part to its share of the wrong answers, in 0..1.
        texts: Part to its text.
    """
    lines = [*_opening(source, numbers), *_tables(numbers), _COUNTING, ""]
    whole: dict[str, str] = {}
    printed: dict[tuple[str, str], str] = {}
    for part, text in texts.items():
        lines += [f"## {part}: {mass[part]:.0%} of the wrong answers", ""]
        if not text:
            lines += ["Nothing is addressed to it.", ""]
        elif whole.setdefault(text, part) != part:
            lines += [f"The same as for {whole[text]} above.", ""]
        else:
            lines += [_once(part, text, printed), ""]
    return "\n".join(lines)


def _opening(source: Source, numbers: Mapping[str, float]) -> list[str]:
    policy, users = source.policy, source.users
    periods = ", ".join(map(str, source.periods))
    return [
        f"# Feedback on policy {policy.name or policy.architecture} ({policy.id})",
        "",
        f"From {numbers['answers']} answers of {len(users)} train user{'s' * (len(users) != 1)}"
        f" ({', '.join(users)}) in period{'s' * (len(source.periods) != 1)} {periods}. It depends"
        " on nothing else: later generations with the same parent and users learn from the same.",
        "",
        _STAGES,
        "",
    ]


def _tables(numbers: Mapping[str, float]) -> list[str]:
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for name, number in numbers.items():
        kind, _, rest = name.partition(".")
        row, _, column = rest.partition(".") if kind == "period" else (rest or kind, "", "value")
        cells = tables.setdefault(kind if rest else "number", {}).setdefault(row, {})
        cells[column] = str(number) if isinstance(number, int) else f"{number:.3f}"
        if not rest or kind == "trace":
            cells["meaning"] = TRACE_MEANINGS[row] if rest else MEANINGS[row]
    lines = []
    for head, rows in tables.items():
        lines += [_ABOVE[head], "", *_table(head, rows), ""]
    return lines


def _table(head: str, rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    lines = [_row([head, *columns]), "|" + " --- |" * (1 + len(columns))]
    lines += (_row([name, *(cells.get(c, "") for c in columns)]) for name, cells in rows.items())
    return lines


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _once(part: str, text: str, printed: dict[tuple[str, str], str]) -> str:
    """A part's text, where evidence of a state that was printed already is only referred to.

    Args:
        part: Its name.
        text: Its text.
        printed: (heading's beginning, evidence) to the part under which it stands; added to.
    """
    pieces: list[str] = []
    for block in _BLOCK.split(text):
        heading, *items = _ITEM.split(block)
        pieces.append(heading)
        for item in items:
            key = (heading.partition(": ")[0], item.rstrip("\n"))
            first = printed.setdefault(key, part)
            brief = f"{item.splitlines()[0]}: as for {first} above\n"
            pieces.append(item if first == part else brief)
    return "".join(pieces).rstrip("\n")


def without_evidence(markdown: str) -> str:
    """A document without what was said, held and answered; numbers and headings stay.

    Args:
        markdown: A document, as ``document`` made it.
    """
    lines = markdown.split("\n")
    first = next((n for n, line in enumerate(lines) if line.startswith("## ")), len(lines))
    kept = [line for line in lines[first:] if line.startswith("#")]
    return "\n".join([*lines[:first], *kept, ""])
