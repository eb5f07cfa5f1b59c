"""Export as a policy file of Mnemotune's own, which says what it was tuned to wherever it goes."""

from __future__ import annotations

from dataclasses import replace

from evolve.exporting.account import ARCHITECTURE, Export, Fate, comment, settled
from evolve.exporting.origin import TUNED_TO, Origin
from policies.policy import Policy, policy_to_yaml


def to_yaml(policy: Policy, origin: Origin) -> Export:
    """The policy whole, with a comment on top."""
    parts = (ARCHITECTURE, *policy.texts, *policy.settings)
    told = [Fate(part, "carried", f"{part} of the file") for part in parts]
    fates = settled(policy, told, "")
    if policy.lineage.run is not None:
        policy = replace(policy, scores={**policy.scores, TUNED_TO: origin.sentence})
    lines = [f"# {line}\n" for line in comment(policy, origin, fates)]
    return Export("".join(lines) + policy_to_yaml(policy), fates)
