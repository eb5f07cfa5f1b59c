"""What a run found, in a sentence and a few figures: the head of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evolve.gains import shown_gain
from evolve.results.outcome_tables import kept_interval
from evolve.results.run_record import RunRecord
from evolve.stats import Interval
from evolve.tables import number


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the head.

    Attributes:
        name: What it is.
        value: The figure.
        told: What must be known to read it, such as its interval.
    """

    name: str
    value: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    """The head of a report.

    Attributes:
        sentence: What came of the run.
        figures: The most important first.
    """

    sentence: str
    figures: tuple[Figure, ...]


def headline_of(record: RunRecord) -> Headline:
    """The head of a run's report, whether it has ended or not."""
    summary = record.summary
    if summary is None:
        return _going_on(record)
    if summary.get("scope") == "user":
        return _own_policies(summary)
    if "evidence" in summary:
        return _by_evidence(summary)
    test = summary["test"]
    if not {"seed", "best"} <= test.keys():
        sentence = "Seed and best cannot be compared: not both of them were scored on test users."
        return Headline(sentence, (_spent(summary),))
    seed, best = test["seed"], test["best"]
    people = f"{best['n']} answers of test users"
    if seed["policy"] == best["policy"]:
        sentence = f"The seed stays: no candidate was shown to be better. {people.capitalize()}."
        score = Figure("Memory score", number(best["memory"], 2, "undefined"), "of the seed")
    else:
        sentence = _verdict(kept_interval(summary["gain"], "memory"), people)
        score = _change("Memory score", seed["memory"], best["memory"], 2)
        score = Figure(
            score.name, score.value, shown_gain(kept_interval(summary["gain"], "memory"))
        )
    figures = (
        score,
        _change("Accuracy", seed["accuracy"], best["accuracy"], 2),
        *_over_baselines(summary),
        _change("Tokens per answer", seed["tokens_per_answer"], best["tokens_per_answer"], 0),
        _spent(summary),
    )
    return Headline(sentence, figures)


def _verdict(gain: Interval | None, people: str) -> str:
    """What the interval of the gain allows to be said."""
    if gain is None:
        return f"Whether the best version is better than the seed is undefined on {people}."
    if gain.low > 0:
        return f"The best version remembers better than the seed, on {people}."
    if gain.high < 0:
        return f"The best version does worse than the seed, on {people}."
    return (
        f"The best version was not shown to be better than the seed: the interval includes zero, "
        f"on {people}."
    )


def _over_baselines(summary: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Memory gain: that over ``none`` first."""
    told = {"none": "over no memory", "native": "over the history in context"}
    return tuple(
        Figure(
            f"Memory gain {told.get(name, f'over {name}')}",
            _signed(gain),
            shown_gain(gain).partition(" ")[2],
        )
        for name, lead in summary.get("over_baselines", {}).items()
        if (gain := kept_interval(lead["memory"])) is not None
    )


def _going_on(record: RunRecord) -> Headline:
    accepted = sum(one.verdict.accepted for one in record.candidates)
    return Headline(
        "This run has not ended: no test users were scored yet.",
        (
            Figure("Candidates", str(len(record.candidates))),
            Figure("Accepted", str(accepted)),
            Figure("Rollouts", str(len(record.rollouts))),
        ),
    )


def _by_evidence(summary: Mapping[str, Any]) -> Headline:
    """Of a run that searched settings by what a store finds of the evidence, without a model."""
    seed, best = summary["evidence"]["seed"], summary["evidence"]["best"]
    recall = _change("Evidence recall", seed["recall"], best["recall"], 3)
    precision = _change("Evidence precision", seed["precision"], best["precision"], 4)
    gained = kept_interval(summary.get("precision_gain"))
    return Headline(
        f"Settings were searched by the evidence that they find, without a model; "
        f"{best['questions']} questions of test dialogues.",
        (
            replace(recall, told=shown_gain(kept_interval(summary["recall_gain"]))),
            replace(precision, told=precision.told if gained is None else shown_gain(gained, 4)),
            _change(
                "Tokens shown", seed["tokens"], best["tokens"], 0, f"at most {summary['limit']}"
            ),
            Figure("Settings tried", str(summary["trials"])),
        ),
    )


def _own_policies(summary: Mapping[str, Any]) -> Headline:
    """Of a run in which every user's own policy was learned."""
    whole = summary["periods"]["all"]
    fixed, learned = whole["fixed"], whole["learned"]
    gain = kept_interval(summary["gain"], "memory")
    change = _change("Memory score", fixed["memory"], learned["memory"], 2, "fixed → learned")
    users = summary["users"]
    return Headline(
        f"Each of {users} user{'s' * (users != 1)} has a policy of its own, learned from period to "
        "period; every period is scored with what was learned before it.",
        (
            replace(change, told=shown_gain(gain)),
            _change("Accuracy", fixed["accuracy"], learned["accuracy"], 2, "fixed → learned"),
            _spent(summary),
        ),
    )


def _change(
    name: str,
    before: float | None,
    after: float | None,
    digits: int,
    told: str = "seed → best",
) -> Figure:
    shown = (number(value, digits, "undefined") for value in (before, after))
    return Figure(name, " → ".join(shown), told)


def _signed(gain: Interval) -> str:
    return f"{gain.mean:+.2f}"


def _spent(summary: Mapping[str, Any]) -> Figure:
    spent, budget = summary["spent"], summary["budget"]
    return Figure("Spent", f"{spent:.1f}", f"of {budget} rollouts")
