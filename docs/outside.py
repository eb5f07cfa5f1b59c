"""A hook of mkdocs: links to files beside docs/ become their names, as a site holds docs/ alone."""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")
_INDEX = {"README.md": "index.md"}  # what the README says first, the first page says, too


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Keep links within docs/, and name what others lead to."""
    folder = posixpath.dirname(page.file.src_uri)

    def kept(found: re.Match[str]) -> str:
        text, target, _ = found.groups()
        place = posixpath.normpath(posixpath.join("docs", folder, target))
        if place.startswith("docs/"):
            return found[0]
        if place in _INDEX:
            return f"[{text}]({posixpath.relpath(_INDEX[place], folder or '.')})"
        return text if text.strip("`") == place else f"{text} (`{place}`)"

    return _LINK.sub(kept, markdown)
