"""The users of an environment file in AMemGym's ``data.json`` layout: load, check, split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from evolve.gym.checked import Place, Record, parse_json, read_bytes, shown
from evolve.gym.people import Choice, Period, Question, Schema, Session, Split, User
from evolve.seeding import derive
from policies.errors import EnvironmentFileError

__all__ = [
    "Choice",
    "Period",
    "Question",
    "Session",
    "Split",
    "User",
    "file_digest",
    "load_users",
    "split_users",
    "thirds",
    "users_of",
]


def load_users(path: str | Path) -> tuple[User, ...]:
    """Read and check an environment file.

    Raises:
        EnvironmentFileError: In one sentence, naming file, user, period and question or session,
            the rule that is broken, what was found and what to mend.
    """
    source = str(path)
    content = parse_json(read_bytes(path, EnvironmentFileError), source, EnvironmentFileError)
    return users_of(content, source)


def file_digest(path: str | Path) -> str:
    """First 16 hex digits of the SHA-256 of a file's bytes; errors as ``load_users``."""
    return hashlib.sha256(read_bytes(path, EnvironmentFileError)).hexdigest()[:16]


def users_of(content: object, source: str) -> tuple[User, ...]:
    """Check users that are already parsed from JSON.

    Args:
        content: A list of users, each an object in the layout of ``data.json``.
        source: Names the list in messages.

    Raises:
        EnvironmentFileError: As ``load_users``.
    """
    place = Place(source, EnvironmentFileError)
    if not isinstance(content, list) or not content:
        raise place.wrong(
            f"the file must hold a list with at least one user, found {shown(content)}",
            "put the users in square brackets",
        )
    users = []
    first: dict[str, int] = {}
    for number, item in enumerate(content):
        record = place.at("user", number).record(item)
        user_id = record.text("id")
        if user_id in first:
            raise record.place.wrong(
                f"the id {shown(user_id)} is already that of user {first[user_id]}",
                "give each user an id of its own",
            )
        first[user_id] = number
        users.append(_user(Record(place.at("user", user_id), record.fields), user_id))
    return tuple(users)


def split_users(users: Sequence[User], seed: int) -> Split:
    """Split users in thirds, the same for a seed whatever their order in the file.

    What does not divide goes to train first, then to gate; fewer than three users leave test
    empty.
    """
    by_id = {user.id: user for user in users}
    train, gate, test = (tuple(by_id[name] for name in part) for part in thirds(by_id, seed))
    return Split(train, gate, test)


def thirds(ids: Iterable[str], seed: int) -> tuple[tuple[str, ...], ...]:
    """Ids for train, gate and test, as ``split_users`` says."""
    order = sorted(ids, key=lambda name: (derive(seed, "split", name), name))
    third, rest = divmod(len(order), 3)
    train = third + (rest > 0)
    gate = train + third + (rest > 1)
    return tuple(order[:train]), tuple(order[train:gate]), tuple(order[gate:])


def _user(record: Record, user_id: str) -> User:
    schema = _schema(record)
    periods: list[Period] = []
    last: datetime | None = None
    for item in record.records("periods", "period"):
        previous = periods[-1].state if periods else None
        sessions, last = _sessions(item, schema, last)
        state = _state(item, schema)
        _check_updates(item, state)
        changed = {name for name in state if previous is not None and previous[name] != state[name]}
        start, end = item.optional_text("period_start"), item.optional_text("period_end")
        periods.append(Period(start, end, sessions, state, frozenset(changed)))
    questions = tuple(_question(item, schema) for item in record.records("qas", "question"))
    user = User(user_id, _profile(record), schema, tuple(periods), questions)
    _check_right_choices(user, record.place)
    return user


def _schema(record: Record) -> dict[str, tuple[str, ...]]:
    inner = record.inner("state_schema")
    if not inner.fields:
        raise inner.place.wrong("`state_schema` is empty", "name at least one state and its values")
    schema = {}
    for name in inner.fields:
        record.place.text(name, "each name of a state in `state_schema`")
        values = inner.texts(name)
        if len(set(values)) < len(values):
            raise record.place.wrong(
                f"the state {shown(name)} has the same value twice in `state_schema`",
                "keep one of them",
            )
        schema[name] = values
    return schema


def _profile(record: Record) -> str:
    """The profile as text; uuid and empty fields say nothing of a person."""
    if not record.has("user_profile"):
        return ""
    fields = record.inner("user_profile")
    if fields.has("formatted_str"):
        return fields.text("formatted_str")
    lines = []
    for key, value in fields.fields.items():
        parts = value if isinstance(value, list) else [value]
        if key == "uuid" or value is None or not parts:
            continue
        if any(isinstance(part, dict | list) for part in parts):
            raise record.place.wrong(
                f"`user_profile` must hold texts, numbers or lists of them, but {shown(key)} is "
                f"{shown(value)}",
                "write it as text",
            )
        text = ", ".join(part if isinstance(part, str) else shown(part) for part in parts)
        lines.append(record.place.text(f"{key}: {text}", "each field of `user_profile`"))
    return "\n".join(lines)


def _state(period: Record, schema: Schema) -> dict[str, str]:
    inner = period.inner("state")
    for name in schema:
        if name not in inner.fields:
            raise period.place.wrong(
                f"`state` lacks {shown(name)} of the schema", "add its value in this period"
            )
    return _values(inner, "`state`", schema)


def _values(inner: Record, what: str, schema: Schema) -> dict[str, str]:
    """State to value, each in the schema."""
    return {name: _value(inner, what, name, schema) for name in inner.fields}


def _value(inner: Record, what: str, name: str, schema: Schema) -> str:
    if name not in schema:
        raise inner.place.wrong(
            f"{what} names {shown(name)}, which is no state of the schema",
            "remove it or add it to `state_schema`",
        )
    value = inner.fields[name]
    if not isinstance(value, str) or value not in schema[name]:
        raise inner.place.wrong(
            f"{what} gives {shown(name)} the value {shown(value)}, which is not in the schema",
            f"use one of {_listed(schema[name])}",
        )
    return value


def _check_updates(period: Record, state: Mapping[str, str]) -> None:
    """``updates`` may be missing; what changed is read from the states, which it must not deny."""
    if not period.has("updates"):
        return
    updates = period.inner("updates")
    for name in updates.fields:
        if name not in state:
            raise period.place.wrong(
                f"`updates` names {shown(name)}, which is no state of the schema",
                "remove it or add it to `state_schema`",
            )
        new = updates.inner(name).get("new")
        if new != state[name]:
            raise period.place.wrong(
                f"`updates` sets {shown(name)} to {shown(new)}, but its value in `state` is "
                f"{shown(state[name])}",
                "make the two equal",
            )


def _sessions(
    period: Record, schema: Schema, last: datetime | None
) -> tuple[tuple[Session, ...], datetime | None]:
    """The sessions of a period, after those that ended with ``last``, and the last one's time."""
    sessions = []
    for item in period.records("sessions", "session"):
        text = item.text("session_time")
        time = _time(text, item.place)
        if last is not None and time < last:
            raise item.place.wrong(
                f"sessions must be in order of time, but this one, {shown(text)}, is before the "
                f"previous one, {shown(str(last))}",
                "mend `session_time` or move the session",
            )
        last = time
        exposed = None
        if item.has("exposed_states"):
            exposed = _values(item.inner("exposed_states"), "`exposed_states`", schema)
        sessions.append(Session(item.text("query"), text, exposed))
    return tuple(sessions), last


def _time(text: str, place: Place) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is not None:
        raise place.wrong(
            f"`session_time` must be a date and time without a zone, found {shown(text)}",
            "write it like 2024-05-31 18:30:00",
        )
    return time


def _question(record: Record, schema: Schema) -> Question:
    required = record.texts("required_info")
    for name in required:
        if name not in schema:
            raise record.place.wrong(
                f"`required_info` names {shown(name)}, which is no state of the schema",
                "use a state of `state_schema`",
            )
    choices: dict[tuple[str, ...], Choice] = {}
    items = record.items("answer_choices", "choice")
    if len(items) < 2:
        raise record.place.wrong("a question needs at least two choices, found 1", "add a choice")
    for place, item in items:
        choice = _choice(place.record(item), required, schema)
        if choice.state in choices:
            raise place.wrong(
                f"an earlier choice is also for {_listed(choice.state)}",
                "give each choice values of its own",
            )
        choices[choice.state] = choice
    return Question(record.text("query"), required, tuple(choices.values()))


def _choice(record: Record, required: tuple[str, ...], schema: Schema) -> Choice:
    state = record.texts("state")
    if len(state) != len(required):
        raise record.place.wrong(
            f"`state` has {len(state)} values where the question requires {len(required)} states",
            "give one value for each state of `required_info`",
        )
    for name, value in zip(required, state, strict=True):
        if value not in schema[name]:
            raise record.place.wrong(
                f"{shown(value)} is no value of {shown(name)} in the schema",
                f"use one of {_listed(schema[name])}",
            )
    return Choice(state, record.text("answer"))


def _check_right_choices(user: User, place: Place) -> None:
    for number, question in enumerate(user.questions):
        suited = {choice.state for choice in question.choices}
        for period, of_period in enumerate(user.periods):
            values = tuple(of_period.state[name] for name in question.required)
            if values not in suited:
                raise (
                    place.at("question", number)
                    .at("period", period)
                    .wrong(
                        f"no choice is for the current values {_listed(values)}",
                        "add a choice for them or mend the state",
                    )
                )


def _listed(values: Sequence[str]) -> str:
    return ", ".join(shown(value) for value in values[:8]) + (", …" if len(values) > 8 else "")
