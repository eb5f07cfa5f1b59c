"""The page of a comparison, with the log of its judgings, and its runs as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from benchmarks.compare_run import Ran
from benchmarks.compare_worlds import JUDGING_SEEDS, CompareSpec
from benchmarks.report import Report, markdown, page_of
from evolve.tables import Table
from feedback.records import TraceStage
from policies.files import write_whole

PAGE = "comparison.md"
RUNNING = "running"
_LOG = "Judgings"
_INTRODUCTION = """# Comparison of strategies

`python -m benchmarks.compare --judging N` repeats judging N of this page; without `--judging` it is
a trial on other draws, which claims nothing. Seeds of judgings stand in
`benchmarks/compare_worlds.py` since before the first of them. Every judging is logged at the end of
this page when it begins, and its outcome when it ends. Other sources are never judged on draws that
were used already: what is judged next takes the next number.
"""


class JudgingError(Exception):
    """A judging that may not begin; the message says why, and what may."""


@dataclass(frozen=True, slots=True)
class Judging:
    """One line of the log.

    Attributes:
        number: From 1.
        began: Day, ``YYYY-MM-DD``.
        sources: Digest of the sources.
        draws: Of a world, at most.
        outcome: ``running``, ``abandoned``, ``holds`` or what failed.
    """

    number: int
    began: str
    sources: str
    draws: int
    outcome: str = RUNNING


def read_log(page: Path) -> list[Judging]:
    """The judgings that a page logs; none where there is no page."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    rows = re.findall(
        r"^\| (\d+) \| ([\d-]+) \| (\w+) \| \d+ to \d+ \| (\d+) \| (.+) \|$", text, re.MULTILINE
    )
    return [Judging(int(n), began, sources, int(d), o) for n, began, sources, d, o in rows]


def with_judging(log: Sequence[Judging], asked: Judging) -> list[Judging]:
    """The log with a judging that begins, or goes on.

    Raises:
        JudgingError: Its number is not the next one, or was used for other sources or draws.
    """
    known = {one.number: one for one in log}
    past = known.get(asked.number)
    following = max(known, default=0) + 1
    if past is not None:
        if (past.sources, past.draws) == (asked.sources, asked.draws):
            return list(log)
        raise JudgingError(
            f"A judging is of one state of the sources and one number of draws, but judging "
            f"{asked.number} was of {past.sources} and {past.draws} draws and these are "
            f"{asked.sources} and {asked.draws}; take --judging {following}."
        )
    if asked.number != following or asked.number > len(JUDGING_SEEDS):
        raise JudgingError(
            f"Judgings are numbered one by one up to {len(JUDGING_SEEDS)}, for which seeds are "
            f"settled, but {asked.number} does not follow {following - 1}; take --judging "
            f"{following}."
        )
    ended = [replace(o, outcome="abandoned") if o.outcome == RUNNING else o for o in log]
    return [*ended, asked]


def with_outcome(log: Sequence[Judging], number: int, outcome: str) -> list[Judging]:
    """The log with what became of a judging."""
    return [replace(one, outcome=outcome) if one.number == number else one for one in log]


def write_page(page: Path, report: Report, log: Sequence[Judging]) -> None:
    """Write the page whole."""
    rows = tuple(
        (
            *(str(one.number), one.began, one.sources),
            f"{JUDGING_SEEDS[one.number - 1]} to {JUDGING_SEEDS[one.number - 1] + one.draws - 1}",
            *(str(one.draws), one.outcome),
        )
        for one in log
    )
    table = Table(_LOG, ("number", "began", "sources", "seeds", "draws", "outcome"), rows)
    parts = [_INTRODUCTION, page_of(report), markdown(table), ""]
    write_whole(page, "\n".join(parts))


def runs_csv(runs: Iterable[tuple[CompareSpec, Ran]]) -> str:
    """A line per run: what it was, and what it found; undefined is empty."""
    plain = ("spent", "evolving", "accepted", "candidates", "gate_gain", "test_gain", "ended")
    kinds = ("memory", "accuracy", "write", "read", "utilization", "format", "tokens")
    stages = [stage.value for stage in TraceStage]
    columns = [*CompareSpec.__slots__, *plain]
    for end in ("seed", "best"):
        columns += [f"{end}_{name}" for name in (*kinds, *stages)]
    lines = []
    for spec, ran in runs:
        line = [*astuple(spec), *(getattr(ran, name) for name in plain)]
        for found in (ran.seed, ran.best):
            line += [getattr(found, kind) for kind in kinds] + [found.trace[s] for s in stages]
        lines.append(line)
    return _csv(columns, lines)


def curves_csv(runs: Iterable[tuple[CompareSpec, Ran]]) -> str:
    """A line per version that was the best from some spending on."""
    columns = ["world", "environment", "strategy", "seed", "spent", "policy", "memory", "tokens"]
    lines = [
        [spec.world, spec.environment, spec.strategy, spec.seed, *astuple(point)]
        for spec, ran in runs
        for point in ran.curve
    ]
    return _csv(columns, lines)


def _csv(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in line] for line in lines
    )
    return text.getvalue()
