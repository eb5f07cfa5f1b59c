"""The files of a published AMemGym run: answers, probes, counts, conversations, upper bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evolve.gym.checked import Place, Record, read_json, shown
from evolve.gym.people import Question, User
from feedback.diagnosis import StateCounts
from feedback.records import Answer, ChatMessage, Rollout, StateProbe
from policies.errors import ReferenceRunError

Conversations = tuple[tuple[tuple[ChatMessage, ...], ...], ...]
"""By period, then session: its messages in order."""


def read_run(folder: str | Path, users: Sequence[User]) -> tuple[Rollout, ...]:
    """Read a run: a folder with one folder per user, named by the user's id.

    Args:
        folder: Such as ``runs/awi``; the rollouts' policy is called by its name.
        users: Of the environment that the run was made with.

    Returns:
        A rollout per user whose folder is there, in the order of ``users``.

    Raises:
        ReferenceRunError: In one sentence: a folder is of no user, none is there, a file is
            missing or odd, or it does not fit the environment.
    """
    path = Path(folder)
    try:
        found = {item.name for item in path.iterdir() if item.is_dir()}
    except (OSError, ValueError):
        raise ReferenceRunError(
            f"There is no folder {path} to read; name the folder of a published run."
        ) from None
    strange = sorted(found - {user.id for user in users})
    if strange:
        raise ReferenceRunError(
            f"{path / strange[0]} is of no user of the environment file; give the file that the "
            "run was made with."
        )
    if not found:
        raise ReferenceRunError(f"{path} holds no folder of a user; name the folder above them.")
    return tuple(read_rollout(path / user.id, user) for user in users if user.id in found)


def read_rollout(folder: str | Path, user: User) -> Rollout:
    """Read the answers and probes of one user's folder.

    Conversation, memory and usage stay empty: the published files hold the first apart (see
    ``load_interactions``), the second not at all, and of the third only that of the answers.

    Raises:
        ReferenceRunError: As ``read_run``.
    """
    path = Path(folder)
    answered = _grid(path / "overall_results.json", user)
    probed = _grid(path / "diagnosis_results.json", user)
    answers = tuple(
        _answer(user, place, answered[place], probed[place]) for place in sorted(answered)
    )
    return Rollout(
        policy=path.resolve().parent.name,
        user=user.id,
        messages=(),
        writes=(),
        entries=(),
        answers=answers,
        usage=(),
    )


def read_counts(folder: str | Path) -> StateCounts | None:
    """The published counts per state of one user's folder; None where it has no such file.

    Raises:
        ReferenceRunError: The file is not three arrays of whole numbers.
    """
    path = Path(folder) / "diagnosis_metrics.json"
    if not path.exists():
        return None
    place = Place(str(path), ReferenceRunError)
    record = place.record(read_json(path, ReferenceRunError))
    arrays = []
    for name in ("write_failure", "read_failure", "memory_success"):
        rows = []
        for row_place, row in record.items(name, "period"):
            members = row_place.members(row, "each period", "question")
            rows.append(tuple(_whole(cell_place, cell) for cell_place, cell in members))
        arrays.append(tuple(rows))
    return StateCounts(*arrays)


def load_interactions(folder: str | Path, user: User | None = None) -> Conversations:
    """Read the recorded conversation of one user's folder, for an off-policy replay.

    Args:
        folder: Holds ``interactions/period_00.json`` and so on.
        user: Where given, periods and sessions must be as many as the user's, and each opening
            query tells what the environment says that it exposes.

    Returns:
        Messages by period and session, user and assistant in turn.

    Raises:
        ReferenceRunError: A file is missing or odd, or does not fit the user.
    """
    path = Path(folder) / "interactions"
    numbers = sorted(_period_number(file) for file in path.glob("period_*.json"))
    if not numbers or numbers != list(range(len(numbers))):
        missing = next((n for n in range(len(numbers)) if n not in numbers), 0)
        raise ReferenceRunError(
            f"{path} has no period_{missing:02d}.json; put the recorded conversation of every "
            "period there."
        )
    if user is not None and len(numbers) != len(user.periods):
        raise ReferenceRunError(
            f"{path} holds {len(numbers)} periods where user {user.id} has {len(user.periods)}; "
            "give the environment file that the run was made with."
        )
    return tuple(_conversation(path, period, user) for period in numbers)


def load_bounds(folder: str | Path, users: Sequence[User]) -> dict[tuple[str, int, int], float]:
    """Read upper bounds: what the model answered when told the true states of each choice.

    Args:
        folder: Holds ``upperbound_USER.json`` of each user.
        users: Whose bounds to read.

    Returns:
        (user, period, question) to 1.0 where the model was right, told the values of the choice
        that is right at that period, else 0.0.

    Raises:
        ReferenceRunError: A file is missing or odd, or does not fit its user.
    """
    bounds = {}
    for user in users:
        path = Path(folder) / f"upperbound_{user.id}.json"
        place = Place(str(path), ReferenceRunError)
        rows = place.members(read_json(path, ReferenceRunError), "the file", "question")
        _check_number(place, len(rows), len(user.questions), "questions")
        for number, (row_place, row) in enumerate(rows):
            right = _bounds_of_choices(row_place, row, user.questions[number])
            for period, lived in enumerate(user.periods):
                choice = user.questions[number].right_choice(lived.state)
                bounds[user.id, period, number] = right[choice]
    return bounds


def _grid(path: Path, user: User) -> dict[tuple[int, int], Record]:
    """The objects of a file that is a list of periods, each a list of questions."""
    place = Place(str(path), ReferenceRunError)
    rows = place.members(read_json(path, ReferenceRunError), "the file", "period")
    _check_number(place, len(rows), len(user.periods), "periods")
    cells = {}
    for period, (row_place, row) in enumerate(rows):
        members = row_place.members(row, "each period", "question")
        _check_number(row_place, len(members), len(user.questions), "questions")
        for question, (cell_place, cell) in enumerate(members):
            cells[period, question] = cell_place.record(cell)
    return cells


def _answer(user: User, position: tuple[int, int], answered: Record, probed: Record) -> Answer:
    period, number = position
    question, state = user.questions[number], user.periods[period].state
    _check_truth(answered, tuple(state[name] for name in question.required))
    return Answer(
        period=period,
        question=number,
        choices=len(question.choices),
        right_choice=question.right_choice(state),
        chosen=_chosen(answered, question),
        probes=_probes(user, position, probed),
        reply=answered.optional_text("raw_response") or "",
        probe_reply=probed.optional_text("raw_response") or "",
    )


def _chosen(record: Record, question: Question) -> int | None:
    """The chosen choice by its values: the file counts answers from 0 and responses from 1."""
    if record.flag("json_error") or not record.has("response_state"):
        return None
    values = record.texts("response_state")
    for index, choice in enumerate(question.choices):
        if choice.state == values:
            return index
    raise record.place.wrong(
        f"`response_state` is for no choice of the question, found {', '.join(values)}",
        "give the environment file that the run was made with",
    )


def _probes(user: User, position: tuple[int, int], record: Record) -> tuple[StateProbe, ...]:
    period, number = position
    required, state = user.questions[number].required, user.periods[period].state
    items = list(record.records("results", "probed state"))
    _check_number(record.place, len(items), len(required), "probed states")
    probes = []
    for name, item in zip(required, items, strict=True):
        if item.text("info_type") != name:
            raise item.place.wrong(
                f"`info_type` is {shown(item.text('info_type'))} where the question requires "
                f"{shown(name)}",
                "give the environment file that the run was made with",
            )
        _check_truth(item, state[name])
        unread = item.flag("json_error") or not item.has("response_state")
        reply = None if unread else item.text("response_state")
        probes.append(StateProbe(name, state[name], reply, format_error=unread))
    return tuple(probes)


def _check_truth(record: Record, truth: str | tuple[str, ...]) -> None:
    found = record.get("answer_state")
    if found != (truth if isinstance(truth, str) else list(truth)):
        raise record.place.wrong(
            "`answer_state` is not what is true in the environment file",
            "give the file that the run was made with",
        )


def _check_number(place: Place, found: int, expected: int, what: str) -> None:
    if found != expected:
        raise place.wrong(
            f"there are {found} {what} where the environment file has {expected}",
            "give the file that the run was made with",
        )


def _whole(place: Place, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise place.wrong(f"a whole number belongs here, found {shown(value)}", "write one")
    return value


def _period_number(file: Path) -> int:
    digits = file.stem.removeprefix("period_")
    if not (digits.isascii() and digits.isdigit()):
        raise ReferenceRunError(
            f"{file} has no number of a period in its name; rename or remove it."
        )
    return int(digits)


def _conversation(
    folder: Path, period: int, user: User | None
) -> tuple[tuple[ChatMessage, ...], ...]:
    path = folder / f"period_{period:02d}.json"
    place = Place(str(path), ReferenceRunError)
    sessions = place.members(read_json(path, ReferenceRunError), "the file", "session")
    if user is not None:
        _check_number(place, len(sessions), len(user.periods[period].sessions), "sessions")
    talk = []
    for number, (session_place, session) in enumerate(sessions):
        members = session_place.members(session, "each session", "message")
        if len(members) % 2:
            raise session_place.wrong(
                f"{len(members)} messages are not pairs of user and assistant",
                "remove the message without a reply",
            )
        exposed = user.periods[period].sessions[number].exposed if user is not None else None
        told = tuple(sorted((exposed or {}).items()))
        talk.append(
            tuple(
                _message(message_place.record(item), f"{period}.{number}", i, told)
                for i, (message_place, item) in enumerate(members)
            )
        )
    return tuple(talk)


def _message(
    record: Record, session: str, index: int, told: tuple[tuple[str, str], ...]
) -> ChatMessage:
    role = record.text("role")
    expected = "assistant" if index % 2 else "user"
    if role != expected:
        raise record.place.wrong(
            f"`role` must be {expected} here, found {shown(role)}",
            "let user and assistant take turns",
        )
    message_id = f"{session}.{index // 2}.{expected[0]}"
    return ChatMessage(message_id, role, record.text("content"), () if index else told)


def _bounds_of_choices(place: Place, row: object, question: Question) -> dict[int, float]:
    """Choice to 1.0 where the model chose it when told its values, else 0.0."""
    found = {}
    for cell_place, cell in place.members(row, "each question", "choice"):
        record = cell_place.record(cell)
        told = record.texts("answer_state")
        for index, choice in enumerate(question.choices):
            if choice.state == told:
                found[index] = float(_chosen(record, question) == index)
    _check_number(place, len(found), len(question.choices), "choices")
    return found
