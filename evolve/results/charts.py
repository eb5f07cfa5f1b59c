"""Which figures a report shows of a run, and what is said under each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evolve.results import curves, plot_style, plots, settings_study
from evolve.results.curves import Cohort
from evolve.results.run_record import RunRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAME = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=xlink:href="#)')


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of the page.

    Attributes:
        name: Where it belongs: ``periods``, ``generations``, ``states`` or ``front``.
        title: What it shows.
        told: How to read it.
        svg: The figure as an inline element.
        width: Of the figure at which its words are as large as the page's small print, in points.
    """

    name: str
    title: str
    told: str
    svg: str
    width: int


def charts_of(record: RunRecord, cohort: Cohort | None) -> dict[str, Chart]:
    """The figures of a run by name, without those that it has nothing for yet."""
    charts: dict[str, Chart] = {}

    def add(name: str, title: str, told: str, figure: Figure) -> None:
        width = round(72 * float(figure.get_figwidth()))
        charts[name] = Chart(name, title, told, _own_names(plot_style.svg(figure), name), width)

    if cohort is not None:
        whose = "of everyone" if cohort.part == "everyone" else f"on {cohort.part} users"
        add(
            "periods",
            f"By period, {whose}",
            "Shares of answers that failed at each stage, and the memory score; bands are 95 % "
            "intervals over clusters.",
            plots.by_period(curves.by_period(cohort)),
        )
        truths = {user.id: user.truth() for user in record.users or ()}
        add(
            "states",
            f"By state type, {whose}",
            "Of the answers that need a state, the share that failed at each stage and blames it; "
            "those that fail most stand first.",
            plots.by_state(curves.by_state(cohort, truths)),
        )
    versions = curves.by_generation(record)
    if not versions.empty:
        add(
            "generations",
            "By version",
            "What each accepted version gets wrong, by stage, on gate or train users.",
            plots.by_generation(versions),
        )
    front = settings_study.trade_off(record)
    if not front.empty:
        add(
            "front",
            "Accuracy and tokens",
            "Every policy that was judged at the gate; the line joins those that no other beats in "
            "both.",
            plots.trade_off(front),
        )
    return charts


def _own_names(svg: str, name: str) -> str:
    """A figure whose inner names are its own: several stand on one page."""
    return _NAME.sub(f"{name}-", svg)
