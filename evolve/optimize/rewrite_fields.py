"""What a rewriter is shown: what a text is for, its rules, its feedback, and what worked before."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evolve.optimize.base import ProposalContext, Tried
from evolve.optimize.credit import operator_of, parts_of
from policies.placeholders import names
from policies.policy import Policy
from policies.settings import SettingValue, applicable, as_text
from policies.text_form import form_of
from policies.words import count_tokens

EXAMPLES = 2  # earlier rewrites that were accepted, shown to the rewriter at most
LONGEST_EXAMPLE = 1200  # tokens of an example's old and new text together
_MOST_BYTES = 8000  # what policies.text_rules allows: 2,000 tokens, and twice the parent
_MOST_GROWTH = 2
_HEADING = re.compile(r"^### .+$", re.MULTILINE)
_MOST_CHANGES = 12  # states that a repair is told of, either way

PURPOSES: Mapping[str, str] = {
    "memory_types": (
        "the list of types of information that are written down about the user, one per bullet;"
        " facts are kept under the words of a bullet, up to its colon if it has one, and what fits"
        " no bullet is forgotten"
    ),
    "write_prompt": (
        "the instructions by which new messages of a conversation are turned into notes on the user"
    ),
    "reply_prompt": (
        "the instructions by which the assistant replies to the user's messages; what it asks the"
        " user about, it may learn"
    ),
    "answer_prompt": (
        "the instructions by which the assistant answers a question on the user's behalf, from what"
        " it has in memory"
    ),
}


def common_fields(context: ProposalContext, name: str, most: int | None = None) -> dict[str, str]:
    """The input fields that all operators share.

    Args:
        context: Of the proposal.
        name: The text that is rewritten.
        most: Bytes of the new text; by default as many as a rewrite may have.
    """
    feedback = context.feedback.texts.get(name, "").strip() or "No failure was blamed on this text."
    last = context.last_verdict
    if (
        last
        and not last.accepted
        and last.incumbent == context.parent.id
        and name in parts_of(last.operator)
    ):
        feedback += f"\n\nThe last attempt at this text was not kept: {last.reason}"
    return {
        "purpose": f"{name}: {PURPOSES[name]}",
        "rules": _rules(context.parent.texts[name], most),
        "feedback": feedback,
    }


def settings_text(parent: Policy, changed: Mapping[str, SettingValue]) -> str:
    """Settings as they will be, one per line, and what the changed ones were."""
    lines = []
    for setting in applicable(parent.architecture):
        old = parent.settings[setting.name]
        new = changed.get(setting.name, old)
        was = f" (was {as_text(old)})" if setting.name in changed else ""
        lines.append(f"- {setting.name}: {as_text(new)}{was}: {setting.meaning}")
    return "\n".join(lines)


def changes_text(changes: Mapping[str, int]) -> str:
    """What a rejected candidate did worse and better than its parent, worst first."""
    worse = [(state, count) for state, count in changes.items() if count > 0][:_MOST_CHANGES]
    better = sorted((count, state) for state, count in changes.items() if count < 0)[:_MOST_CHANGES]
    lines = [f"worse: {state}, {count} more wrong answers" for state, count in worse]
    lines += [f"better: {state}, {-count} fewer wrong answers" for count, state in better]
    return "\n".join(lines) or "No type of state went clearly worse or better."


def headings(feedback: str) -> str:
    """Only which types failed and how often, without anything that a user said."""
    return "\n".join(_HEADING.findall(feedback))


def examples(context: ProposalContext, name: str) -> list[dict[str, str]]:
    """Fields of earlier rewrites of this text that were accepted, the latest last.

    Their feedback is cut down to its headings, so that what users said is shown but once.
    """
    found = [
        _example(tried, name)
        for tried in context.tried
        if tried.verdict.accepted
        and operator_of(tried.verdict.operator).partition("+")[0] == "rewrite"
        and name in parts_of(tried.verdict.operator)
        and name in tried.parent.texts
    ]
    short = [
        one
        for one in found
        if count_tokens(one["current_text"]) + count_tokens(one["new_text"]) <= LONGEST_EXAMPLE
    ]
    return short[-EXAMPLES:]


def sections(feedback: str) -> dict[str, str]:
    """Failing type to its heading and evidence, in the feedback's order."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in feedback.split("\n"):
        if line.startswith("### "):
            lines = found.setdefault(line.removeprefix("### ").partition(": ")[0], [])
        lines.append(line)
    return {state: "\n".join(said).strip() for state, said in found.items()}


def _example(tried: Tried, name: str) -> dict[str, str]:
    old = tried.parent.texts[name]
    return {
        "purpose": f"{name}: {PURPOSES[name]}",
        "rules": _rules(old, None),
        "current_text": old.strip(),
        "feedback": headings(tried.feedback.texts.get(name, "")),
        "new_text": tried.policy.texts[name].strip(),
    }


def _rules(text: str, most: int | None) -> str:
    """What a rewrite of a text must obey, in words."""
    kept = ", ".join(f"{{{{{name}}}}}" for name in names(text))
    room = min(_MOST_BYTES, 4 * _MOST_GROWTH * count_tokens(text))
    return "\n".join(
        (
            f"- Keep each of the placeholders {kept}, and add no others."
            if kept
            else "- Use no placeholders in double braces.",
            *(["- Keep asking for a JSON object, and showing one."] if form_of(text) else []),
            f"- At most {room if most is None else min(room, most)} characters, a Chinese or"
            " Japanese one counted as three.",
            "- Write in the language of the current text.",
            "- Name types of information, never the value that some user has.",
            "- Do not copy phrases from users' messages, questions or answers.",
            "- No fences, no quotes around the text, no remarks on it.",
        )
    )
