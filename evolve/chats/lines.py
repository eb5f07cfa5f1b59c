"""Objects of a file in JSON Lines or a JSON list, each with its place."""

from __future__ import annotations

from evolve.gym.checked import Place, Record, parse_json
from policies.errors import EnvironmentFileError


def objects_of(data: bytes, source: str) -> list[Record]:
    """The objects of a file that holds one per line, or a list of them.

    Args:
        data: Its bytes, UTF-8.
        source: Names it in messages.

    Raises:
        EnvironmentFileError: In one sentence: it is empty, no UTF-8, or a line is no JSON object.
    """
    place = Place(source, EnvironmentFileError)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        content = parse_json(data, source, EnvironmentFileError)
        return [at.record(item) for at, item in place.members(content, "the file", "object")]
    objects = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if line.strip():
            at = place.at("line", str(number))
            content = parse_json(line, f"{source}, line {number}", EnvironmentFileError)
            objects.append(at.record(content))
    if not objects:
        raise place.wrong("the file holds nothing", "put one object in braces on each line")
    return objects
