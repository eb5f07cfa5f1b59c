"""The candidates of a run as its folder keeps them: verdicts of the journal, policies of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve.optimize.base import Verdict
from evolve.results.journal_lines import Lines
from policies.policy import Policy, read_policy


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A candidate of which the journal holds a verdict.

    Attributes:
        name: Its generation and place in it, such as ``gen-003.1``.
        policy: The policy; where nothing came of the proposal, that which it was to change.
        verdict: What became of it.
        proposal: What was asked for and replied, as journaled: ``proposal`` (``operator``,
            ``texts``, ``settings``, ``merged``, ``architecture``), ``rejected`` (why, or None) and
            ``usage``; gepa's has ``reply`` and ``usage``. Empty where nobody was asked.
    """

    name: str
    policy: Policy
    verdict: Verdict
    proposal: Mapping[str, Any]

    @property
    def generation(self) -> int:
        """From 1."""
        return generation_of(self.name)

    @property
    def changed(self) -> bool:
        """Whether anything came of the proposal; where not, the policy is what it was made from."""
        return self.verdict.candidate != self.verdict.incumbent

    @property
    def parents(self) -> tuple[str, ...]:
        """Ids of the policies that it was made from, that which it changes first."""
        return self.policy.lineage.parents if self.changed else (self.policy.id,)

    @property
    def operator(self) -> str:
        """What proposed it."""
        return self.verdict.operator


@dataclass(frozen=True, slots=True)
class Candidates:
    """All of a run's.

    Attributes:
        records: In the order of their verdicts.
        missing: Names of those whose policy is in no file of the folder.
        policies: By id, what was handed in as known included.
    """

    records: tuple[CandidateRecord, ...]
    missing: tuple[str, ...]
    policies: Mapping[str, Policy]

    def versions(self, seed: Policy) -> tuple[Policy, ...]:
        """The seed, then what was accepted, in order and each once."""
        accepted = (one.policy for one in self.records if one.verdict.accepted)
        return tuple({policy.id: policy for policy in (seed, *accepted)}.values())


def read_candidates(folder: Path, lines: Lines, known: Iterable[Policy]) -> Candidates:
    """Read the candidates of a run.

    Args:
        folder: Of the run.
        lines: Its journal's.
        known: Policies that a candidate may be equal to: then it has no file.

    Raises:
        UserError: A file or a line cannot be read.
    """
    proposals = dict(lines.of("proposal"))
    policies = {policy.id: policy for policy in known}
    records: list[CandidateRecord] = []
    missing: list[str] = []
    for name, data in lines.of("verdict"):
        verdict = Verdict(**data)
        policy = _policy(folder, name, verdict.candidate) or policies.get(verdict.candidate)
        if policy is None:
            missing.append(name)
            continue
        policies.setdefault(policy.id, policy)
        records.append(CandidateRecord(name, policy, verdict, proposals.get(name, {})))
    return Candidates(tuple(records), tuple(missing), policies)


def generation_of(name: str) -> int:
    """The generation in a candidate's name, from 1."""
    return int(name.removeprefix("gen-").partition(".")[0])


def _policy(folder: Path, name: str, policy_id: str) -> Policy | None:
    """The policy of a candidate by its file, or that of the version that it became."""
    short = policy_id[:8]
    places = (
        folder / "candidates" / f"{name}-{short}.yaml",
        folder / "policies" / f"gen-{generation_of(name):03d}-{short}.yaml",
    )
    return next((read_policy(place) for place in places if place.is_file()), None)
