"""A system prompt that a policy was exported as (``openai``) as a policy: sections are texts."""

from __future__ import annotations

import re

from evolve.exporting.account import SIGN
from evolve.exporting.to_openai import MEMORIES, NOTES, QUESTIONS, REPLIES, SETTINGS
from evolve.importing.imported import Finding, Imported, completed
from evolve.importing.placeholders import find_placeholders
from evolve.importing.prompt import ARCHITECTURE, import_prompt, reply_texts, write_texts

_COMMENT = re.compile(rf"<!--\s*{SIGN}.*?-->", re.S)
_TITLES = "|".join((NOTES, REPLIES, QUESTIONS, MEMORIES, SETTINGS))
_TITLE = re.compile(rf"^# ({_TITLES})[ \t]*$", re.M)
_PROMPTS = {NOTES: "write_prompt", REPLIES: "reply_prompt", QUESTIONS: "answer_prompt"}


def is_openai(text: str) -> bool:
    """Whether a prompt begins with the account of an export, which is no part of it."""
    return _COMMENT.match(text) is not None


def import_openai(text: str, name: str) -> Imported:
    """A policy from an export for a chat API: its prompts; settings, which are words, are a seed's.

    Args:
        text: The export, with its comment.
        name: Of the policy.

    Raises:
        ImportSourceError: There is nothing in it but the comment.
    """
    body = _COMMENT.sub("", text, count=1)
    above, *parts = _TITLE.split(body)
    sections = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    if not any(sections.get(title) for title in _PROMPTS):
        return import_prompt(body, name)
    findings = [Finding("the comment on top", "notes of an export, not read")]
    if above.strip():
        findings.append(Finding("words above the sections", "not in a policy"))
    texts: dict[str, str] = {}
    for title, told in sections.items():
        if title in _PROMPTS and told:
            made, found = _texts(title, told)
            texts |= made
            findings += [*found, Finding(f"section {title}", f"text {_PROMPTS[title]}")]
        elif title == SETTINGS:
            findings.append(Finding(f"section {title}", "those of the seed, as these are words"))
    policy = completed(ARCHITECTURE, texts, {}, name)
    return Imported(policy, "an export for openai", tuple(dict.fromkeys(findings)))


def _texts(title: str, told: str) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """The texts of a policy from a section, and what was found beside the section itself."""
    if title == NOTES:
        texts, found = write_texts(told, *find_placeholders(told))
        return texts, found[:-1]
    texts, found = reply_texts(told, *find_placeholders(told))
    return {_PROMPTS[title]: texts[_PROMPTS[title]]}, found[:-1]
