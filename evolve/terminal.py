"""Everything that commands print: what others wrote is shown, and never obeyed by a terminal.

Names, options and files of others may hold escape sequences, which move the cursor or change what
was printed before, and characters that turn the direction of a line. Each is shown as JSON would
write it, so that JSON stays what it is. Text of any language stays as it is.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\u2028-\u202e\u2066-\u2069"  # breaks of lines, and turns of direction that outlast a letter
    "\ud800-\udfff]"  # halves of a character, as of bytes in a file's name that are no UTF-8
)
_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def visible(text: str) -> str:
    r"""A text of any number of lines; what a terminal would obey is shown as ``\u001b``."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_line(text: str) -> str:
    """A text in one line, as in a cell or a message: breaks and tabs are shown, too."""
    return visible(text).translate(_BREAKS)


def say(text: str = "", *, file: TextIO | None = None) -> None:
    """Print a text and a line's end at once, as several threads may print, by default to stdout."""
    print(visible(text) + "\n", end="", file=file, flush=True)


def warn(text: str) -> None:
    """Print a text to stderr."""
    say(text, file=sys.stderr)


def agrees(question: str) -> bool:
    """Whether the user answers a question with yes; no answer is none."""
    try:
        answer = input(f"{visible(question)} [y/N] ")
    except EOFError:
        return False
    return answer.strip().casefold() in {"y", "yes"}
