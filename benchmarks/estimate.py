"""The estimate before a run against what the run then spends, with replies of varied length.

``python -m benchmarks.estimate`` runs the loop with a model that says what the offline model says,
with as many words more as models use: their lengths are drawn from a long-tailed distribution, not
from that of the estimate's stand-in. What it would have paid behind a cache of replies is compared
with the estimate that was made before its first call. It exits with 1 if a claim fails.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from benchmarks.report import Claim, Report, close, parser
from benchmarks.runs import Silence
from evolve.config import Options
from evolve.estimate import Estimator
from evolve.lm.base import Completion, Request, count_tokens
from evolve.lm.offline import OfflineLM
from evolve.lm.typical import FACT, FOLLOW_UP, REPLY
from evolve.means import Means
from evolve.policy_run import Watch, policy_run
from evolve.prepare import prepare
from evolve.rehearsal import Amount, CachedLM
from evolve.seeding import derive
from evolve.tables import Table

WITHIN = 0.30
PRICE = (0.4, 1.6)  # dollars per million tokens in and out, of a small model
_SPREAD = 0.5  # of the logarithm of a length
_SYLLABLES = ("ka", "lo", "mi", "ren", "sta", "vor", "pul", "gid", "nes", "tor", "bal", "fim")


@dataclass(frozen=True, slots=True)
class Case:
    """A run to estimate and to make."""

    policy: str
    budget: int

    @property
    def name(self) -> str:
        """For rows and claims."""
        return f"{self.policy}, {self.budget} rollouts"


FULL = (Case("awe", 300), Case("awe", 120), Case("awi", 120), Case("rag", 120))
QUICK = (Case("awi", 80),)


class WordyLM(OfflineLM):
    """The offline model at the length of other models."""

    def complete(self, request: Request) -> Completion:
        """What the offline model says, with words beside it that mean nothing."""
        done = super().complete(request)
        draw = random.Random(derive("wordy", request.task, *(m.content for m in request.messages)))
        text = done.text
        if request.task == "reply":
            text = _padded(text, REPLY, draw)
        elif request.task == "user":
            said = json.loads(text)
            said["message"] = _padded(said["message"], FOLLOW_UP, draw)
            text = json.dumps(said, ensure_ascii=False)
        elif request.task == "write":
            facts = {label: _padded(fact, FACT, draw) for label, fact in json.loads(text).items()}
            text = json.dumps(facts, ensure_ascii=False)
        return Completion(text, done.prompt_tokens, count_tokens(text))


def _padded(text: str, mean: float, draw: random.Random) -> str:
    """A text as long as one of this mean, if it is not longer already: its rest is a question."""
    tokens = draw.lognormvariate(log(mean) - _SPREAD**2 / 2, _SPREAD)
    room = round(4 * tokens) - len(text)
    words = []
    while room > 0:
        words.append("".join(draw.choices(_SYLLABLES, k=draw.randint(1, 3))))
        room -= len(words[-1]) + 1
    return f"{text} {' '.join(words).capitalize()}?" if words else text


@contextmanager
def counted() -> Iterator[CachedLM]:
    """The model of all roles of a run in this process, for as long as this is entered."""
    lm = CachedLM(WordyLM(), set())
    with (
        patch("evolve.workers.make_lm", lambda spec: lm),
        patch("evolve.policy_run.make_lm", lambda spec: lm),
    ):
        yield lm


def measure(case: Case) -> tuple[Mapping[str, Amount], Mapping[str, Amount]]:
    """What was estimated and what was spent, by role."""
    options = Options(case.budget, policy=case.policy, seed=1)
    estimated = Estimator(prepare(options, Means()), Means()).of(case.budget).amounts
    with counted() as lm, TemporaryDirectory() as name:
        policy_run(options, Path(name) / "run", Means(), Watch(Silence(), lambda: False))
    return estimated, lm.amounts


def total(amounts: Mapping[str, Amount]) -> Amount:
    """Of all roles."""
    whole = Amount()
    for amount in amounts.values():
        whole = whole.plus(amount)
    return whole


def dollars(amount: Amount) -> float:
    """At the price of a small model."""
    read, written = PRICE
    return (amount.prompt_tokens * read + amount.completion_tokens * written) / 1e6


_MEASURES = {
    "calls": lambda amount: amount.calls,
    "prompt tokens": lambda amount: amount.prompt_tokens,
    "completion tokens": lambda amount: amount.completion_tokens,
    "dollars": dollars,
}


def table(case: Case, estimated: Mapping[str, Amount], spent: Mapping[str, Amount]) -> Table:
    """By role and in total: what was estimated, what was spent, and their ratio."""
    columns = ["role"]
    for measure_name in _MEASURES:
        columns += [f"{measure_name} estimated", "spent", "ratio"]
    rows = []
    pairs = {role: (estimated.get(role, Amount()), amount) for role, amount in spent.items()}
    pairs["total"] = total(estimated), total(spent)
    for role, (guessed, real) in sorted(pairs.items(), key=lambda item: item[0] == "total"):
        row = [role]
        for of in _MEASURES.values():
            digits = 4 if of is dollars else 0
            ratio = of(guessed) / of(real) if of(real) else float("nan")
            row += [f"{of(guessed):.{digits}f}", f"{of(real):.{digits}f}", f"{ratio:.2f}"]
        rows.append(tuple(row))
    return Table(f"Estimate and spend: {case.name}", tuple(columns), tuple(rows))


def claims(
    case: Case, estimated: Mapping[str, Amount], spent: Mapping[str, Amount]
) -> Iterator[Claim]:
    """That all totals are within the limit."""
    for name, of in _MEASURES.items():
        off = of(total(estimated)) / of(total(spent)) - 1
        text = f"{case.name}: {name} estimated within {WITHIN:.0%} of what is spent: {off:+.0%}"
        yield Claim(text, abs(off) <= WITHIN)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; 1 if a claim fails."""
    options_of = parser("Estimates before runs, against what the runs spend.")
    options = options_of.parse_args(arguments)
    tables: list[Table] = []
    found: list[Claim] = []
    for case in QUICK if options.quick else FULL:
        estimated, spent = measure(case)
        tables.append(table(case, estimated, spent))
        found += claims(case, estimated, spent)
        print(f"{case.name} done", flush=True)
    notes = (
        "A run counts what it would pay behind a cache of replies. Roles by themselves may be "
        "further off than all together.",
    )
    return close(Report(tuple(tables), tuple(found), notes), options.markdown)


if __name__ == "__main__":
    raise SystemExit(main())
