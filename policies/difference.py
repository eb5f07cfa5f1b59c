"""What differs between two policies, as text for people."""

from __future__ import annotations

import difflib

from policies.policy import Policy
from policies.settings import SETTINGS, as_text


def diff_policies(a: Policy, b: Policy) -> str:
    """What differs from ``a`` to ``b``: a line per setting, a unified diff per text; "" if nothing.

    Names, lineage and scores are not compared.
    """
    lines = [f"{name}: {before} → {after}" for name, before, after in changed_settings(a, b)]
    for name in dict.fromkeys([*a.texts, *b.texts]):
        lines += difflib.unified_diff(
            a.texts.get(name, "").split("\n"),
            b.texts.get(name, "").split("\n"),
            f"{a.short_id} {name}",
            f"{b.short_id} {name}",
            lineterm="",
        )
    return "".join(line + "\n" for line in lines)


def changed_settings(a: Policy, b: Policy) -> tuple[tuple[str, str, str], ...]:
    """Name, value in ``a`` and value in ``b`` of each setting that differs, the architecture first.

    Values are as in a policy file; a setting that one of them lacks is ``(none)`` there.
    """
    shown = [("architecture", a.architecture, b.architecture)]
    shown += [(one.name, _shown(a, one.name), _shown(b, one.name)) for one in SETTINGS]
    return tuple((name, before, after) for name, before, after in shown if before != after)


def _shown(policy: Policy, setting: str) -> str:
    return as_text(policy.settings[setting]) if setting in policy.settings else "(none)"
