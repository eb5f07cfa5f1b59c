"""Many runs together: mean gain with its interval over draws, and the claims that rest on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import Claim, above_zero, shown
from benchmarks.runs import RunResult
from evolve.stats import Interval, mean_interval
from evolve.tables import Table


@dataclass(frozen=True, slots=True)
class Series:
    """The runs of one seed policy, one per draw.

    Attributes:
        name: Variant and policy.
        joint: Runs of the strategy joint.
        placebo: Runs of the placebo on the same users, in the same order; empty where there are
            none.
    """

    name: str
    joint: tuple[RunResult, ...]
    placebo: tuple[RunResult, ...] = ()

    @property
    def gain(self) -> Interval | None:
        """Mean gain in memory score over draws; None where one is undefined."""
        return _mean([run.gain for run in self.joint])

    @property
    def over_placebo(self) -> Interval | None:
        """Mean difference of the gains of joint and placebo, paired by draw."""
        pairs = zip(self.joint, self.placebo, strict=False)
        return _mean([_less(joint.gain, placebo.gain) for joint, placebo in pairs])

    @property
    def over_default(self) -> Interval | None:
        """Mean gain over the seed at default settings; None where one is undefined."""
        return _mean([run.over_default for run in self.joint])

    @property
    def compared(self) -> bool:
        """Whether runs were held against the seed at default settings."""
        return any(run.default_memory is not None for run in self.joint)

    @property
    def unwritten(self) -> Interval | None:
        """Mean change of the share of answers lost as ``unwritten``."""
        return _mean([_less(run.best_unwritten, run.seed_unwritten) for run in self.joint])

    @property
    def shrinkage(self) -> float | None:
        """Share of the gate's gain that test users do not show, gains of all draws together."""
        improved = [run for run in self.joint if run.shrinkage is not None]
        at_gate = sum(run.gate_gain or 0.0 for run in improved)
        on_test = sum(run.test_gain for run in improved)
        return (at_gate - on_test) / at_gate if at_gate > 0 else None

    @property
    def improved(self) -> int:
        """Draws with at least one accepted version."""
        return sum(run.accepted > 0 for run in self.joint)

    @property
    def below(self) -> int:
        """Draws that ended below the seed."""
        return sum(run.gain is not None and run.gain < 0 for run in self.joint)


def summary_table(title: str, series: Sequence[Series]) -> Table:
    """A row per series; a column for the defaults where any series was held against them."""
    compared = any(s.compared for s in series)
    columns = (
        *("seed policy", "draws", "mean gain [95 %]"),
        *(("over default settings",) if compared else ()),
        *("improved", "below seed"),
        *("unwritten", "shrinkage", "joint less placebo", "seconds a run"),
    )
    rows = tuple(
        (
            *(s.name, str(len(s.joint)), _shown(s.gain)),
            *((_shown(s.over_default),) if compared else ()),
            *(str(s.improved), str(s.below)),
            _shown(s.unwritten),
            "-" if s.shrinkage is None else f"{s.shrinkage:.2f}",
            _shown(s.over_placebo),
            f"{sum(run.seconds for run in s.joint) / len(s.joint):.0f}",
        )
        for s in series
    )
    return Table(title, columns, rows)


def claims_of(series: Series, *, strict: bool, sharp: bool) -> list[Claim]:
    """That the loop gains, more than defaults and placebo do, and that less is left unwritten.

    Args:
        series: The runs.
        strict: Whether there are draws enough to ask that these things be shown; otherwise a claim
            fails only where its interval excludes it.
        sharp: Whether intervals must exclude zero; otherwise it is enough that means are on the
            right side of it, and nothing is claimed over the defaults.
    """

    def claim(text: str, interval: Interval | None) -> Claim:
        text = f"{series.name}: {text}"
        if sharp or not strict or interval is None:
            return above_zero(text, interval, strict)
        return Claim(f"{text}: {shown(interval, '+.3f')}", interval.mean > 0)

    fall = series.unwritten
    claims = [claim("mean gain on test users above zero", series.gain)]
    if sharp and series.compared:
        text = "mean gain over the seed at default settings above zero"
        claims.append(claim(text, series.over_default))
    if series.placebo:
        claims.append(claim("gain above the placebo's", series.over_placebo))
    if strict:
        falls = fall is not None and fall.mean < 0
        claims.append(Claim(f"{series.name}: mean unwritten falls: {_shown(fall)}", falls))
    return claims


def _mean(values: Sequence[float | None]) -> Interval | None:
    known = [value for value in values if value is not None]
    return mean_interval(known) if known and len(known) == len(values) else None


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _shown(interval: Interval | None) -> str:
    return "-" if interval is None else shown(interval, "+.3f")
