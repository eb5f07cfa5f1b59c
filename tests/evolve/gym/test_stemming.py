from __future__ import annotations

import pytest

from evolve.gym.stemming import stem

PAPER = """
caresses caress ponies poni ties ti caress caress cats cat feed feed agreed agre bled bled
plastered plaster motoring motor sing sing conflated conflat troubled troubl sized size hopping hop
tanned tan falling fall hissing hiss fizzed fizz failing fail filing file happy happi sky sky
relational relat conditional condit rational ration valenci valenc hesitanci hesit digitizer digit
conformabli conform radicalli radic differentli differ vileli vile analogousli analog
vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis
hopefulness hope callousness callous formaliti formal sensitiviti sensit sensibiliti sensibl
triplicate triplic formative form formalize formal electriciti electr electrical electr hopeful hope
goodness good revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop
adjustable adjust defensible defens irritant irrit replacement replac adjustment adjust dependent
depend adoption adopt communism commun activate activ homologous homolog effective effect
bowdlerize bowdler probate probat rate rate cease ceas controll control roll roll is is by by
"""
WORDS = PAPER.split()


@pytest.mark.parametrize("place", range(0, len(WORDS), 2))
def test_the_papers_examples(place):
    assert stem(WORDS[place]) == WORDS[place + 1]


def test_words_without_english_letters_stay():
    assert [stem(word) for word in ("2023", "東京都", "naïve")] == ["2023", "東京都", "naïv"]
