"""The offline model's rewrite of a text where it is told that nothing is known of what failed.

It has no words but those of the text and a handful of fixed sentences: it splits what a bullet
lists into bullets of their own, or drops, moves and adds whole lines and sentences, by chance.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_BULLET = re.compile(r"^(\s*(?:[-*•]|\d+[.)])\s+)(.*)$")
_LISTED = re.compile(r",\s+|\s+and\s+|\s+or\s+|，|、|和|或")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_MOST_SPLIT = 3  # bullets that one rewrite splits


def varied(text: str, sentences: Sequence[str], draw: random.Random) -> str:
    """Another version of a text; the same one where it is too short to change.

    Args:
        text: A list of types, one per bullet, or instructions.
        sentences: Of which one may be added to instructions, in the text's language.
        draw: Chance.
    """
    lines = text.split("\n")
    bullets = [n for n, line in enumerate(lines) if _BULLET.match(line)]
    if len(bullets) >= max(1, sum(bool(line.strip()) for line in lines) - 1):
        return "\n".join(_varied_list(lines, bullets, draw))
    return _varied_prose(text, sentences, draw)


def _varied_list(lines: Sequence[str], bullets: Sequence[int], draw: random.Random) -> list[str]:
    """The list with some bullets split, or one dropped, or two exchanged."""
    new = list(lines)
    kind = draw.choice(("split", "split", "drop", "exchange"))
    if kind == "split" or len(bullets) < 3:
        chosen = draw.sample(bullets, min(len(bullets), draw.randint(1, _MOST_SPLIT)))
        return [piece for n, line in enumerate(new) for piece in _split(line, n in chosen)]
    one, other = draw.sample(bullets, 2)
    if kind == "drop":
        del new[one]
    else:
        new[one], new[other] = new[other], new[one]
    return new


def _split(line: str, chosen: bool) -> list[str]:
    """A bullet as one bullet for each thing that its explanation lists."""
    found = _BULLET.match(line)
    if not chosen or found is None:
        return [line]
    things = _LISTED.split(re.split("[:：]", found[2], maxsplit=1)[-1].strip())
    return [found[1] + thing.strip() for thing in dict.fromkeys(things) if thing.strip()]


def _varied_prose(text: str, sentences: Sequence[str], draw: random.Random) -> str:
    """The first paragraph without placeholders, with a sentence more, one fewer, or two moved."""
    paragraphs = text.split("\n\n")
    free = [n for n, one in enumerate(paragraphs) if "{" not in one and one.strip()]
    if not free:
        return text
    place = free[0]
    said = [one for one in _SENTENCE.split(paragraphs[place]) if one.strip()]
    missing = [one for one in sentences if one not in text]
    if missing and (len(said) < 3 or draw.random() < 0.5):
        paragraphs[place] = f"{paragraphs[place].rstrip()}\n{draw.choice(missing)}"
        return "\n\n".join(paragraphs)
    if len(said) < 3:
        return text
    one, other = draw.sample(range(len(said)), 2)
    if draw.random() < 0.5:
        del said[one]
    else:
        said[one], said[other] = said[other], said[one]
    paragraphs[place] = (" " if text.isascii() else "").join(said)
    return "\n\n".join(paragraphs)
