"""What every benchmark hands over: notes, tables and claims; printed, and written as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from evolve.stats import Interval
from evolve.tables import Table, plain


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement.

    Attributes:
        text: The statement, with the numbers that decide it.
        holds: Whether the numbers of this run agree with it; None where they cannot say.
    """

    text: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """One word."""
        return {True: "holds", False: "FAILS", None: "unjudged"}[self.holds]


@dataclass(frozen=True, slots=True)
class Report:
    """What one benchmark found."""

    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()


def parser(description: str) -> argparse.ArgumentParser:
    """The options that all benchmarks share."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--quick", action="store_true", help="small sizes, wide intervals")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report there")
    return made


def above_zero(text: str, interval: Interval | None, strict: bool) -> Claim:
    """The claim that a quantity is above zero.

    Args:
        text: Names it.
        interval: Its estimate; None where it is undefined, which is not above zero.
        strict: The whole interval must lie above zero; otherwise, as in a small run, the claim
            fails only where all of it lies below, and is not judged where nothing bounds it.
    """
    if interval is None:
        return Claim(f"{text}: undefined", False)
    holds: bool | None = interval.low > 0 if strict else interval.high > 0
    if not strict and not isfinite(interval.high):
        holds = None
    return Claim(f"{text}: {shown(interval, '+.3f')}", holds)


def shown(interval: Interval, form: str = ".3f") -> str:
    """An estimate and its interval in so many decimals."""
    return f"{interval.mean:{form}} [{interval.low:{form}}, {interval.high:{form}}]"


def markdown(table: Table) -> str:
    """A table in Markdown, its title above it."""
    rule = ("---", *("---:" for _ in table.columns[1:]))
    lines = [" | ".join(row) for row in (table.columns, rule, *table.rows)]
    return "\n".join([f"**{table.title}**", "", *(f"| {line} |" for line in lines)])


def close(report: Report, target: Path | None) -> int:
    """Print a report, write it as Markdown where that is asked, and return the exit status.

    Returns:
        1 if a claim fails, else 0.
    """
    parts = [*(plain(table) for table in report.tables), "\n\n".join(report.notes)]
    parts.append("\n".join(["Claims", *(f"{c.verdict} {c.text}" for c in report.claims)]))
    print("\n\n".join(part for part in parts if part), flush=True)
    if target is not None:
        target.write_text(page_of(report), encoding="utf-8")
    return 1 if any(claim.verdict == "FAILS" for claim in report.claims) else 0


def page_of(report: Report) -> str:
    """A report in Markdown."""
    parts: Sequence[str] = [*(markdown(table) for table in report.tables), *report.notes]
    claims = [f"- {_emphasized(claim.verdict)}: {claim.text}" for claim in report.claims]
    return "\n\n".join([*parts, *(["\n".join(claims)] if claims else [])]) + "\n"


def _emphasized(verdict: str) -> str:
    return f"**{verdict}**" if verdict == "FAILS" else verdict
