"""The second look at a text: which states it lets a reader know, and with which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.replies import as_object
from evolve.lm.json_text import FormatError

_TOLD = Step(
    "told",
    "Read the text like somebody who knows nothing else of its writer. Which of the states below "
    "does it tell, or let a careful reader conclude with confidence, and with which value? Name "
    "state and value exactly as they stand there. Leave out every state of which the text says "
    "nothing, or nothing that decides between its values; {} is a good reply.",
    '{"told": {"state": "value", …}}',
    "told",
)


def told(author: Author, text: str, schema: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    """State to the value that a text lets a reader know.

    Args:
        author: Reads it.
        text: As the assistant would see it.
        schema: The states that are looked for, with all their values.

    Raises:
        FormatError: What was said of it cannot be read.
    """

    def read(value: object) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for name, given in as_object(value, "what the text tells").items():
            if name not in schema or given not in schema[name]:
                raise FormatError(f"{name!r} with {given!r} is no state with one of its values")
            found[name] = str(given)
        return found

    material = {"text": text, "states": {name: list(values) for name, values in schema.items()}}
    return author.check(_TOLD, material, read)
