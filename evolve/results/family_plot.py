"""The figure of a run's family tree: which policy was made of which, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evolve.results.plot_style import INK, PAPER, POLICIES, legend_below, panels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AROUND = 1.6  # inches for the labels above the trunk, the axis and the legend
_MOST_COLUMNS = 8  # generations of a tree whose candidates are all labelled


def family(frame: pd.DataFrame) -> Figure:
    """The family tree of policies by generation, from ``lineage.family``."""
    place = _tree(frame)
    depth = 1 - min(y for _, y in place.values())
    width = 1 + max(x for x, _ in place.values())
    roomy = width <= _MOST_COLUMNS
    row_height = 0.55 if roomy else 0.25  # inches
    size = max(6.5, min(14.0, 1.75 * width)), _AROUND + row_height * depth
    figure, (axes,) = panels(1, *size)
    for _, row in frame.iterrows():
        for order, parent in enumerate(row["parents"]):
            if parent in place:
                _edge(axes, place[parent], place[row["name"]], row["accepted"], order > 0)
        _node(axes, row, place[row["name"]], labelled=roomy or bool(row["accepted"]))
    for kind, (mark, points, _) in _KINDS.items():
        face = INK if kind == "accepted" else PAPER
        axes.plot([], [], mark, c=INK, mfc=face, ms=points, label=kind)
    axes.set_xlabel("generation")
    axes.set_xticks(sorted(frame["generation"].unique()))
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(-depth + 0.3, 0.55 / row_height)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    legend_below(figure, axes)
    return figure


_KINDS = {
    "accepted": ("s", 9, ()),
    "rejected on gate users": ("D", 7, ("gate", "validation")),
    "rejected on the minibatch": ("v", 7, ("minibatch", "failed", "chance", "level", "tokens")),
    "heard off-policy, not chosen": ("o", 5, ("screen",)),
    "turned down unscored": ("x", 5, ()),
}


def _tree(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Where the policies stand: a column per generation, versions in the uppermost row."""
    place = {}
    for generation in sorted(set(frame["generation"])):
        rows = frame[frame["generation"] == generation]
        order = [*rows.index[rows["accepted"]], *rows.index[~rows["accepted"]]]
        first = 0 if rows["accepted"].any() else 1
        for slot, index in enumerate(order, first):
            place[str(frame["name"][index])] = float(generation), float(-slot)
    return place


def _edge(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], kept: bool, second: bool
) -> None:
    """A curve from a parent to what was made of it; dotted from the second parent of a merge."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    bend = max(0.4, (end[0] - start[0]) / 2)
    points = [start, (end[0] - bend, start[1]), (end[0] - bend, end[1]), end]
    curve = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    style = ":" if second else "-"
    weight = {"lw": 2.0, "alpha": 1.0} if kept else {"lw": 0.8, "alpha": 0.35}
    axes.add_patch(PathPatch(curve, fc="none", ec=INK, ls=style, **weight))


def _node(axes: Axes, row: pd.Series[Any], at: tuple[float, float], *, labelled: bool) -> None:
    kinds = [kind for kind, (_, _, stages) in _KINDS.items() if row["stage"] in stages]
    kind = "accepted" if row["accepted"] else (kinds or ["turned down unscored"])[0]
    mark, size, _ = _KINDS[kind]
    colour = INK if row["name"] != "seed" else POLICIES["seed"]
    colour = POLICIES["best"] if row["best"] else colour
    face = colour if row["accepted"] else PAPER
    axes.plot(*at, mark, c=colour, mfc=face, ms=size, zorder=3)
    if labelled:
        shown = str(row["operator"]).replace("+", "\n+ ")
        if row["accepted"] and row["name"] != "seed":
            shown = f"{row['name']}\n{shown}"
        # Above the trunk no curve passes; the others come from above.
        weight, step, side = ("bold", 8, "bottom") if row["accepted"] else ("normal", -6, "top")
        place: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": side}
        axes.annotate(shown, at, (0, step), color=INK, size=6.5, weight=weight, **place)
