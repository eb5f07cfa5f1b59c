"""What an environment offers a test of memory, counted: guessing, changes, what users share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import mean

from evolve.gym.people import User
from evolve.tables import Table, number


def balance_table(users: Sequence[User]) -> Table:
    """Figures of an environment; shares are of all (user, period, question) answers."""
    answers = [
        (user, period, question)
        for user in users
        for period in user.periods
        for question in user.questions
    ]
    learned = _learned(users)
    guessed = [
        all(period.state[name] == learned[user.id].get(name) for name in question.required)
        for user, period, question in answers
    ]
    guessable = mean(guessed) if len(users) > 1 else None
    later = [period for user in users for period in user.periods[1:]]
    sessions = [session for user in users for period in user.periods for session in period.sessions]
    names = [name for user in users for name in user.schema]
    rows = (
        ("users", str(len(users))),
        ("sessions of a user", f"{len(sessions) / len(users):.1f}"),
        ("questions, all users", str(sum(len(user.questions) for user in users))),
        ("right by guessing", f"{mean(1 / len(q.choices) for _, _, q in answers):.3f}"),
        ("right by what is commonest among other users", number(guessable, 3)),
        ("states that change in a later period", f"{mean(len(p.updated) for p in later):.2f}"),
        ("sessions that let no state be known", f"{mean(not s.exposed for s in sessions):.3f}"),
        ("users who have a state, mean of all states", f"{_shared(names, len(users)):.3f}"),
    )
    return Table("The environment", ("", "figure"), rows)


def _learned(users: Sequence[User]) -> dict[str, dict[str, str]]:
    """User to the value that each state has most often in the lives of all others.

    That is what could be known without memory: of equally common values the first.
    """
    own = {user.id: _counts([user]) for user in users}
    total = _counts(users)
    return {
        user: {
            name: max(sorted(seen), key=seen.__getitem__)
            for name in counts
            if (seen := total[name] - counts[name])
        }
        for user, counts in own.items()
    }


def _counts(users: Iterable[User]) -> dict[str, Counter[str]]:
    """State to how many periods have each of its values."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for user in users:
        for period in user.periods:
            for name, value in period.state.items():
                counts[name][value] += 1
    return counts


def _shared(names: Sequence[str], users: int) -> float:
    return mean(count / users for count in Counter(names).values())
