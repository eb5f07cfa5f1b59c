"""Tables on the console: drawn on a terminal, aligned plain text everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evolve.terminal import in_line, say
from policies.shown import short


@dataclass(frozen=True, slots=True)
class Table:
    """A table of ready texts.

    Attributes:
        title: Above it.
        columns: Their names.
        rows: Their texts.
        left: So many columns stand left, the others right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


def number(value: float | None, digits: int = 4, missing: str = "-") -> str:
    """A number with so many decimals, or ``missing`` where it is undefined."""
    return missing if value is None else f"{value:.{digits}f}"


def option_text(value: object) -> str:
    """The value of an option; a number of hundreds of digits is shortened."""
    return value if isinstance(value, str) else short(value)


def print_tables(tables: Sequence[Table]) -> None:
    """Print tables to stdout, a blank line between them."""
    if sys.stdout.isatty():
        _draw(tables)
    else:
        say("\n\n".join(plain(table) for table in tables))


def plain(table: Table) -> str:
    """A table as aligned text without trailing spaces."""
    table = _shown(table)
    lines = (table.columns, *table.rows)
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    shown = [table.title]
    for line in lines:
        sized = tuple(zip(line, widths, strict=True))
        cells = [cell.ljust(width) for cell, width in sized[: table.left]]
        cells += [cell.rjust(width) for cell, width in sized[table.left :]]
        shown.append("  ".join(cells).rstrip())
    return "\n".join(shown)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Names to their shortest beginnings of eight or more characters that tell them apart."""
    full = sorted(set(names))
    length = 8
    while len({name[:length] for name in full}) < len(full):
        length += 1
    return {name: name[:length] for name in full}


def _shown(table: Table) -> Table:
    """A table whose texts stay in their cells, whatever they hold."""
    columns, *rows = (tuple(map(in_line, line)) for line in (table.columns, *table.rows))
    return Table(in_line(table.title), columns, tuple(rows), table.left)


def _draw(tables: Sequence[Table]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Drawn

    console = Console()
    for position, table in enumerate(map(_shown, tables)):
        if position:
            console.print()
        drawn = Drawn(title=escape(table.title), title_justify="left", box=None, pad_edge=False)
        for place, column in enumerate(table.columns):
            drawn.add_column(escape(column), justify="left" if place < table.left else "right")
        for row in table.rows:
            drawn.add_row(*(escape(cell) for cell in row))
        console.print(drawn)
