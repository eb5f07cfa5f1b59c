"""Figures: every frame of a run can be drawn, colours stay apart, SVG fits into a page."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from evolve.results import comparison, curves, lineage, plots, settings_study
from evolve.results.family_plot import family
from evolve.results.plot_style import INK, PAPER, POLICIES, STAGES, literal, panels, svg
from evolve.results.run_record import read_run

# What each kind of colour blindness makes of linear RGB (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "by most": np.eye(3).tolist(),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def seen(colour: str, by: str) -> np.ndarray:
    """A colour in CIE Lab, as it is seen."""
    values = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    ratio = TO_XYZ @ np.clip(SEEN[by] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def shown(figure) -> str:
    """All text of a figure, none of it in a colour that a dark page would swallow."""
    inside = [text for axes in figure.axes for text in axes.texts if text.get_text()]
    assert {text.get_color() for text in inside} <= {INK, "white"}
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    texts += [axes.get_title(loc="left") + axes.get_xlabel() for axes in figure.axes]
    texts += [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    texts += [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return "\n".join(texts)


def test_letters_that_the_font_lacks_are_left_to_the_browser():
    names = ["住在哪个城市", "المدينة", "बस्ती", "🏡", "home_city"]
    rows = [(name, "seed", "write", 0.2, 0.1, 0.3) for name in names]
    columns = ["state", "policy", "measure", "mean", "low", "high"]
    drawn = svg(plots.by_state(pd.DataFrame(rows, columns=columns)))
    for name in names:
        assert f">{name}</text>" in drawn


@pytest.mark.parametrize("by", SEEN)
def test_no_two_meanings_look_alike(by):
    meanings = STAGES | {name: POLICIES[name] for name in ("seed", "best", "native", "none")}
    for one, other in combinations(meanings.values(), 2):
        assert np.linalg.norm(seen(one, by) - seen(other, by)) > 15, (one, other)


def test_every_frame_of_a_run_has_its_figure(searched):
    record = read_run(searched)
    cohort = curves.cohort_of(record)
    truths = {user.id: user.truth() for user in record.users}
    periods = plots.by_period(curves.by_period(cohort))
    assert [axes.get_title(loc="left") for axes in periods.axes[:2]] == [
        "memory score",
        "write failures",
    ]
    assert {"seed", "best", "native", "none"} <= set(shown(periods).split("\n"))
    states = curves.by_state(cohort, truths)
    assert states["state"].iloc[0] in shown(plots.by_state(states, most=3))
    assert "write" in shown(plots.by_generation(curves.by_generation(record)))
    tree = shown(family(lineage.family(record)))
    assert "seed" in tree
    assert "rejected on gate users" in tree
    change = lineage.change_of(record, record.seed.id, record.best.id)
    assert "sum" in shown(plots.removed(lineage.removed(change)))
    names = settings_study.changed_settings(record)
    effects = settings_study.effects(record, names)
    for name in names:
        assert name in shown(plots.effect(effects, name))
    important = settings_study.importance(settings_study.study(record))
    assert "top_k" in shown(plots.importance(important))
    assert "version" in shown(plots.trade_off(settings_study.trade_off(record)))
    assert record.name in shown(plots.runs(comparison.ends([record])))


def test_lives_of_scope_user_are_drawn_as_learned(lived):
    cohort = curves.cohort_of(read_run(lived))
    assert "learned" in shown(plots.by_period(curves.by_period(cohort)))


def test_a_frame_without_rows_says_so():
    empty = pd.DataFrame(columns=["setting"])
    for figure in (
        plots.by_period(empty),
        plots.by_state(empty),
        plots.by_generation(empty),
        plots.removed(empty),
        plots.effect(empty, "top_k"),
        plots.importance(empty),
        plots.trade_off(empty),
    ):
        (text,) = figure.axes[0].texts
        assert text.get_text().endswith(".")


def test_svg_is_one_element_in_the_colours_of_its_page(searched):
    frame = lineage.family(read_run(searched))
    text = svg(family(frame))
    assert text.startswith("<svg")
    assert text.rstrip().endswith("</svg>")
    assert "currentColor" in text
    assert "var(--paper, Canvas)" in text
    assert INK not in text
    assert PAPER.lower() not in text
    assert "metadata" not in text
    assert text == svg(family(frame))


def test_other_settings_than_numbers_stand_side_by_side():
    rows = [
        ("retriever", "gen-001.0", "write", "bm25", "ngram", 0.5, 0.4, True, True),
        ("retriever", "gen-001.0", "read", "bm25", "ngram", 0.1, 0.1, True, True),
        ("retriever", "gen-001.0", "utilization", "bm25", "ngram", 0.1, 0.2, True, True),
        ("recency_half_life", "gen-001.1", "write", None, 8, 0.5, 0.4, False, False),
    ]
    columns = ["setting", "candidate", "measure", "value_before", "value_after"]
    columns += ["rate_before", "rate_after", "alone", "accepted"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    labels = [
        [tick.get_text() for tick in plots.effect(frame, name).axes[0].get_xticklabels()]
        for name in ("retriever", "recency_half_life")
    ]
    assert labels == [["bm25", "ngram"], ["8", "off"]]


def test_a_dollar_sign_in_a_name_is_no_formula():
    figure, (axes,) = panels(1, 3, 1)
    axes.set_yticks([0, 1], list(map(literal, ["cost in $ or $\\x{", "US$"])))
    assert "cost in $ or $\\x{" in svg(figure)


def test_names_that_would_cover_each_other_give_way_to_numbers():
    def front(*places):
        names = [f"gen-00{n}.0" for n, _ in enumerate(places)]
        columns = ("tokens", "accuracy")
        frame = pd.DataFrame([dict(zip(columns, place, strict=True)) for place in places])
        return frame.assign(name=names, accepted=True, best=False, front=True)

    near = plots.trade_off(front((900, 0.5), (901, 0.5), (1200, 0.6)))
    assert [text.get_text() for text in near.axes[0].texts] == ["1", "2", "3"]
    assert "1 gen-000.0" in shown(near)
    apart = plots.trade_off(front((900, 0.5), (1200, 0.6)))
    assert [text.get_text() for text in apart.axes[0].texts] == ["gen-000.0", "gen-001.0"]
