"""Finds LoCoMo's evidence without a model: retrievers side by side, tuned against default settings.

``python -m benchmarks.locomo`` prints evidence recall at 5, 10 and 20 messages of every retriever,
dense vectors among them where the extra ``dense`` is installed; then, for one dialogue after the
other, it searches settings on all others and tries them on that one. Beside the tuned settings
stand the defaults, and the defaults with as large a ``top_k`` as the same limit allows: what of a
gain is mere size. Without the data it says so and ends with 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.dense import NOT_INSTALLED, dense, installed
from benchmarks.published import absent, find_data
from benchmarks.report import Claim, Report, above_zero, close, parser, shown
from evolve.locomo.dialogues import CATEGORIES, Dialogue
from evolve.locomo.differences import over_dialogues
from evolve.locomo.reading import load_dialogues, odd_lines
from evolve.locomo.retrieval import FUSED, SCORERS, Finder, Found, by_category, mean_of
from evolve.locomo.tuning import SPACE, choose, measure, propose
from evolve.seeding import derive
from evolve.tables import Table
from policies.settings import SettingValue, as_text

KS = (5, 10, 20)
Pick = Callable[[Finder, int], Mapping[str, SettingValue]]
"""From the finder of all dialogues but one, and the number of that one, to settings."""

LIMITS, TRIALS = (2000, 4000), 150
QUICK_LIMITS, QUICK_TRIALS, QUICK_DIALOGUES = (2000,), 15, 3
DEFAULTS: Mapping[str, SettingValue] = {setting.name: setting.default for setting in SPACE}
_TOP_K = next(setting for setting in SPACE if setting.name == "top_k")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What settings find on dialogues that they were not chosen on.

    Attributes:
        chosen: Per dialogue the settings, chosen on all others.
        found: Of all dialogues.
    """

    chosen: tuple[Mapping[str, SettingValue], ...]
    found: tuple[Found, ...]


def retriever_tables(finder: Finder, kinds: Sequence[str], seed: int) -> tuple[Table, Table]:
    """Recall at each k, and by category at 10."""
    rows, categories = [], []
    for kind in kinds:
        at = {k: finder.find({**DEFAULTS, "retriever": kind, "top_k": k}) for k in KS}
        recalls = (over_dialogues(((f.dialogue, f.recall) for f in at[k]), seed) for k in KS)
        rows.append((kind, *map(shown, recalls), f"{mean_of(at[10]).precision:.4f}"))
        groups = by_category(at[10])
        categories.append((kind, *(f"{groups[c].recall:.3f}" for c in groups)))
    names = tuple(f"{CATEGORIES[c]} ({groups[c].questions})" for c in groups)
    return (
        Table(
            "Evidence recall at k messages, interval over dialogues",
            ("retriever", *(f"@{k}" for k in KS), "precision @10"),
            tuple(rows),
        ),
        Table(
            "Evidence recall at 10 by category (questions)",
            ("retriever", *names),
            tuple(categories),
        ),
    )


def held_out(
    dialogues: Sequence[Dialogue],
    finder: Finder,
    pick: Pick,
) -> HeldOut:
    """Pick settings on all dialogues but one and try them on that one, for each.

    Args:
        dialogues: At least two.
        finder: Of all of them.
        pick: Picks settings.
    """
    chosen, found = [], list[Found]()
    for number, one in enumerate(dialogues):
        others = [dialogue for dialogue in dialogues if dialogue is not one]
        chosen.append(pick(finder.among(others), number))
        found += finder.among([one]).find(chosen[-1])
    return HeldOut(tuple(chosen), tuple(found))


def tuned(limit: int, trials: int, seed: int) -> Pick:
    """Picks by the search of ``evolve.loop``."""

    def pick(finder: Finder, number: int) -> Mapping[str, SettingValue]:
        tried = [measure(finder, DEFAULTS)]
        while len(tried) < trials:
            settings = propose(tried, limit, derive(seed, limit, number, len(tried)))
            if settings is None:
                break
            tried.append(measure(finder, settings))
        return choose(tried, limit).settings

    return pick


def largest(limit: int) -> Pick:
    """Picks the defaults with the largest top_k within the limit."""

    def pick(finder: Finder, _: int) -> Mapping[str, SettingValue]:
        fit = [
            {**DEFAULTS, "top_k": k}
            for k in range(_TOP_K.low, _TOP_K.high + 1)
            if measure(finder, {**DEFAULTS, "top_k": k}).tokens <= limit
        ]
        return fit[-1]

    return pick


def tuned_report(
    dialogues: Sequence[Dialogue], finder: Finder, limit: int, trials: int, seed: int
) -> tuple[Table, Claim, str]:
    """The table of a limit, its claim, and which settings were chosen."""
    ways = {
        "default settings": held_out(dialogues, finder, lambda *_: DEFAULTS),
        "default, top_k as large as fits": held_out(dialogues, finder, largest(limit)),
        "tuned": held_out(dialogues, finder, tuned(limit, trials, seed)),
    }
    base = ways["default settings"].found
    gains = {
        name: over_dialogues(
            ((a.dialogue, a.recall - b.recall) for a, b in zip(way.found, base, strict=True)), seed
        )
        for name, way in ways.items()
    }
    rows = []
    for name, way in ways.items():
        found = mean_of(way.found)
        gain = "" if way.found is base else shown(gains[name], "+.3f")
        rows.append(
            (name, f"{found.recall:.3f}", f"{found.precision:.4f}", f"{found.tokens:.0f}", gain)
        )
    table = Table(
        f"Held-out dialogues, at most {limit} tokens shown on those searched",
        ("settings", "recall", "precision", "tokens shown", "recall over default"),
        tuple(rows),
    )
    strict = trials >= TRIALS
    claim = above_zero(
        f"tuned at {limit} tokens finds more evidence than default settings on held-out dialogues",
        gains["tuned"],
        strict,
    )
    texts = [
        " ".join(as_text(settings[setting.name]) for setting in SPACE)
        for settings in ways["tuned"].chosen
    ]
    names = ", ".join(setting.name for setting in SPACE)
    counted = ", ".join(f"{text} ({texts.count(text)})" for text in dict.fromkeys(texts))
    return table, claim, f"Chosen at {limit} tokens ({names}; dialogues): {counted}."


def measure_all(dialogues: Sequence[Dialogue], limits: Sequence[int], trials: int) -> Report:
    """Everything, on some dialogues."""
    seed = 17
    scorers, fused = dict(SCORERS), dict(FUSED)
    notes = [*odd_lines(dialogues)[-1:]]
    if installed():
        scorers["dense"] = dense
        fused["bm25 and dense"] = ("bm25", "dense")
    else:
        notes.append(NOT_INSTALLED)
    finder = Finder(dialogues, scorers, fused)
    tables = list(retriever_tables(finder, (*scorers, *fused), seed))
    claims = []
    for limit in limits:
        table, claim, chosen = tuned_report(dialogues, finder, limit, trials, seed)
        tables.append(table)
        claims.append(claim)
        notes.append(chosen)
    notes.append(
        f"{trials} settings are tried for each dialogue left out. Whole dialogues are in the store"
        " and nothing is retired; no model answers anything. Of a turn that is shown in part, as by"
        " sentences, its share of characters counts."
    )
    return Report(tuple(tables), tuple(claims), tuple(notes))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 1 if a claim fails."""
    options_of = parser("Find LoCoMo's evidence without a model.")
    options_of.add_argument("--data", type=Path, metavar="DIR", help="folder of published data")
    options = options_of.parse_args(arguments)
    data = find_data(options.data)
    if data is None or not (data / "locomo" / "locomo7.json").is_file():
        return close(Report(notes=(absent(options.data),)), options.markdown)
    dialogues = load_dialogues(data / "locomo" / "locomo7.json")
    if options.quick:
        report = measure_all(dialogues[:QUICK_DIALOGUES], QUICK_LIMITS, QUICK_TRIALS)
    else:
        report = measure_all(dialogues, LIMITS, TRIALS)
    return close(report, options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
