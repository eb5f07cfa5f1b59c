from __future__ import annotations

import pytest

from policies.languages import latin_language, script
from policies.policy import ARCHITECTURES, seed_policy
from policies.words import words

PASSAGES = {
    "English": "- food: what the user eats, how often they cook and who they cook for",
    "German": "- Essen: was der Mensch isst, wie oft er kocht und für wen er das tut",
    "French": "- repas : ce que la personne mange, pour qui elle cuisine et avec quel budget",
    "Spanish": "- comida: lo que come la persona, para quién cocina y con qué dinero",
    "Italian": "- cibo: che cosa mangia la persona, per chi cucina e quanto spende nel mese",
    "Portuguese": "- comida: o que a pessoa come, para quem cozinha e quanto gasta em um mês",
    "Dutch": "- eten: wat de gebruiker eet, hoe vaak en voor wie er wordt gekookt",
    "Swedish": "- mat: vad användaren äter, hur ofta och för vem det lagas och när",
    "Polish": "- jedzenie: co je użytkownik, jak często gotuje i dla kogo to robi",
}


@pytest.mark.parametrize("language", PASSAGES)
def test_one_sentence_is_enough(language: str) -> None:
    assert script(words(PASSAGES[language])) == "Latin"
    assert latin_language(words(PASSAGES[language])) == language


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_seeds_are_english(architecture: str) -> None:
    for text in seed_policy(architecture).texts.values():
        for line in (text, *(line for line in text.splitlines() if line.startswith("- "))):
            assert latin_language(words(line)) == "English"


@pytest.mark.parametrize(
    "text", ["", "diet, cooking, kitchen, budget", "Rio de Janeiro", PASSAGES["English"][:20]]
)
def test_too_little_is_undecided(text: str) -> None:
    assert latin_language(words(text)) is None


def test_two_languages_at_once_are_undecided() -> None:
    german = PASSAGES["German"] + " und mit wem"
    assert latin_language(words(german)) == "German"
    assert latin_language(words(PASSAGES["English"] + german)) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", ""),
        ("12 %", ""),
        ("记住用户说过的事", "Chinese"),
        ("ユーザーが話したことを覚える", "Japanese"),
        ("人々", "Chinese"),
        ("запомни, что сказал человек", "Cyrillic"),
        ("사용자가 말한 것", "Hangul"),
        ("记住用户的咖啡 latte", "Chinese"),
        ("remember the latte 咖啡", "Latin"),
    ],
)
def test_script(text: str, name: str) -> None:
    assert script(words(text)) == name
