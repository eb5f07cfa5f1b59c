"""What a text has to keep so that replies can be read: no false placeholders, and its JSON form."""

from __future__ import annotations

import re

from policies.errors import RejectedTextError
from policies.placeholders import fill, names


def check_form(parent_text: str, new_text: str) -> None:
    """Check the form of a rewritten text.

    Args:
        parent_text: The text that was rewritten.
        new_text: The rewrite.

    Raises:
        RejectedTextError: It has braces that only look like a placeholder, or has lost the words or
            the braces that ask for a JSON object.
    """
    singles = (rf"{{\s*{name}\s*}}" for name in names(parent_text))
    odd = re.compile("|".join((r"{{[^{}\n]*}*", *singles)))
    known = odd.findall(_unfilled(parent_text))
    for found in odd.findall(_unfilled(new_text)):
        if found not in known:
            raise RejectedTextError(f"the rewrite has {found[:40]!r}, which is no placeholder")
    if form_of(parent_text) - form_of(new_text):
        raise RejectedTextError("the rewrite no longer asks for a JSON object, or shows none")


def form_of(text: str) -> set[str]:
    """What in a text asks for a JSON object: the word, and braces that show one."""
    own = _unfilled(text).casefold()
    return {sign for sign in ("json", "{") if sign in own} if "json" in own else set()


def _unfilled(text: str) -> str:
    """A text without its placeholders."""
    return fill(text, dict.fromkeys(names(text), ""))
