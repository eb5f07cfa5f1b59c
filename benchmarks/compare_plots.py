"""The plots of a comparison, as SVG: best-so-far curves, and score against tokens."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.compare_report import Plan
from benchmarks.compare_verdict import Compared
from benchmarks.compare_worlds import WORLDS
from evolve.anytime import value_at
from evolve.stats import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 200
_MARKS = "os^DvPX<>*"


def curves(found: Compared, plan: Plan, world: str) -> str:
    """Mean memory score of the best version so far by rollouts spent; bands are 95 % intervals."""
    figure, axes = _figure(world)
    spent = [plan.budget * at / _POINTS for at in range(_POINTS + 1)]
    for place, name in enumerate(plan.strategies):
        steps = [s for run in found.of(world, name) if (s := run.steps) is not None]
        if not steps:
            continue
        means = [mean_interval([value_at(one, at) for one in steps]) for at in spent]
        label, colour = f"{name} ({len(steps)} draws)", f"C{place}"
        axes.step(spent, [m.mean for m in means], where="post", label=label, color=colour)
        if len(steps) > 1 and place == 0:  # one band is read, ten are not
            lows, highs = [m.low for m in means], [m.high for m in means]
            axes.fill_between(spent, lows, highs, step="post", color=colour, alpha=0.15, lw=0)
    axes.set_xlabel("rollouts spent")
    axes.set_ylabel("memory score on test users")
    axes.legend(fontsize="small")
    return _svg(figure)


def tokens(found: Compared, plan: Plan, world: str) -> str:
    """Where each run ended: memory score against tokens per answer, with the means."""
    figure, axes = _figure(world)
    for place, name in enumerate(plan.strategies):
        ends = [run.best for run in found.of(world, name) if run.best.memory is not None]
        if ends:
            mark, colour = _MARKS[place % len(_MARKS)], f"C{place}"
            costs, scores = [end.tokens for end in ends], [end.memory or 0.0 for end in ends]
            axes.scatter(costs, scores, s=9, alpha=0.35, color=colour, marker=mark)
            axes.scatter(_mean(costs), _mean(scores), s=60, color=colour, marker=mark, label=name)
    axes.set_xlabel("tokens per answer")
    axes.set_ylabel("memory score on test users")
    axes.legend(fontsize="small")
    return _svg(figure)


def _figure(world: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(f"{world}: {WORLDS[world].meaning}", fontsize="medium")
    axes.grid(alpha=0.3)
    return figure, axes


def _svg(figure: Figure) -> str:
    """The same bytes for the same figure."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.hashsalt": "comparison", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
