"""A prompt that somebody has: which text of a policy it is, and the policy around it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evolve.importing.imported import Finding, Imported, completed
from evolve.importing.placeholders import Placeholder, find_placeholders, rewritten
from evolve.importing.types_list import as_list, bullets, take_types
from policies.errors import ImportSourceError
from policies.placeholders import names

ARCHITECTURE = "awe"  # memory that a model writes and a search reads, as most have it

FORM = (
    'Whatever is said above of the form, answer with one JSON object and nothing else, {"label": '
    '"value", ...}: each label is one of the types to write down, each value one short statement. '
    "If there is nothing to write down, answer {}."
)
"""What is added to a prompt that asks for another form, as memory is written from this one."""

_SECTIONS: Mapping[str, str] = {
    "memory_types": "Types of information to write down:",
    "memories": "Notes so far:",
    "conversation": "New part of the conversation:",
}
"""Placeholders of a write prompt, with the heading under which a missing one is added."""

_SHOWN = "What you remember about the user:"
_BELOW: Mapping[str, str] = {
    "message": "(the message of the user, below)",
    "conversation": "(the conversation, below)",
    "memory_types": "(what is worth remembering)",
}
"""What stands for placeholders of a reply prompt: Mnemotune shows these as turns of the chat."""

_WRITES = re.compile(
    r"\b(?:extract|memori[sz]e|record|write down|update)\w*|提取|抽取|记录|更新|抽出|記録", re.I
)
_REMEMBERS = re.compile(
    r"\b(?:memor(?:y|ies)|remember|facts?|notes?|profile)\b|记忆|事实|信息|記憶|事実|情報", re.I
)
_LABELLED = re.compile(r"\{\s*\"[^\"]+\"\s*:\s*(?:\"|\.\.\.)")
_LISTED = re.compile(r"\"\w+\"\s*:\s*\[")


def import_prompt(text: str, name: str) -> Imported:
    """A policy from one prompt.

    A list alone is what to remember. A prompt that writes memory, and one that replies, are told
    apart by their placeholders and words. The policy's other texts are those of the seed.

    Args:
        text: The prompt.
        name: Of the policy.

    Raises:
        ImportSourceError: There is nothing in it.
    """
    if not text.strip():
        raise ImportSourceError("A prompt must have words, but this one is empty; write one.")
    style, found = find_placeholders(text)
    if not found and (items := bullets(text)):
        listed = Finding(f"a list of {len(items)} items", "text memory_types")
        policy = completed(ARCHITECTURE, {"memory_types": as_list(items)}, {}, name)
        return Imported(policy, "a list of what to remember", (listed,))
    if _is_write(text, found):
        texts, findings = write_texts(text, style, found)
        kind = "a prompt that writes memory"
    else:
        texts, findings = reply_texts(text, style, found)
        kind = "a prompt that replies"
    return Imported(completed(ARCHITECTURE, texts, {}, name), kind, findings)


def _is_write(text: str, found: tuple[Placeholder, ...]) -> bool:
    meanings = {one.meaning for one in found}
    writes = bool(_WRITES.search(text)) and bool(_REMEMBERS.search(text))
    if meanings & {"conversation", "memory_types"}:
        return writes or "message" not in meanings
    return writes and "json" in text.casefold()


def write_texts(
    text: str, style: str, found: tuple[Placeholder, ...]
) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """The texts of a policy from a prompt that writes memory, and what was found in it.

    Args:
        text: The prompt.
        style: Of its placeholders.
        found: Its placeholders.
    """
    meaning = {one.name: one.meaning for one in found}
    if "conversation" not in meaning.values():  # "input" is then what was said
        meaning = {n: "conversation" if m == "message" else m for n, m in meaning.items()}
    new = rewritten(text, style, lambda name: _put(name, meaning[name], _SECTIONS)).strip()
    findings = [
        _told(one.written, _put(one.name, meaning[one.name], _SECTIONS), "write_prompt")
        for one in found
    ]
    texts = {}
    taken = None if "memory_types" in names(new) else take_types(new)
    if taken is not None:
        new = f"{taken.before}{{{{memory_types}}}}\n{taken.after}".strip()
        texts["memory_types"] = taken.types
        findings.append(Finding(f"a list of {taken.count} types to remember", "text memory_types"))
    added = []
    if not _LABELLED.search(new) or _LISTED.search(new):
        added.append(FORM)
        findings.append(Finding("no JSON object of labels and values", "asked for at the end"))
    for name, heading in _SECTIONS.items():
        if name not in names(new):
            added.append(f"{heading}\n{{{{{name}}}}}")
            findings.append(Finding(f"no place for {name}", f"{{{{{name}}}}} added at the end"))
    texts["write_prompt"] = "\n\n".join([new, *added]) + "\n"
    return texts, (*findings, Finding("the prompt", "text write_prompt"))


def reply_texts(
    text: str, style: str, found: tuple[Placeholder, ...]
) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """The same from a prompt that replies, which is also what questions are answered by."""
    meaning = {one.name: one.meaning for one in found}
    kept = ("memories",)
    new = rewritten(text, style, lambda name: _put(name, meaning[name], kept)).strip()
    findings = [
        _told(one.written, _put(one.name, one.meaning, kept), "reply_prompt") for one in found
    ]
    if "memories" not in names(new):
        new = f"{new}\n\n{_SHOWN}\n{{{{memories}}}}"
        findings.append(Finding("no place for memories", "{{memories}} added at the end"))
    findings.append(Finding("the prompt", "texts reply_prompt and answer_prompt"))
    return {"reply_prompt": f"{new}\n", "answer_prompt": f"{new}\n"}, tuple(findings)


def _put(name: str, meaning: str | None, kept: Mapping[str, str] | tuple[str, ...]) -> str:
    """What stands for a placeholder: one of the policy's, or words."""
    if meaning in kept:
        return f"{{{{{meaning}}}}}"
    return _BELOW.get(meaning or "", f"({name.replace('_', ' ').replace('.', ' ')})")


def _told(written: str, put: str, text_name: str) -> Finding:
    if put.startswith("{{"):
        return Finding(written, f"{put} of {text_name}")
    why = "which stands there by itself" if put in _BELOW.values() else "as nothing fills it"
    return Finding(written, f"the words {put}, {why}")
