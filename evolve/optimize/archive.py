"""The accepted versions of a run, and which of them is the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt

from evolve.optimize.constraints import NO_LIMITS, Constraints
from evolve.stats import shrink
from policies.policy import Policy


@dataclass(frozen=True, slots=True)
class Version:
    """One accepted policy, or the seed.

    Attributes:
        policy: The policy.
        gate: Gate cluster (a user, or a user's question under a time split) to its accuracy in
            0..1, for those that this version was judged on.
        tokens: Per answer, on the minibatch that it was first scored on; None if not yet known.
    """

    policy: Policy
    gate: Mapping[str, float]
    tokens: float | None = None


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A candidate that was judged at the gate and not accepted.

    Attributes:
        policy: The candidate.
        incumbent: Id of the version that it was compared with.
        difference: Mean paired difference in accuracy to it on gate clusters.
        clusters: How many those were.
        tokens: Per answer, on the minibatch.
    """

    policy: Policy
    incumbent: str
    difference: float
    clusters: int
    tokens: float


@dataclass(frozen=True, slots=True)
class Archive:
    """Accepted versions in order of acceptance, the seed first; each change is a new archive.

    Versions are compared on the gate clusters that all of them were judged on. Those that take more
    tokens per answer than allowed are left out of that, as long as others are there.

    Attributes:
        versions: The seed and what was accepted.
        chosen: Id of the best version, where a strategy names it by a rule of its own.
        constraints: Limits that the best version must keep.
        passed_over: Candidates that the gate did not accept, in order.

    Raises:
        ValueError: Without a seed, or with one policy twice.
    """

    versions: tuple[Version, ...]
    chosen: str | None = None
    constraints: Constraints = NO_LIMITS
    passed_over: tuple[PassedOver, ...] = ()

    def __post_init__(self) -> None:
        ids = [version.policy.id for version in self.versions]
        if not ids or len(set(ids)) < len(ids):
            raise ValueError(f"an archive holds a seed and each policy once, not {ids}")

    def accept(
        self, policy: Policy, gate: Mapping[str, float], tokens: float | None = None
    ) -> Archive:
        """With one more version, accepted on these clusters."""
        version = Version(policy, dict(gate), tokens)
        return replace(self, versions=(*self.versions, version))

    def pass_over(self, candidate: PassedOver) -> Archive:
        """With one more candidate that the gate did not accept."""
        return replace(self, passed_over=(*self.passed_over, candidate))

    def choose(self, policy_id: str) -> Archive:
        """With a version named the best.

        Raises:
            ValueError: No version has this id.
        """
        return replace(self, chosen=self.version(policy_id).policy.id)

    def judged(self, policy_id: str, gate: Mapping[str, float]) -> Archive:
        """With more gate clusters of a version, as when it was the parent of a later candidate.

        Raises:
            ValueError: No version has this id.
        """
        version = self.version(policy_id)
        return self._with(replace(version, gate={**version.gate, **gate}))

    def measured(self, policy_id: str, tokens: float) -> Archive:
        """With the tokens per answer of a version; those that were known before stay.

        Raises:
            ValueError: No version has this id.
        """
        version = self.version(policy_id)
        return self if version.tokens is not None else self._with(replace(version, tokens=tokens))

    def version(self, policy_id: str) -> Version:
        """The version that is this policy.

        Raises:
            ValueError: No version has this id.
        """
        for version in self.versions:
            if version.policy.id == policy_id:
                return version
        raise ValueError(f"no accepted version has the id {policy_id}")

    def _with(self, changed: Version) -> Archive:
        same = changed.policy.id
        versions = tuple(changed if v.policy.id == same else v for v in self.versions)
        return replace(self, versions=versions)

    @property
    def allowed(self) -> tuple[Version, ...]:
        """Versions that keep the limit of tokens per answer; all of them where none does."""
        kept = [v for v in self.versions if self.constraints.too_dear(v.tokens) is None]
        return tuple(kept) or self.versions

    @property
    def common(self) -> tuple[str, ...]:
        """The gate clusters that every allowed version was judged on, sorted."""
        return tuple(sorted(set.intersection(*(set(v.gate) for v in self.allowed))))

    def estimates(self) -> tuple[float, ...] | None:
        """Empirical-Bayes accuracy of each allowed version on ``common``; None with fewer than two.

        Means are shrunk towards the mean of all versions. Easy and hard clusters are the same for
        all, so a mean's standard error is that of its differences to the versions' mean in each
        cluster, times sqrt(k / (k - 1)) for k versions, because that mean contains its own.
        """
        common, count = self.common, len(self.allowed)
        if len(common) < 2:
            return None
        scores = [[version.gate[key] for key in common] for version in self.allowed]
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

        Of allowed versions only. It is the next parent, too.

        The last accepted one where fewer than two clusters are common, as after many outside
        failures: then only its own gate speaks.
        """
        estimates, allowed = self.estimates(), self.allowed
        for version in allowed:
            if version.policy.id == self.chosen:
                return version
        if estimates is None:
            return allowed[-1]
        rounded = [round(estimate, 9) for estimate in estimates]  # 1e-17 is no lead
        return allowed[rounded.index(max(rounded))]

    def gate_gain(self) -> float | None:
        """Mean accuracy of the best version less that of the seed on ``common``, not shrunk.

        0 where the seed is the best; None where no cluster is common, the seed's included.
        """
        best, seed = self.best(), self.versions[0]
        common = [key for key in self.common if key in seed.gate]
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
