"""One user from the profile to the last session, as an environment file has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from evolve.gym.generating.answers import Answer, make_answers
from evolve.gym.generating.author import Author, UnmendedError
from evolve.gym.generating.evolution import Evolution, make_evolution
from evolve.gym.generating.kinds import Kinds
from evolve.gym.generating.persons import Person, make_person
from evolve.gym.generating.questions import Asked, make_questions, required_states
from evolve.gym.generating.sessions import Calendar, Scene, draw_calendar, make_query
from evolve.seeding import derive

Json = dict[str, object]


def make_user(author: Author, kinds: Kinds, user_id: str) -> Json:
    """A user in the layout of AMemGym's ``data.json``.

    Raises:
        UnmendedError: Something could not be made as the rules want it.
    """
    person = make_person(author, kinds, _rng(author, "person"))
    questions = make_questions(author, person, kinds)
    names = required_states(questions)
    own = tuple(kind for kind in kinds if kind.name in names)
    schema = {kind.name: kind.values for kind in own}
    life = make_evolution(author, person, schema, _rng(author, "evolution"))
    calendar = draw_calendar(life, author.brief.periods, _rng(author, "calendar"))
    answers = [_answers(author, question, schema) for question in questions]
    periods = [
        _period(author, period, life, Scene(person, own, *_scene(life, period)), planned)
        for period, planned in enumerate(calendar)
    ]
    return {
        "id": user_id,
        "start_time": calendar[0].start,
        "user_profile": _profile(user_id, person),
        "state_schema": {name: list(values) for name, values in schema.items()},
        "periods": periods,
        "qas": [_qa(*pair) for pair in zip(questions, answers, strict=True)],
    }


def _rng(author: Author, what: str) -> Random:
    return Random(derive(author.seed, what))


def _scene(life: Evolution, period: int) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Values, and events by state."""
    return life.state(period), {change.state: change.event for change in life.of(period)}


def _answers(
    author: Author, question: Asked, schema: Mapping[str, Sequence[str]]
) -> tuple[Answer, ...]:
    try:
        return make_answers(author, question, schema)
    except UnmendedError as error:
        raise UnmendedError(f"{error} (to {question.query!r})") from error


def _profile(user_id: str, person: Person) -> Json:
    return {"uuid": user_id, **person.fields, "formatted_str": person.text}


def _qa(question: Asked, answers: Sequence[Answer]) -> Json:
    choices = [{"state": list(one.state), "answer": one.text} for one in answers]
    return {
        "query": question.query,
        "required_info": list(question.required),
        "answer_choices": choices,
    }


def _period(author: Author, period: int, life: Evolution, scene: Scene, planned: Calendar) -> Json:
    """One period, its sessions written."""
    before = life.state(period - 1) if period else {}
    updated = scene.events if period else life.start
    counts = Counter(change.state for change in life.changes)
    sessions: list[Json] = []
    for number, session in enumerate(planned.sessions):
        try:
            query = make_query(author, scene, session)
        except UnmendedError as error:
            raise UnmendedError(f"{error} (period {period}, session {number})") from error
        happened = [scene.events[name] for name in session.reveals if name in scene.events]
        sessions.append(
            {
                "event": " ".join(happened) or None,
                "exposed_states": {name: scene.values[name] for name in session.reveals},
                "query": query,
                "messages": [],
                "session_time": session.time,
            }
        )
    return {
        "period_start": planned.start,
        "period_end": planned.end,
        "period_summary": " ".join(scene.events.values()) or None,
        "sessions": sessions,
        "state": dict(scene.values),
        "updates": {name: {"old": before.get(name), "new": scene.values[name]} for name in updated},
        "update_cnts": {name: counts[name] for name in scene.values},
    }
