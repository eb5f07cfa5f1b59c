"""What differs between two policies, as text for people."""

from __future__ import annotations

import difflib

from policies.policy import Policy
from policies.settings import SETTINGS, as_text


def diff_policies(a: Policy, b: Policy) -> str:
    """What differs from ``a`` to ``b``: a line per setting, a unified diff per text; "" if nothing.

    Names, lineage and scores are not compared.
    """
    lines = []
    if a.architecture != b.architecture:
        lines.append(f"architecture: {a.architecture} → {b.architecture}")
    for name in (setting.name for setting in SETTINGS):
        before, after = (_shown(policy, name) for policy in (a, b))
        if before != after:
            lines.append(f"{name}: {before} → {after}")
    for name in dict.fromkeys([*a.texts, *b.texts]):
        lines += difflib.unified_diff(
            a.texts.get(name, "").split("\n"),
            b.texts.get(name, "").split("\n"),
            f"{a.short_id} {name}",
            f"{b.short_id} {name}",
            lineterm="",
        )
    return "".join(line + "\n" for line in lines)


def _shown(policy: Policy, setting: str) -> str:
    return as_text(policy.settings[setting]) if setting in policy.settings else "(none)"
