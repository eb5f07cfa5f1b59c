"""What a new text must be, beside the rules that every rewrite obeys."""

from __future__ import annotations

import re

from policies.errors import RejectedTextError
from policies.text_rules import RewriteRules, check_rewrite

_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+\S", re.MULTILINE)


def check_text(
    name: str, old: str, new: str | None, rules: RewriteRules, *, shorter: bool = False
) -> None:
    """Check a new text against the one that it is to replace.

    Args:
        name: Of the text.
        old: The parent's.
        new: The rewrite; None where a model gave none.
        rules: Of the run.
        shorter: Whether it must be.

    Raises:
        RejectedTextError: A rule is broken, the text is a list or an object of JSON, a list of
            types has lost its bullets, or the text had to be shorter and is not.
    """
    _check_is_text(new)
    check_rewrite(old, new, rules)
    text = new or ""  # not None: check_rewrite has said so
    if name == "memory_types" and _BULLET.search(old) and not _BULLET.search(text):
        raise RejectedTextError("the rewrite has no bullets, which facts are kept under")
    if shorter and len(text.encode()) >= len(old.encode()):
        raise RejectedTextError("the rewrite was to be shorter, but is not")


def with_ends_of(old: str, new: str | None) -> str | None:
    """White space at the ends as in the old text: a reply's format does not carry it."""
    if new is None or not new.strip():
        return new
    start = old[: len(old) - len(old.lstrip())]
    return start + new.strip() + old[len(old.rstrip()) :]


def _check_is_text(new: str | None) -> None:
    """Refuse data structures, which a JSON reply may hold where text was asked for."""
    bare = (new or "").strip()
    as_object = bare.startswith("{") and not bare.startswith("{{") and bare.endswith("}")
    if as_object or (bare.startswith("[") and bare.endswith("]")):
        raise RejectedTextError("the rewrite is a list or an object, not text")
