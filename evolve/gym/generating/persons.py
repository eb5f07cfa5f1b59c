"""Who a user is beside the states: the profile, which gives none of them away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from evolve.gym.generating.author import Author, Step
from evolve.gym.generating.kinds import Kinds, values_of
from evolve.gym.generating.replies import as_object, as_text
from evolve.gym.generating.told import told
from evolve.gym.generating.wording import foreign

_AGES = (19, 78)
_MANNERS = (
    "writes short messages and comes straight to the point",
    "tells little stories around every request",
    "is polite and a little formal",
    "is chatty, and wanders off the subject",
    "jokes a lot and takes nothing too seriously",
    "thinks aloud, and weighs one thing against another",
    "is in a hurry most of the time",
    "asks for reasons and likes details",
)
_LIVES = (
    "was born where they live and knows everybody there",
    "moved to another country some years ago",
    "has changed profession once already",
    "works with their hands",
    "works with numbers or texts",
    "works with people all day",
    "studies, or has begun to learn something anew",
    "has stopped working, or works a few hours a week",
)
_LONGEST = {  # characters
    "name": 80,
    "nature": 300,
    "occupation": 200,
    "hobbies_and_interests": 400,
    "complementary_info": 1200,
}

_PROFILE = Step(
    "profile",
    "Write one person who talks with this assistant: believable, of no type that one has read a "
    "hundred times, with a name that is not among the first that come to mind. The profile must "
    "not tell or suggest a value of any of the states below, as these are yet to be chosen and "
    "will change: write of other things. Keep to the age, the manner and the life that are given, "
    "but to no more of them than tells none of the states.",
    '{"profile": {"name": "…", "nature": "how the person talks and writes", '
    '"occupation": "…", "hobbies_and_interests": "…", '
    '"complementary_info": "three or four sentences about the person"}}',
    "profile",
)


@dataclass(frozen=True, slots=True)
class Person:
    """A profile.

    Attributes:
        fields: Name to value, as an environment file has them.
    """

    fields: Mapping[str, str | int]

    @property
    def text(self) -> str:
        """All of it, a field a line."""
        return "\n".join(f"{name}: {value}" for name, value in self.fields.items())


def make_person(author: Author, kinds: Kinds, rng: Random) -> Person:
    """Have a person written, around what is drawn so that people differ.

    Raises:
        UnmendedError: The profile breaks a rule, however often it was mended.
    """
    age, manner, life = rng.randint(*_AGES), rng.choice(_MANNERS), rng.choice(_LIVES)
    schema = values_of(kinds)
    states = {name: list(values) for name, values in schema.items()}
    material = {"age": age, "manner": manner, "life": life, "states": states}

    def read(value: object) -> Person:
        found = as_object(value, "the profile")
        texts = {name: as_text(found.get(name), name, most) for name, most in _LONGEST.items()}
        return Person({"name": texts.pop("name"), "age": age, **texts})

    def faults(person: Person, tried: int) -> list[str]:
        about = str(person.fields["complementary_info"])
        wrong = foreign("the profile", about, author.brief.language)
        given = () if wrong else told(author, person.text, schema).items()
        return wrong + [
            f"the profile lets a reader know that {name} is {value!r}, which it must not"
            for name, value in given
        ]

    return author.write(_PROFILE, material, read, faults)
