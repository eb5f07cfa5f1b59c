"""What an import found in its source, and the policy that it makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evolve.tables import Table
from policies.errors import ImportSourceError, PolicyFileError
from policies.policy import Lineage, Policy, make_policy, read_policy_text, seed_policy
from policies.settings import SETTINGS, SettingValue
from policies.text_rules import MOST_TOKENS
from policies.words import count_tokens

OPERATOR = "import"
"""Operator in the lineage of policies that were imported."""
_PAYS = {"write_prompt": "write", "reply_prompt": "reply", "answer_prompt": "answer"}
"""Text to what pays for its tokens; any call may show another text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        found: As it stands in the source, or in words.
        becomes: What it is in the policy, or why it is not there.
    """

    found: str
    becomes: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A source as a policy.

    Attributes:
        policy: Complete; what the source does not say is that of the architecture's seed.
        kind: What the source was taken for, in words.
        findings: In the order of the source.
    """

    policy: Policy
    kind: str
    findings: tuple[Finding, ...]

    @property
    def table(self) -> Table:
        """The findings for the screen."""
        findings = (*self.findings, *_long_texts(self.policy))
        rows = tuple((one.found, one.becomes) for one in findings)
        title = f"Read as {self.kind}, architecture {self.policy.architecture}"
        return Table(title, ("found", "becomes"), rows, left=2)


def completed(
    architecture: str,
    texts: Mapping[str, str],
    settings: Mapping[str, SettingValue],
    name: str,
) -> Policy:
    """A policy of an architecture with some of its texts and settings; the rest are the seed's.

    Raises:
        ImportSourceError: The result breaks a rule of policies.
    """
    seed = seed_policy(architecture)
    try:
        return make_policy(
            architecture,
            {**seed.texts, **texts},
            {**seed.settings, **settings},
            name,
            Lineage(operator=OPERATOR),
        )
    except PolicyFileError as error:
        # A placeholder is the only thing of the source that is quoted here.
        said = re.sub(r"(the unknown placeholder) \{\{.*?\}\}", r"\1", str(error), flags=re.S)
        raise ImportSourceError(f"What was read makes no policy: {said}") from error


def _long_texts(policy: Policy) -> Iterable[Finding]:
    """Texts longer than any that a rewriter may give back, such as a README taken for a prompt."""
    for name, text in policy.texts.items():
        tokens = count_tokens(text)
        if tokens > MOST_TOKENS:
            yield Finding(
                f"warning: {name} has {tokens:,} tokens",
                f"more than the {MOST_TOKENS:,} of a rewrite, and each {_PAYS.get(name, 'call')} "
                "pays for them; check that it is a prompt",
            )


def is_import(text: str) -> bool:
    """Whether a text is a policy file as an import writes it; those that evolved since are not."""
    if text.startswith("#"):  # an export, with its account on top
        return False
    try:
        return read_policy_text(text, "it").lineage.operator == OPERATOR
    except PolicyFileError:
        return False


def fitted(name: str, value: object, where: str) -> tuple[SettingValue, Finding]:
    """A number of the source as a setting: itself, or the nearest that the setting may have.

    Args:
        name: Of the setting.
        value: As found.
        where: What the source calls it.

    Raises:
        ImportSourceError: It is no whole number.
    """
    (setting,) = [one for one in SETTINGS if one.name == name]
    if type(value) is not int:
        raise ImportSourceError(
            f"{where} must be a whole number, but is {kind_of(value)}; mend it in the source."
        )
    known = setting.values or range(setting.low, setting.high + 1, setting.step)
    nearest = min((one for one in known if type(one) is int), key=lambda one: abs(one - value))
    said = f"setting {name} {nearest}"
    if nearest != value:
        said += f", the nearest that it may be: it {setting.rule}"
    return nearest, Finding(where, said)


def kind_of(value: object) -> str:
    """What kind of value a configuration has; never the value, as it may be a key of an API."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return "a text" if value.strip() else "a blank text"
    kinds = {bool: "true or false", int: "a whole number", float: "a number", list: "a list"}
    return kinds.get(type(value), "a mapping" if isinstance(value, dict) else "another kind")


def other_keys(keys: Iterable[str], known: Iterable[str]) -> tuple[Finding, ...]:
    """One finding of all keys that are not known; their number alone, as they may be secrets."""
    count = len(set(keys) - set(known))
    found = f"{count} other key{'s' * (count != 1)}"
    return (Finding(found, "not in a policy"),) if count else ()
