"""Who a sample user is beside the states: name, age, pastimes and small talk."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

SMALL_TALK = 12  # remarks, of which the simulated user may use one in each follow-up message

_FIRST_NAMES = (
    "Adaeze Alina Anselm Beatriz Bruno Carmela Cormac Dalia Darko Edda Emeka Farida Florin Greta "
    "Hamid Hanne Ilse Ivo Jasna Joaquim Kaito Katya Lars Leila Malik Marta Mirela Nadia Nils Odile "
    "Omar Paloma Petra Quentin Rahel Rafael Saskia Selim Tamsin Teo Ulla Vikram Wanda Xenia Yusuf "
    "Zora"
)
_LAST_NAMES = (
    "Abara Aldous Bakker Brandvold Castellan Cerny Dautry Delmonte Ekholm Eskandar Farrow Fontaine "
    "Galvao Grieve Halloran Hoshino Ibarra Iversen Jankowiak Jessop Kalani Kovalenko Lindqvist "
    "Lomax Marchetti Mbeki Norrby Novotny Okafor Ostrow Pellier Prideaux Quayle Rahmani Rosander "
    "Sandoval Sorley Takeda Thorne Usmani Vasquez Verhoeven Wexford Yilmaz Zamora"
)
_NATURES = (
    "An easygoing person who likes to talk a plan through before settling on it.",
    "A curious person who asks many questions and enjoys a clear answer.",
    "A patient person who prefers small steps to grand gestures.",
    "A cheerful person who writes the way they talk and often wanders off the subject.",
    "A thoughtful person who weighs things up and likes to hear a second opinion.",
    "A practical person who wants to know what to do next.",
    "A warm person who keeps in touch with old friends and likes a good story.",
    "A dry-humoured person who is quick to laugh at small mishaps.",
)
_PASTIMES = (
    "astronomy",
    "birdwatching",
    "board games",
    "calligraphy",
    "chess",
    "choir singing",
    "comic books",
    "crosswords",
    "folk music",
    "jigsaw puzzles",
    "knitting",
    "local history",
    "model railways",
    "museum visits",
    "old films",
    "origami",
    "photography",
    "poetry",
    "pottery",
    "quiz nights",
    "radio plays",
    "second-hand bookshops",
    "stamp collecting",
    "watercolour painting",
    "wood carving",
)


def draw_person(user_id: str, remarks: Sequence[str], rng: Random) -> dict[str, object]:
    """The profile of a user; it tells nothing of any state.

    Args:
        user_id: Id of the user.
        remarks: Small talk from which the profile's own is drawn.
        rng: Source of chance.
    """
    profile: dict[str, object] = {
        "uuid": user_id,
        "name": f"{rng.choice(_FIRST_NAMES.split())} {rng.choice(_LAST_NAMES.split())}",
        "age": rng.randint(22, 68),
        "nature": rng.choice(_NATURES),
        "hobbies_and_interests": ", ".join(sorted(rng.sample(_PASTIMES, 3))),
        "complementary_info": " ".join(remarks),
    }
    shown = [f"{key}: {value}" for key, value in profile.items() if key != "uuid"]
    return profile | {"formatted_str": "\n".join(shown)}
