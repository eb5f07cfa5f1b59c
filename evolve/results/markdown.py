"""Markdown that a run wrote, as HTML that can do no harm: no markup of its own, links or images."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LEFT_ALONE = ("image", "link", "autolink", "html_inline", "html_block", "reference", "entity")


def to_html(text: str) -> str:
    """A text as HTML; what users said stands in it as they said it, whatever it looks like."""
    html: str = _reader().render(text)
    return html


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(list(_LEFT_ALONE))
