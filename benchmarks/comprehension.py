"""What the offline model understands: the sample's utterances, and the published users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.rollouts import bound_all, live_all
from evolve.gym.sample_bank import read_bank
from evolve.gym.users import User, load_users
from evolve.lm.models import ModelSpec
from evolve.lm.reader import clauses, sentences, the_reader
from evolve.tables import Table, number
from evolve.workers import Workers, WorldSpec
from policies.policy import seed_policy

Fact = tuple[str, str]  # a state type and its value


def comprehension(users: Sequence[User], variant: str) -> Table:
    """Shares of what users say, and of what choices say, that the reader understands right.

    A fact counts by its frequency in the users' lives. Of a choice each of its two reasons counts,
    read as one that speaks of that state type, as the model reads choices.
    """
    said: Counter[str] = Counter()
    concept: Counter[str] = Counter()
    value: Counter[str] = Counter()
    for kind, sentence, fact in _openings(users, variant):
        said[kind] += 1
        (reading,) = the_reader().read([sentence])
        about = reading.concept
        concept[kind] += about == (the_reader().named(fact[0]) if fact else None)
        if fact and about and reading.value and about == the_reader().named(fact[0]):
            value[kind] += _as_option(fact, variant, reading.value.name)
    for user in users:
        for question in user.questions:
            for choice in question.choices:
                parts = [c for s in sentences(choice.answer) for c in clauses(s)]
                for fact in zip(question.required, choice.state, strict=True):
                    said["clauses of choices"] += 1
                    about = the_reader().named(fact[0])
                    read = the_reader().value_of(parts, about)[0] if about else ""
                    value["clauses of choices"] += _as_option(fact, variant, read)
    kinds = ("implied facts", "explicit facts", "clauses of choices", "generic talk", "empty talk")
    rows = tuple(
        (
            *(kind, str(said[kind])),
            "" if kind.startswith("clauses") else number(concept[kind] / said[kind], 3),
            "" if kind.endswith("talk") else number(value[kind] / said[kind], 3),
        )
        for kind in kinds
    )
    told = [kind for kind in kinds if kind.endswith("facts")]
    both = sum(value[kind] for kind in told) / sum(said[kind] for kind in told)
    title = f"Comprehension of the sample, variant {variant}: {both:.3f} of all facts read right"
    return Table(title, ("said", "times", "type right (none for talk)", "value right"), rows)


def _openings(users: Sequence[User], variant: str) -> Iterator[tuple[str, str, Fact | None]]:
    """Kind, sentence and fact of every sentence that opens a session, requests left out."""
    bank = read_bank(variant)
    known: dict[str, tuple[str, Fact | None]] = {}
    for kind, talk in (("generic talk", bank.generic), ("empty talk", bank.empty)):
        known |= dict.fromkeys(talk, (kind, None))
    for fact, phrases in bank.phrases.items():
        known |= dict.fromkeys(phrases.implied, ("implied facts", fact))
        known |= dict.fromkeys(phrases.explicit, ("explicit facts", fact))
    for user in users:
        for period in user.periods:
            for session in period.sessions:
                for sentence in sentences(session.query):
                    if sentence in known:
                        kind, told = known[sentence]
                        yield kind, sentence, told


def _as_option(fact: Fact, variant: str, read: str) -> bool:
    """Whether a value of the lexicon is taken for the fact's value."""
    options = the_reader().options(fact[0], read_bank(variant).values(fact[0]))
    return options is not None and options.get(read) == fact[1]


def published_reading(data: Path, seed: int, pool: Workers) -> Table:
    """How well current states of the published users are read, and questions answered if told."""
    users = load_users(data / "amemgym-v1" / "data.json")
    spec = WorldSpec(ModelSpec("offline"), ModelSpec("offline"), seed, 1, 2)
    bounds = bound_all(users, spec, pool)
    lived = live_all({name: seed_policy(name) for name in ("awe", "native")}, users, spec, pool)
    read = {
        name: sum(one.probed_right for one in group) / sum(one.probed for one in group)
        for name, group in lived.items()
    }
    asked = [
        (1 / len(user.schema[state]), len(user.periods))
        for user in users
        for question in user.questions
        for state in question.required
    ]
    chance = sum(share * periods for share, periods in asked) / sum(p for _, p in asked)
    told = sum(bounds.values()) / len(bounds)
    rows = (
        ("current states read right, awe seed", number(read["awe"], 3), "0.53"),
        ("current states read right, native", number(read["native"], 3), "0.53"),
        ("chance", number(chance, 3), "0.33"),
        ("answered right when told the true states", number(told, 3), "0.63"),
    )
    title = "Three published users, text outside the lexicon (the design's figures beside)"
    return Table(title, ("share", "offline model", "design"), rows)
