"""Every prompt and setting that a policy may have is in an export, or listed there as left out."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from evolve.agents.own import declare_class
from evolve.exporting.formats import FORMATS
from evolve.exporting.origin import UNTUNED, Origin
from feedback.routing import PARTS
from policies.placeholders import TEXTS, required, texts_of
from policies.policy import ARCHITECTURES, seed_policy
from policies.settings import SETTINGS, applicable, as_text
from tests.evolve.exporting.test_formats import REFUSED

ORIGIN = Origin(UNTUNED, real=False)
ACCOUNT = ("carried_over", "asked_for_in_words", "left_to_your_code", "not_expressed")


def own(*texts):
    """The architecture of a memory system of one's own with some texts and all settings."""
    marks = {name: f"Of {name}." for name in PARTS if name in texts}
    settings = {setting.name: setting.default for setting in SETTINGS}
    return declare_class(type("Own", (), {"texts": marks, "settings": settings}))


OWN = [(), ("memory_types",), ("write_prompt",), ("memory_types", "write_prompt", "reply_prompt")]
KINDS = [*((name,) for name in ARCHITECTURES), *OWN]


def cases():
    for format_name in FORMATS:
        for kind in KINDS:
            pair = (format_name, kind[0] if kind else "")
            unknown = kind in OWN and format_name == "amemgym"  # which has no such type
            unwritten = kind in OWN[:2] and format_name == "langmem"
            if pair not in REFUSED and not unknown and not unwritten:
                yield format_name, kind


@pytest.fixture(params=cases(), ids=lambda case: "-".join((case[0], *case[1])))
def seed_and_export(request):
    """A seed policy, and what exports a policy: fates, its file without and with the account."""
    format_name, kind = request.param
    seed = seed_policy(kind[0] if kind in [(name,) for name in TEXTS] else own(*kind))

    def export(policy):
        made = FORMATS[format_name](policy, ORIGIN)
        return {fate.part: fate for fate in made.fates}, *apart(made.text)

    return seed, export


def apart(text):
    """What a target reads of a file, and what people read of it."""
    if text.startswith("{"):
        content = json.loads(text)
        told = content.pop("mnemotune")
        account = {key: told.pop(key) for key in ACCOUNT if key in told}
        kept = told.get("settings", {})
        return json.dumps([content, kept]), json.dumps(account)
    if text.startswith("<!--"):
        account, _, content = text.partition("-->")
        return content, account
    lines = text.splitlines(keepends=True)
    comment = [line for line in lines if line.startswith("#")]
    content = [line for line in lines if not line.startswith(("#", "id:"))]
    return "".join(content), "".join(comment)


def values(setting):
    if setting.values:
        return setting.values
    numbers = (setting.low, setting.low + setting.step, setting.high)
    return (*numbers, None) if setting.optional else numbers


def test_a_setting_makes_a_difference_or_is_listed(seed_and_export):
    seed, export = seed_and_export
    for setting in applicable(seed.architecture):
        told = []
        for value in values(setting):
            fates, content, account = export(seed.derive(settings={setting.name: value}))
            if fates[setting.name].how in {"lost", "yours"}:
                assert f"{setting.name} {as_text(value)}" in account
            else:
                told.append((value, content))
        for (one, content), (other, different) in combinations(told, 2):
            assert content != different, (setting.name, one, other)


def test_a_text_is_there_or_listed(seed_and_export):
    seed, export = seed_and_export
    for name in texts_of(seed.architecture):
        slots = "".join(f" {{{{{slot}}}}}" for slot in sorted(required(seed.architecture, name)))
        text = f"Canary of {name}.\n\nJSON {{}} of{slots}"
        fates, content, account = export(seed.derive(texts={name: text}))
        if fates[name].how == "lost":
            assert name in account
        else:
            assert f"Canary of {name}." in content
