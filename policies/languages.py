"""Which script and which language a text is mostly written in, as far as a rewrite rule needs it.

The script of a word is that of its first letter by its Unicode name; a word of spaced writing
weighs as much as two Chinese or Japanese characters. Han and kana together are Japanese if at least
one character in eight is kana, else Chinese. Texts in Latin letters are told apart by common
function words in nine languages; where too few of them stand in a text, or two languages are close,
the language is undecided. Other scripts stand for one language each, so Russian and Ukrainian, or
Hindi and Marathi, are not told apart.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from policies.words import weight

_KANA_SHARE = 1 / 8
_FEWEST_HITS = 3
_LOWEST_SHARE = 0.05  # of all words: names such as Rio de Janeiro make no text Spanish
_LEAD = 1.25  # over the second language

_FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(listed.split())
    for language, listed in {
        "English": "the a an and or of to in on is are be was has have do does not no it this that"
        " what who which how with for from by as at they their you your them when where if any",
        "German": "der die das den dem des ein eine einen einer und oder ist sind nicht mit von für"
        " auf was wer wie zu zum zur im in sich wird werden auch nach bei aus als wenn an um sie",
        "French": "le la les un une des du de et ou est sont que qui quoi pour dans avec sur pas"
        " ce cette ces il elle ils au aux en ses son sa par plus ne se à comme où",
        "Spanish": "el la los las un una unos y o es son de del que qué quién con por para en no"
        " se su sus lo le al como cómo más sobre cuando donde este esta a e si",
        "Italian": "il lo la gli le i un una uno e o è sono di del della dei delle degli che chi"
        " con per in nel nella non si su da dal come cosa più quando dove questo a al ai",
        "Portuguese": "o a os as um uma uns e ou é são de do da dos das que quem com por para em no"
        " na nos nas não se seu sua ao à como mais sobre quando onde este pelo",
        "Dutch": "de het een en of is zijn van niet met voor op dat dit wat wie hoe in te naar ook"
        " door aan bij als uit er om die welke heeft wordt",
        "Swedish": "och eller att det den en ett är var som på för med av inte till vad vem hur om"
        " i har de sig från när där",
        "Polish": "i lub oraz w we na z ze jest są nie się do że to co kto jak dla od po o ten ta"
        " te przez czy gdy gdzie który która",
    }.items()
}


def script(text_words: Sequence[str]) -> str:
    """The script that most of a text is written in, such as ``"Latin"``; "" without letters."""
    weights: Counter[str] = Counter()
    for word in text_words:
        if word[0].isalpha():
            weights[_script_of(word[0])] += weight(word)
    kana = weights.pop("Kana", 0)
    if han := weights.pop("Han", 0) + kana:
        weights["Japanese" if kana >= _KANA_SHARE * han else "Chinese"] = han
    return max(sorted(weights), key=weights.__getitem__, default="")


def latin_language(text_words: Sequence[str]) -> str | None:
    """The language of a text in Latin letters, such as ``"English"``; None where undecided."""
    hits = {
        language: sum(word in listed for word in text_words)
        for language, listed in _FUNCTION_WORDS.items()
    }
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    enough = hits[best] >= max(_FEWEST_HITS, _LOWEST_SHARE * len(text_words))
    return best if enough and hits[best] >= _LEAD * hits[second] else None


def _script_of(letter: str) -> str:
    name = unicodedata.name(letter, "unknown")
    if name.startswith(("HIRAGANA", "KATAKANA")):
        return "Kana"
    return "Han" if name.startswith(("CJK", "IDEOGRAPHIC")) else name.split()[0].capitalize()
