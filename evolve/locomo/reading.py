"""Reads a file in LoCoMo's layout, and tells such a file from others by its content."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from evolve.gym.checked import Place, Record, parse_json, read_bytes, shown
from evolve.locomo.dialogues import (
    ADVERSARIAL,
    CATEGORIES,
    Dialogue,
    Oddity,
    OpenQuestion,
    Session,
    Turn,
)
from evolve.locomo.evidence import read_evidence
from policies.errors import EnvironmentFileError

_SESSION = re.compile(r"session_(\d{1,6})")
_KEYS = ("conversation", "qa")


def is_locomo(path: str | Path) -> bool:
    """Whether a file is in LoCoMo's layout: a list whose first member has a conversation and qa.

    What cannot be read is not: who reads it as something else says what is wrong with it.
    """
    try:
        data = Path(path).read_bytes() if Path(path).is_file() else b""
    except (OSError, ValueError):
        return False
    if not all(f'"{key}"'.encode() in data for key in _KEYS):
        return False
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return False
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and all(key in first for key in _KEYS)


def load_dialogues(path: str | Path) -> tuple[Dialogue, ...]:
    """Read and check a file of dialogues.

    Raises:
        EnvironmentFileError: In one sentence, naming file, dialogue and question or session, the
            rule that is broken, what was found and what to mend.
    """
    source = str(path)
    content = parse_json(read_bytes(path, EnvironmentFileError), source, EnvironmentFileError)
    return dialogues_of(content, source)


def dialogues_of(content: object, source: str) -> tuple[Dialogue, ...]:
    """Check dialogues that are already parsed from JSON; ``source`` names them in messages.

    Raises:
        EnvironmentFileError: As ``load_dialogues``.
    """
    place = Place(source, EnvironmentFileError)
    dialogues: dict[str, Dialogue] = {}
    for at, item in place.members(content, "the file", "dialogue"):
        record = at.record(item)
        name = record.text("sample_id")
        if name in dialogues:
            raise record.place.wrong(
                f"an earlier dialogue has the `sample_id` {shown(name)}, too",
                "give each dialogue an id of its own",
            )
        dialogues[name] = _dialogue(Record(place.at("dialogue", name), record.fields), name)
    return tuple(dialogues.values())


def odd_lines(dialogues: Sequence[Dialogue]) -> list[str]:
    """What was read otherwise than as it stands, and what could not be read."""
    odd = [one for dialogue in dialogues for one in dialogue.oddities]
    lines = [
        f"evidence {one.found!r} of {one.dialogue}, question {one.question}: {one.told}"
        for one in odd
    ]
    without = sum(not q.evidence for dialogue in dialogues for q in dialogue.questions)
    asked = sum(len(dialogue.questions) for dialogue in dialogues)
    lines.append(
        f"{asked} questions of {len(dialogues)} dialogues; {without} without evidence that can be "
        "read, which recall and precision leave out"
    )
    return lines


def _dialogue(record: Record, name: str) -> Dialogue:
    talk = record.inner("conversation")
    speakers = talk.text("speaker_a"), talk.text("speaker_b")
    if speakers[0] == speakers[1]:
        raise talk.place.wrong(
            f"both speakers are called {shown(speakers[0])}", "give them names of their own"
        )
    sessions = _sessions(talk, speakers)
    known = {turn.id for session in sessions for turn in session.turns}
    questions, oddities = [], []
    for number, item in enumerate(record.records("qa", "question")):
        evidence = read_evidence(item.fields.get("evidence") or [], known)
        questions.append(_question(item, evidence.turns))
        oddities += [Oddity(name, number, odd.found, odd.told, odd.read) for odd in evidence.odd]
    return Dialogue(name, speakers, sessions, tuple(questions), tuple(oddities))


def _sessions(talk: Record, speakers: tuple[str, str]) -> tuple[Session, ...]:
    """Sessions by their numbers; the file may have dates of sessions that it does not hold."""
    numbers = sorted(int(match[1]) for key in talk.fields if (match := _SESSION.fullmatch(key)))
    sessions, seen = [], set[str]()
    for number in numbers:
        key = f"session_{number}"
        if talk.fields.get(key) in (None, []):
            continue
        place = talk.place.at("session", str(number))
        turns = []
        for at, item in Record(place, talk.fields).items(key, "turn"):
            turn = _turn(at.record(item), speakers)
            if turn.id in seen:
                raise at.wrong(
                    f"an earlier turn has the `dia_id` {shown(turn.id)}, too",
                    "give each turn an id of its own",
                )
            seen.add(turn.id)
            turns.append(turn)
        sessions.append(Session(talk.text(f"{key}_date_time"), tuple(turns)))
    if not sessions:
        raise talk.place.wrong(
            "`conversation` has no session with a turn", "add a `session_1` and its turns"
        )
    return tuple(sessions)


def _turn(record: Record, speakers: tuple[str, str]) -> Turn:
    speaker = record.text("speaker")
    if speaker not in speakers:
        raise record.place.wrong(
            f"`speaker` is {shown(speaker)}, but the speakers are {shown(speakers[0])} and "
            f"{shown(speakers[1])}",
            "name one of these",
        )
    said = [record.text("text")] if record.fields.get("text") else []
    if record.has("blip_caption"):
        said.append(f"[shares a picture: {record.text('blip_caption')}]")
    return Turn(record.text("dia_id"), speaker, " ".join(said) or record.text("text"))


def _question(record: Record, evidence: tuple[str, ...]) -> OpenQuestion:
    category = record.get("category")
    if type(category) is not int or category not in CATEGORIES:
        raise record.place.wrong(
            f"`category` must be a number from 1 to {max(CATEGORIES)}, found {shown(category)}",
            "write one of them",
        )
    answer = None
    if category != ADVERSARIAL:
        found = record.get("answer")
        # Years and counts stand there as numbers.
        number = isinstance(found, int | float) and not isinstance(found, bool)
        answer = str(found) if number else record.text("answer")
    return OpenQuestion(record.text("question"), answer, category, evidence)
