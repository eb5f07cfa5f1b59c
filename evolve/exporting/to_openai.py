"""Export as one plain system prompt, for any chat API: instructions, and settings in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evolve.exporting.account import ARCHITECTURE, SIGN, Export, Fate, comment, settled
from evolve.exporting.instructions import (
    Instructions,
    heading_of,
    in_words,
    paragraphs,
    write_instructions,
)
from evolve.exporting.origin import Origin
from policies.policy import Policy
from policies.settings import SettingValue

OPENING = f"<!--\n{SIGN}"
"""How such a text begins."""

NOTES, REPLIES, QUESTIONS = "Notes on the user", "Replies", "Questions"
MEMORIES, SETTINGS = "Memories", "Settings"
_NOTES = "(your notes, where you are given any)"
_ASKED = "the system prompt asks for it in words, which a model may not keep to"
_OTHERWISE = "no words to a model can do it"
_WORDS: Mapping[str, Callable[[SettingValue], str | None]] = {
    "write_every": lambda n: f"Bring your notes up to date after every {n} messages.",
    "local_window": lambda n: (
        f"Take the last {n} messages as they were said; they need no notes yet."
        if n
        else "Rely on your notes, also for what was said just now."
    ),
    "top_k": lambda n: f"Weigh at most the {n} notes that bear most on the message.",
    "recency_half_life": lambda n: (
        None
        if n is None
        else f"Newer notes count for more: one that is {n} sessions old counts for half."
    ),
    "supersede": lambda on: (
        "A new value of a fact replaces the old one."
        if on
        else "Keep old values of a fact beside new ones, with when each was said."
    ),
    "memory_order": lambda order: (
        "Read your notes from the oldest to the newest."
        if order == "time"
        else "Read the notes first that bear most on the message."
    ),
    "max_memory_tokens": lambda n: (
        f"Keep all notes together under {n} tokens; drop what was not said again for longest."
    ),
}
"""Setting to what its value is in words; None where nothing has to be said."""


def to_openai(policy: Policy, origin: Origin) -> Export:
    """A Markdown text to send as the system message; what it lacks is in a comment on top."""
    told = write_instructions(policy)
    sections = [f"# {NOTES}\n\n{told.text}"] if told.text else []
    sections += _prompts(policy)
    said = _said(policy)
    if said:
        sections.append(f"# {SETTINGS}\n\n" + "\n".join(f"- {words}" for words in said.values()))
    fates = settled(policy, _fates(policy, told, said), _OTHERWISE)
    notes = comment(policy, origin, fates, told.left_out)
    lines = "\n".join(line.replace("--", "—") for line in notes)  # which would end the comment
    text = f"<!--\n{lines}\n-->\n\n" + "\n\n".join(sections) + "\n"
    return Export(text, fates, left_out=told.left_out)


def _prompts(policy: Policy) -> list[str]:
    """The prompts for replies and answers, and once for both what shows the memories."""
    sections, headings = list[str](), dict[str, None]()
    for title, name in ((REPLIES, "reply_prompt"), (QUESTIONS, "answer_prompt")):
        kept = []
        for paragraph in paragraphs(policy.texts.get(name, "")):
            heading = heading_of(paragraph, "memories")
            if heading is None:
                kept.append(in_words(paragraph, memories="your notes"))
            else:
                headings[heading] = None
        if kept:
            sections.append(f"# {title}\n\n" + "\n\n".join(kept))
    if headings:
        shown = "\n".join(heading for heading in headings if heading)
        sections.append(f"# {MEMORIES}\n\n{shown}\n{_NOTES}")
    return sections


def _said(policy: Policy) -> dict[str, str]:
    found = {name: _WORDS[name](value) for name, value in policy.settings.items() if name in _WORDS}
    return {name: words for name, words in found.items() if words is not None}


def _fates(policy: Policy, told: Instructions, said: Mapping[str, str]) -> list[Fate]:
    fates = [
        Fate("reply_prompt", "carried", f"section {REPLIES}"),
        Fate("answer_prompt", "carried", f"section {QUESTIONS}"),
        told.types_fate(f"section {NOTES}"),
        told.fate(f"section {NOTES}"),
        Fate("recency_half_life", "carried", "off, as in any prompt"),
    ]
    if policy.architecture not in {"none", "native"}:
        kept = "nothing but the conversation keeps the notes, unless your code does"
        fates.append(Fate(ARCHITECTURE, "lost", kept))
    else:
        fates.append(Fate(ARCHITECTURE, "carried", "a chat keeps no notes"))
    window = "your code hands over so many tokens of history"
    fates.append(Fate("context_tokens", "yours", window))
    return [*fates, *(Fate(name, "words", _ASKED) for name in said)]
