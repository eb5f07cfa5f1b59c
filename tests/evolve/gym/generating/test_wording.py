"""Languages that can be told are held to; of others nothing is claimed."""

from __future__ import annotations

import pytest

from evolve.gym.generating.wording import foreign

ENGLISH = "I would like to know which of the trains is the best one for us and the dog."
GERMAN = "Ich weiß nicht, ob das für uns und den Hund der richtige Zug ist, oder ob es zu weit ist."
JAPANESE = "来週の旅行について相談したいのですが、電車で行くつもりです。"
CHINESE = "我下周想坐火车去旅行,请给我一些建议。"
RUSSIAN = "На следующей неделе мы хотим поехать на поезде."


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("English", ENGLISH),
        ("German", GERMAN),
        ("Japanese", JAPANESE),
        ("Chinese", CHINESE),
        ("Russian", RUSSIAN),
        ("Swahili", ENGLISH),  # nothing is known of it
        ("German", "Zug? Hund!"),  # too short to tell
        ("German", "123"),
    ],
)
def test_what_may_be_in_the_language_passes(language, text):
    assert foreign("it", text, language) == []


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("German", ENGLISH, "English"),
        ("English", GERMAN, "German"),
        ("English", JAPANESE, "Japanese"),
        ("Chinese", JAPANESE, "Japanese"),
        ("Japanese", ENGLISH, "Latin"),
        ("Russian", ENGLISH, "Latin"),
    ],
)
def test_another_language_is_a_fault(language, text, found):
    assert foreign("it", text, language) == [f"it must be in {language}, but reads as {found}"]
