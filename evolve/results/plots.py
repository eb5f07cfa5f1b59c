"""The figures of notebooks and reports, each made of one frame.

Colours, marks and lines are those of ``evolve.results.plot_style``. A frame without rows gives a
figure that says why there is nothing to see.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING, Any

from evolve.results.curves import FAILURES
from evolve.results.plot_style import (
    FAINT,
    INK,
    LINES,
    MARKS,
    PAPER,
    POLICIES,
    STAGES,
    legend_below,
    literal,
    panels,
    sentence,
    spans,
    titled,
)
from policies.settings import as_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_BARS = 14  # versions that are labelled in full
_NAME_WIDTH, _NAME_HEIGHT = 0.12, 0.06  # of a version's name, in shares of the figure
_BESIDE: dict[str, Any] = {"textcoords": "offset points", "color": INK, "size": 8}
_INSIDE: dict[str, Any] = {"ha": "center", "va": "center", "color": "white", "size": 8}


def by_period(frame: pd.DataFrame) -> Figure:
    """Measures of policies over periods, with 95 % bands, from ``curves.by_period``."""
    if frame.empty:
        return sentence("No answers to compare policies on yet.")
    shown = ["memory", *FAILURES[:3]]
    if (frame["mean"][frame["measure"] == "format"] > 0).any():
        shown.append("format")
    shown = [name for name in shown if (frame["measure"] == name).any()]
    failing = frame[frame["measure"].isin(shown) & frame["measure"].isin(FAILURES)]
    top = max(0.05, 1.05 * _largest(failing, "mean", "high"))
    figure, grid = panels(len(shown), 9, 2.9 * ceil(len(shown) / 2), columns=2)
    for axes, measure in zip(grid, shown, strict=False):
        part = frame[frame["measure"] == measure]
        for policy, rows in part.groupby("policy", sort=False):
            _curve(axes, str(policy), rows)
        titled(axes, measure)
        axes.set_xlabel("period")
        axes.set_xticks(sorted(frame["period"].unique()))
        if measure in FAILURES:
            axes.set_ylim(0, top)
        else:
            axes.axhline(0, color=INK, lw=0.6)
    legend_below(figure, grid[0])
    return figure


def by_state(frame: pd.DataFrame, most: int = 24) -> Figure:
    """How often each stage fails by state type, with 95 % intervals, from ``curves.by_state``.

    Args:
        frame: Its first states are shown.
        most: At most so many.
    """
    if frame.empty:
        return sentence("No answers to compare states on yet.")
    shown = frame[frame["policy"].isin(["seed", "best", "learned"])]
    states = list(dict.fromkeys(shown["state"]))
    kept = states[:most]
    shown = shown[shown["state"].isin(kept) & shown["measure"].isin(FAILURES[:3])]
    top = min(1.02, 1.05 * _largest(shown, "mean", "high"))
    figure, grid = panels(3, 9, 1.3 + 0.27 * len(kept), columns=3, sharey=True)
    for axes, measure in zip(grid, FAILURES[:3], strict=True):
        part = shown[shown["measure"] == measure]
        for step, (policy, rows) in enumerate(part.groupby("policy", sort=False)):
            places = [kept.index(state) + 0.3 * step - 0.15 for state in rows["state"]]
            spans(axes, places, rows, str(policy), str(policy))
        titled(axes, measure)
        axes.set_xlim(-0.02, max(0.1, top))
        axes.set_xlabel("share of answers that need it")
        axes.set_yticks(range(len(kept)), list(map(literal, kept)))
        axes.set_ylim(len(kept) - 0.4, -0.6)
        axes.grid(axis="x", alpha=FAINT)
    if len(states) > len(kept):
        grid[0].set_ylabel(f"the {len(kept)} of {len(states)} states that fail most often")
    legend_below(figure, grid[0])
    return figure


def by_generation(frame: pd.DataFrame) -> Figure:
    """What each version gets wrong, by stage, from ``curves.by_generation``."""
    if frame.empty:
        return sentence("No version has answers on gate or train users.")
    table = frame.pivot(index="version", columns="measure", values="mean")
    versions = list(dict.fromkeys(frame["version"]))
    table = table.loc[versions]
    few = len(versions) <= _MOST_BARS
    figure, (axes,) = panels(1, 9, 1.3 + (0.45 if few else 0.2) * len(versions))
    places, start = list(range(len(versions))), [0.0] * len(versions)
    for stage in (name for name in FAILURES if name in table and table[name].any()):
        widths = [float(value) for value in table[stage].fillna(0.0)]
        axes.barh(places, widths, 0.6, start, color=STAGES[stage], label=stage)
        for at, (width, base) in enumerate(zip(widths, start, strict=True)):
            if few and width >= 0.03:
                axes.text(base + width / 2, at - 0.08, f"{width:.2f}", **_INSIDE)
        start = [base + width for base, width in zip(start, widths, strict=True)]
    right = frame[frame["measure"] == "accuracy"].set_index("version").loc[versions]
    wrong = [1 - float(mean) for mean in right["mean"]]
    ends = [[end - 1 + float(high) for end, high in zip(wrong, right["high"], strict=True)]]
    ends.append([1 - float(low) - end for end, low in zip(wrong, right["low"], strict=True)])
    beside = [at + 0.2 for at in places]  # so that it crosses no number
    axes.errorbar(wrong, beside, xerr=ends, fmt="none", ecolor=INK, capsize=3, lw=1)
    part, shared = frame["part"].iloc[0], bool(frame["shared"].iloc[0])
    whose = "the same" if shared else "each version's own"
    axes.set_xlabel(f"share of wrong answers ({whose} {part} users)")
    axes.set_xlim(0, 1)
    axes.set_yticks(places, list(map(literal, versions)))
    axes.set_ylim(len(versions) - 0.4, -0.6)
    axes.grid(axis="x", alpha=FAINT)
    legend_below(figure, axes)
    return figure


def removed(frame: pd.DataFrame, most: int = 16) -> Figure:
    """Failures that a change removed and brought, by state and stage, from ``lineage.removed``."""
    if frame.empty:
        return sentence("No answers that both policies gave.")
    total = frame.groupby("state", observed=True)["change"].sum().sort_values()
    order = total.abs().sort_values(ascending=False).index[:most]
    states = [state for state in total.index if state in set(order)]
    figure, (axes,) = panels(1, 8, 1.4 + 0.26 * len(states))
    lows, highs = dict.fromkeys(states, 0.0), dict.fromkeys(states, 0.0)
    for stage in FAILURES:
        rows = frame[(frame["measure"] == stage) & frame["state"].isin(states)]
        if not rows["change"].any():
            continue
        axes.plot([], [], "s", c=STAGES[stage], ms=9, label=stage)
        for state, change in zip(rows["state"], rows["change"], strict=True):
            side = lows if change < 0 else highs
            axes.barh(states.index(state), change, 0.7, left=side[state], color=STAGES[stage])
            side[state] += change
    sums = [float(total[state]) for state in states]
    axes.plot(sums, range(len(states)), "|", c=INK, ms=11, mew=2, label="sum")
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_yticks(range(len(states)), list(map(literal, states)))
    axes.set_ylim(len(states) - 0.4, -0.6)
    left = f"; {len(states)} of {len(total)} states" if len(total) > len(states) else ""
    answers = frame["answers"].iloc[0]
    axes.set_xlabel(f"wrong answers after less before, of {answers} that both gave{left}")
    axes.grid(axis="x", alpha=FAINT)
    legend_below(figure, axes)
    return figure


def effect(frame: pd.DataFrame, setting: str) -> Figure:
    """What changing a setting did at each stage, from ``settings_study.effects``."""
    rows = frame[frame["setting"] == setting]
    if rows.empty:
        return sentence(f"No scored candidate changed {setting}.")
    stages = rows[rows["measure"].isin(FAILURES[:3])]
    values = _positions([*rows["value_before"], *rows["value_after"]])
    figure, grid = panels(3, 9, 3.3, columns=3, sharey=True)
    for axes, measure in zip(grid, FAILURES[:3], strict=True):
        for _, row in rows[rows["measure"] == measure].iterrows():
            xs = values[row["value_before"]], values[row["value_after"]]
            ends = row["rate_before"], row["rate_after"]
            style = "-" if row["alone"] else ":"
            axes.plot(xs, ends, style, c=STAGES[measure], lw=1.4, alpha=0.8)
            face = STAGES[measure] if row["accepted"] else PAPER
            axes.plot(xs[1], ends[1], "o", c=STAGES[measure], mfc=face, ms=6)
        titled(axes, measure)
        axes.set_xlabel(setting)
        axes.margins(x=0.08)
        axes.set_ylim(0, max(0.05, 1.1 * _largest(stages, "rate_before", "rate_after")))
        axes.grid(alpha=FAINT)
        if any(isinstance(value, str | bool) or value is None for value in values):
            axes.set_xticks(list(values.values()), [_called(value) for value in values])
    for label, style in (("nothing else changed", "-"), ("with other changes", ":")):
        grid[0].plot([], [], style, c=INK, label=label)
    grid[0].plot([], [], "o", c=INK, label="accepted")
    grid[0].plot([], [], "o", c=INK, mfc=PAPER, label="not accepted")
    grid[0].set_ylabel("share of answers, paired")
    legend_below(figure, grid[0])
    return figure


def importance(frame: pd.DataFrame) -> Figure:
    """How much each setting matters, from ``settings_study.importance``."""
    if frame.empty:
        return sentence("Too few trials to say which settings matter.")
    figure, (axes,) = panels(1, 6.5, 1.2 + 0.3 * len(frame))
    axes.barh(frame["setting"], frame["importance"], 0.6, color=INK, alpha=0.6)
    for at, (share, count) in enumerate(zip(frame["importance"], frame["values"], strict=True)):
        axes.annotate(f"{count} values", (share, at), (4, 0), va="center", **_BESIDE)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * float(frame["importance"].max()))
    axes.set_xlabel(f"share of the spread in accuracy, of {frame['trials'].iloc[0]} trials")
    return figure


def trade_off(frame: pd.DataFrame) -> Figure:
    """Accuracy against tokens, with the front, from ``settings_study.trade_off``.

    Versions are named, where names would cover each other by numbers that a legend explains.
    """
    if frame.empty:
        return sentence("No version was judged at the gate.")
    figure, (axes,) = panels(1, 9, 4)
    ahead = frame[frame["front"]]
    axes.step(ahead["tokens"], ahead["accuracy"], where="post", c=INK, lw=1, label="front")
    versions = frame[frame["accepted"]]
    crowded = _crowded(versions, frame)
    for _, row in frame.iterrows():
        name = "best" if row["best"] else str(row["name"])
        colour = POLICIES.get(name, INK)
        face = colour if row["accepted"] else PAPER
        mark = "s" if row["accepted"] else "D"
        axes.plot(row["tokens"], row["accuracy"], mark, c=colour, mfc=face)
    for number, (_, row) in enumerate(versions.iterrows(), 1):
        at, name = (row["tokens"], row["accuracy"]), literal(row["name"])
        axes.annotate(str(number) if crowded else name, at, (6, 5), **_BESIDE)
        if crowded:
            axes.plot([], [], " ", label=f"{number} {name}")
    axes.plot([], [], "s", c=INK, label="version")
    axes.plot([], [], "D", c=INK, mfc=PAPER, label="not accepted at the gate")
    axes.margins(0.12)
    axes.set_xlabel("tokens per answer")
    axes.set_ylabel("accuracy on gate users, as the run estimates it")
    axes.grid(alpha=FAINT)
    legend_below(figure, axes)
    return figure


def _crowded(versions: pd.DataFrame, frame: pd.DataFrame) -> bool:
    """Whether names beside the marks of versions would cover each other."""
    spans = [max(float(frame[by].max() - frame[by].min()), 1e-9) for by in ("tokens", "accuracy")]
    places = [
        (row["tokens"] / spans[0], row["accuracy"] / spans[1]) for _, row in versions.iterrows()
    ]
    return any(
        abs(x - other_x) < _NAME_WIDTH and abs(y - other_y) < _NAME_HEIGHT
        for place, (x, y) in enumerate(places)
        for other_x, other_y in places[:place]
    )


def runs(frame: pd.DataFrame) -> Figure:
    """Memory scores and gains of several runs, from ``comparison.ends``."""
    figure, (scores, gains) = panels(2, 9, 1.5 + 0.4 * len(frame), columns=2, sharey=True)
    places = list(range(len(frame)))
    for policy in ("seed", "best", "native", "none"):
        mark, colour = MARKS[policy], POLICIES[policy]
        scores.plot(frame[f"memory_{policy}"], places, mark, c=colour, label=policy, ls="none")
    rows = frame.rename(columns={"gain": "mean"})
    spans(gains, places, rows, "best", None)
    gains.axvline(0, color=INK, lw=0.8)
    scores.set_yticks(places, list(map(literal, frame["run"])))
    scores.set_ylim(len(frame) - 0.4, -0.6)
    scores.set_xlabel("memory score on test users")
    gains.set_xlabel("best less seed, paired, with 95 % interval")
    for axes in (scores, gains):
        axes.grid(axis="x", alpha=FAINT)
    legend_below(figure, scores)
    return figure


def _curve(axes: Axes, policy: str, rows: pd.DataFrame) -> None:
    """A policy's line over periods, with the band of its interval where there is one."""
    colour = POLICIES.get(policy, INK)
    axes.plot(
        rows["period"],
        rows["mean"],
        LINES.get(policy, "-"),
        c=colour,
        marker=MARKS.get(policy, "o"),
        ms=5,
        lw=1.6,
        label=policy,
    )
    axes.fill_between(rows["period"], rows["low"], rows["high"], color=colour, alpha=0.15, lw=0)


def _called(value: Any) -> str:
    return "off" if value is None else as_text(value)


def _largest(frame: pd.DataFrame, *columns: str) -> float:
    """The largest number in some columns; 0 in none."""
    return max(
        (float(frame[name].max()) for name in columns if frame[name].notna().any()), default=0
    )


def _positions(values: Iterable[Any]) -> dict[Any, float]:
    """Places of a setting's values on an axis: numbers by size, others in order, off last."""
    found = set(values)
    if found and all(type(value) is int for value in found):
        return {value: float(value) for value in sorted(found, key=str)}
    known = sorted(found - {None}, key=lambda value: (isinstance(value, str), value))
    order = [*known, *([None] if None in found else [])]
    return {value: float(at) for at, value in enumerate(order)}
