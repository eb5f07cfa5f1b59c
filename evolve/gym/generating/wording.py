"""Whether a text is in the language that was asked for, as far as that can be told."""

from __future__ import annotations

from policies.languages import latin_language, script
from policies.words import words

_LATIN = frozenset(
    (
        "English",
        "German",
        "French",
        "Spanish",
        "Italian",
        "Portuguese",
        "Dutch",
        "Swedish",
        "Polish",
    )
)
_SCRIPTS = {
    "Arabic": "Arabic",
    "Bulgarian": "Cyrillic",
    "Chinese": "Chinese",
    "Greek": "Greek",
    "Hebrew": "Hebrew",
    "Hindi": "Devanagari",
    "Japanese": "Japanese",
    "Korean": "Hangul",
    "Persian": "Arabic",
    "Russian": "Cyrillic",
    "Thai": "Thai",
    "Ukrainian": "Cyrillic",
}


def foreign(what: str, text: str, language: str) -> list[str]:
    """What to say where a text is in another language; nothing where that cannot be told.

    Languages in Latin letters are told apart by their function words, others by their script; of
    languages outside both tables nothing is known.

    Args:
        what: Names the text in the message.
        text: Long enough to have a language: a sentence or more.
        language: The English name of the one that was asked for.
    """
    used = words(text)
    if language in _LATIN:
        found = latin_language(used) if script(used) == "Latin" else script(used)
        wrong = found not in {None, "", language}
    else:
        found = script(used)
        wrong = language in _SCRIPTS and found not in {"", _SCRIPTS[language]}
    return [f"{what} must be in {language}, but reads as {found}"] if wrong else []
