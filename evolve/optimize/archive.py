"""The accepted versions of a run, and which of them is the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt

from evolve.stats import shrink
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Version:
    """One accepted policy, or the seed.

    Attributes:
        policy: The policy.
        gate: Gate cluster (a user, or a user's question under a time split) to its accuracy in
            0..1, for those that this version was judged on.
    """

    policy: Policy
    gate: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Archive:
    """Accepted versions in order of acceptance, the seed first; each change is a new archive.

    Versions are compared on the gate clusters that all of them were judged on.

    Attributes:
        versions: The seed and what was accepted.
        chosen: Id of the best version, where a strategy names it by a rule of its own.

    Raises:
        ValueError: Without a seed, or with one policy twice.
    """

    versions: tuple[Version, ...]
    chosen: str | None = None

    def __post_init__(self) -> None:
        ids = [version.policy.id for version in self.versions]
        if not ids or len(set(ids)) < len(ids):
            raise ValueError(f"an archive holds a seed and each policy once, not {ids}")

    def accept(self, policy: Policy, gate: Mapping[str, float]) -> Archive:
        """With one more version, accepted on these clusters."""
        return replace(self, versions=(*self.versions, Version(policy, dict(gate))))

    def choose(self, policy_id: str) -> Archive:
        """With a version named the best.

        Raises:
            ValueError: No version has this id.
        """
        self._check_has(policy_id)
        return replace(self, chosen=policy_id)

    def judged(self, policy_id: str, gate: Mapping[str, float]) -> Archive:
        """With more gate clusters of a version, as when it was the parent of a later candidate.

        Raises:
            ValueError: No version has this id.
        """
        self._check_has(policy_id)
        versions = tuple(
            replace(v, gate={**v.gate, **gate}) if v.policy.id == policy_id else v
            for v in self.versions
        )
        return replace(self, versions=versions)

    def _check_has(self, policy_id: str) -> None:
        if all(version.policy.id != policy_id for version in self.versions):
            raise ValueError(f"no accepted version has the id {policy_id}")

    @property
    def common(self) -> tuple[str, ...]:
        """The gate clusters that every version was judged on, sorted."""
        return tuple(sorted(set.intersection(*(set(v.gate) for v in self.versions))))

    def estimates(self) -> tuple[float, ...] | None:
        """Empirical-Bayes accuracy of each version on ``common``; None with fewer than two.

        Means are shrunk towards the mean of all versions. Easy and hard clusters are the same for
        all, so a mean's standard error is that of its differences to the versions' mean in each
        cluster, times sqrt(k / (k - 1)) for k versions, because that mean contains its own.
        """
        common, count = self.common, len(self.versions)
        if len(common) < 2:
            return None
        scores = [[version.gate[key] for key in common] for version in self.versions]
        if count == 1:
            return (_mean(scores[0]),)
        centres = [_mean(column) for column in zip(*scores, strict=True)]
        errors = []
        for row in scores:
            rest = [x - centre for x, centre in zip(row, centres, strict=True)]
            mean = _mean(rest)
            variance = fsum((x - mean) ** 2 for x in rest) / (len(common) - 1)
            errors.append(sqrt(variance / len(common) * count / (count - 1)))
        return shrink([_mean(row) for row in scores], errors)

    def best(self) -> Version:
        """The chosen version, else that with the highest estimate, the earlier one of equals.

        It is the next parent, too.

        The last accepted one where fewer than two clusters are common, as after many outside
        failures: then only its own gate speaks.
        """
        if self.chosen is not None:
            return next(v for v in self.versions if v.policy.id == self.chosen)
        estimates = self.estimates()
        if estimates is None:
            return self.versions[-1]
        rounded = [round(estimate, 9) for estimate in estimates]  # 1e-17 is no lead
        return self.versions[rounded.index(max(rounded))]

    def gate_gain(self) -> float | None:
        """Mean accuracy of the best version less that of the seed on ``common``, not shrunk.

        0 where the seed is the best; None where no cluster is common.
        """
        common, best, seed = self.common, self.best(), self.versions[0]
        if not common:
            return None
        return _mean([best.gate[key] - seed.gate[key] for key in common])


def shrinkage(gate_gain: float | None, test_gain: float | None) -> float | None:
    """Share of the gain at the gate that is missing on test users: (gate - test) / gate.

    0 where all of it is there, 1 where none is, negative where test users gain more; None where
    either gain is unknown or there was none at the gate.
    """
    if gate_gain is None or test_gain is None or gate_gain <= 0:
        return None
    return (gate_gain - test_gain) / gate_gain


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
