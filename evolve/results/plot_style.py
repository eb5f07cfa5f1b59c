"""What all figures share: colours with one meaning each, marks, axes, legends, inline SVG.

Colours are those of Okabe and Ito (2008) and a dark grey, which stay apart under every common
colour blindness. A policy has a mark and a line of its own, too, and a stage a panel or label,
so no figure is read by colour alone. Figures are made without pyplot: nothing stays open, and no
backend is chosen.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#222222"
"""Text, axes and whatever has no colour of its own; inline SVG has the page's text colour there."""
PAPER = "#FDFDFD"
"""Inside of hollow marks; inline SVG has the page's ``--paper`` there, else its background."""
STAGES = {"write": "#D55E00", "read": "#0072B2", "utilization": "#009E73", "format": "#5E5E5E"}
POLICIES = {
    "seed": "#56B4E9",
    "best": "#CC79A7",
    "learned": "#CC79A7",  # of users' own policies, where there is no best one
    "native": "#E69F00",
    "none": INK,
}
MARKS = {"seed": "o", "best": "s", "learned": "s", "native": "^", "none": "x"}
LINES = {"seed": "--", "best": "-", "learned": "-", "native": "-.", "none": ":"}
FAINT = 0.25  # opacity of grids


def panels(
    count: int, width: float, height: float, *, columns: int = 1, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """An empty figure, its size in inches, with so many panels."""
    from matplotlib.figure import Figure

    # Text stays text in SVG, and a browser has letters that the font at hand lacks.
    warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(ceil(count / columns), columns, sharey=sharey, squeeze=False)
    flat = [axes for row in grid for axes in row]
    for axes in flat[count:]:
        axes.remove()
    for axes in flat[:count]:
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(INK)
        axes.tick_params(colors=INK, labelsize=8)
        for label in (axes.xaxis.label, axes.yaxis.label):
            label.set(color=INK, size=9)
    return figure, flat[:count]


def sentence(text: str) -> Figure:
    """A figure that says why there is nothing to see."""
    figure, (axes,) = panels(1, 7, 0.6)
    axes.axis("off")
    axes.text(0, 0.5, text, color=INK, va="center", size=10)
    return figure


def literal(text: object) -> str:
    """A name as figures show it: a dollar sign in it begins no formula."""
    return str(text).replace("$", r"\$")


def titled(axes: Axes, measure: str) -> None:
    """Name a panel's measure, a stage in its colour."""
    words = {"memory": "memory score"}.get(measure, f"{measure} failures")
    axes.set_title(words, color=STAGES.get(measure, INK), size=10, weight="bold", loc="left")


def spans(
    axes: Axes, places: Sequence[float], rows: pd.DataFrame, policy: str, label: str | None
) -> None:
    """Estimates of a policy along the horizontal axis with their intervals, a row's place each."""
    colour = POLICIES[policy]
    axes.hlines(places, rows["low"], rows["high"], color=colour, lw=1.4, alpha=0.7)
    axes.plot(rows["mean"], places, MARKS[policy], c=colour, ms=5, label=label)


def legend_below(figure: Figure, axes: Axes) -> None:
    """One legend for all panels, by what is labelled in one of them."""
    handles, labels = axes.get_legend_handles_labels()
    width = max(map(len, labels), default=0) * 0.075 + 0.6  # inches of an item
    if labels:
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=max(1, min(len(labels), int(figure.get_figwidth() / width))),
            frameon=False,
            fontsize=9,
            labelcolor=INK,
        )


def svg(figure: Figure) -> str:
    """A figure as an SVG element for a page: no background, and text in the page's colour.

    The same figure gives the same bytes.
    """
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": "figure", "svg.fonttype": "none"}):
        figure.savefig(
            buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    text = buffer.getvalue()
    element = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    lines = [line.strip() for line in element.splitlines() if line.strip()]
    shown = "\n".join(lines) + "\n"
    return shown.replace(INK, "currentColor").replace(PAPER.lower(), "var(--paper, Canvas)")
