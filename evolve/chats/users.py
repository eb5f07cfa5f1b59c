"""Makes users of chats and probes: recorded conversations, and questions asked when due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evolve.chats.records import Probe, Talk
from evolve.chats.timeline import Timeline, lay_out
from evolve.gym.checked import shown
from evolve.gym.own_words import ANOTHER, content_words
from evolve.gym.people import Choice, Period, Question, Session, User
from evolve.gym.recorded import Conversation, session_messages


def users_of_chats(
    talks: Mapping[str, Sequence[Talk]], probes: Sequence[Probe]
) -> tuple[User, ...]:
    """Every user that has probes, in the order of the ids.

    Args:
        talks: User id to its conversations in order of time.
        probes: At least one.

    Raises:
        EnvironmentFileError: In one sentence: a probe is of nobody in the chats, of a day before
            the user's first conversation, or contradicts another.
    """
    of_user: dict[str, list[Probe]] = {}
    for probe in probes:
        if probe.user not in talks:
            known = ", ".join(map(shown, list(talks)[:5])) or "nobody"
            raise probe.place.wrong(
                f"`user` must be one of the chats' ({known}{', …' if len(talks) > 5 else ''}), "
                f"found {shown(probe.user)}",
                "correct it, or add the user's chats",
            )
        of_user.setdefault(probe.user, []).append(probe)
    return tuple(_user(user, talks[user], of_user[user]) for user in sorted(of_user))


def _user(user: str, talks: Sequence[Talk], probes: Sequence[Probe]) -> User:
    line = lay_out(probes, talks)
    periods, recorded = [], []
    starts = (talks[0].time.date(), *line.ends[:-1])
    for number, (start, end) in enumerate(zip(starts, line.ends, strict=True)):
        of_period = [talk for talk in talks if line.period_of(talk) == number]
        recorded.append(_conversation(number, of_period))
        periods.append(
            Period(
                start=start.isoformat(),
                end=end.isoformat(),
                sessions=tuple(map(_session, of_period)),
                state=line.state(number),
                updated=line.updated(number),
            )
        )
    return User(
        id=user,
        profile="",
        schema=_schema(probes),
        periods=tuple(periods),
        questions=_questions(probes, line),
        recorded=tuple(recorded),
    )


def _conversation(period: int, talks: Sequence[Talk]) -> Conversation:
    """The talks of a period, the first message of each with its time as simulated users give it."""
    sessions = []
    for number, talk in enumerate(talks):
        first, *others = talk.turns
        dated = replace(first, content=f"[Current Time: {_written(talk)}]\n{first.content}")
        sessions.append(session_messages(period, number, (dated, *others)))
    return tuple(sessions)


def _session(talk: Talk) -> Session:
    return Session(talk.turns[0].content, _written(talk), None)


def _written(talk: Talk) -> str:
    return talk.time.isoformat(" ", "seconds")


def _schema(probes: Sequence[Probe]) -> dict[str, tuple[str, ...]]:
    """State to all values that probes give it or offer as choices, in their order."""
    values: dict[str, dict[str, None]] = {}
    for probe in probes:
        of_state = values.setdefault(probe.state, {})
        of_state |= dict.fromkeys([*(probe.choices or ()), probe.expected])
    return {state: tuple(of_state) for state, of_state in values.items()}


def _questions(probes: Sequence[Probe], line: Timeline) -> tuple[Question, ...]:
    """The questions, each asked in every period in which its answer is known and among its choices.

    So it is asked in the period in which the present value became known, where a diagnosis looks.
    """
    alike: dict[tuple[str, str, bool], list[Probe]] = {}
    for probe in probes:
        key = probe.state, probe.question, probe.choices is None
        alike.setdefault(key, []).append(probe)
    questions = []
    for (state, query, own_words), same in alike.items():
        choices = _own_choices(same) if own_words else _shown_choices(same)
        offered = {choice.state for choice in choices}
        periods = frozenset(
            period for period, value in enumerate(line.values[state]) if (value,) in offered
        )
        choices = (*choices, ANOTHER) if own_words else choices
        questions.append(Question(query, (state,), choices, periods, own_words))
    return tuple(questions)


def _own_choices(probes: Sequence[Probe]) -> tuple[Choice, ...]:
    accept: dict[str, tuple[str, ...]] = {}
    named: dict[tuple[str, ...], str] = {}
    for probe in probes:
        accept[probe.expected] = (*accept.get(probe.expected, ()), *probe.accept)
        for form in (probe.expected, *probe.accept):
            value = named.setdefault(content_words(form), probe.expected)
            if value != probe.expected:
                raise probe.place.wrong(
                    "answers in own words are told apart by their words, without case, punctuation "
                    f"and articles, but {shown(form)} has the same as {shown(value)}",
                    "write one of them in other words, or give `choices`",
                )
    return tuple(Choice((value,), value, also) for value, also in accept.items())


def _shown_choices(probes: Sequence[Probe]) -> tuple[Choice, ...]:
    answers: dict[str, str] = {}
    for probe in probes:
        for value, answer in (probe.choices or {}).items():
            if answers.setdefault(value, answer) != answer:
                raise probe.place.wrong(
                    f"the choice {shown(value)} has another answer than an earlier probe of the "
                    "same question gives it",
                    "give one value one answer",
                )
    return tuple(Choice((value,), answer) for value, answer in answers.items())
