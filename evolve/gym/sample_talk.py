"""What a sample user says: opening queries, small talk and questions in words, from a bank."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from evolve.gym.sample_bank import Bank
from evolve.gym.sample_lives import Asked

EXPLICITNESS = 0.25  # share of the facts that are stated, not only implied
ONE_GENERIC = 0.5  # chance of one generic remark in a message; two otherwise
EMPTY_REMARK = 0.4  # chance of a remark that fits no type

FRAMES = (
    "Considering {first} and {second}, what would you suggest?",
    "Given {first} as well as {second}, what should I do next?",
    "With both {first} and {second} in mind, which idea suits me best?",
    "Taking {first} into account, and {second} too, where should I begin?",
    "What would you recommend, in view of {first} and {second}?",
    "If you look at {first} and also at {second}, what is the sensible choice for me?",
    "Which option fits {first} together with {second}?",
    "How should I plan the coming weeks, bearing in mind {first} and {second}?",
)


class Speaker:
    """One user's way of talking, which repeats a phrase only after all others of its kind."""

    def __init__(self, bank: Bank, rng: Random, explicitness: float) -> None:
        """Start with nothing said.

        Args:
            bank: Phrases.
            rng: Source of chance, the user's own.
            explicitness: Chance, 0 to 1, that a fact is stated and not only implied.
        """
        self._bank = bank
        self._rng = rng
        self._explicitness = explicitness
        self._left: dict[tuple[str, ...], list[str]] = {}

    def values(self, state: str) -> tuple[str, ...]:
        """Possible values of a state type that can be talked about."""
        return self._bank.values(state)

    def small_talk(self, remarks: int) -> list[str]:
        """Remarks of the kinds that a generic list of types covers."""
        return [self._draw(self._bank.generic) for _ in range(remarks)]

    def opening(self, facts: Iterable[tuple[str, str]], domain: str) -> str:
        """The query that opens a session: facts and small talk in any order, then a request.

        Args:
            facts: (state, value) that it reveals, maybe none.
            domain: Domain of the request.
        """
        sentences = []
        for fact in facts:
            phrases = self._bank.phrases[fact]
            stated = self._rng.random() < self._explicitness
            sentences.append(self._draw(phrases.explicit if stated else phrases.implied))
        sentences += self.small_talk(1 if self._rng.random() < ONE_GENERIC else 2)
        if self._rng.random() < EMPTY_REMARK:
            sentences.append(self._draw(self._bank.empty))
        self._rng.shuffle(sentences)
        return " ".join([*sentences, self._draw(self._bank.requests[domain])])

    def question(self, asked: Asked) -> dict[str, object]:
        """An entry of ``qas``: the question and its choices, each with advice of its own."""
        first, second = (self._bank.factors[state] for state in asked.required)
        advice = self._rng.sample(self._bank.advice, len(asked.choices))
        choices = []
        for combination, hint in zip(asked.choices, advice, strict=True):
            reasons = [
                self._rng.choice(self._bank.phrases[fact].clause)
                for fact in zip(asked.required, combination, strict=True)
            ]
            answer = f"Since {reasons[0]}, and since {reasons[1]}, {hint}."
            choices.append({"state": list(combination), "answer": answer, "type": "experience"})
        return {
            "query": self._draw(FRAMES).format(first=first, second=second),
            "required_info": list(asked.required),
            "answer_choices": choices,
        }

    def _draw(self, phrases: tuple[str, ...]) -> str:
        """One of the phrases."""
        left = self._left.setdefault(phrases, [])
        if not left:
            left += self._rng.sample(phrases, len(phrases))
        return left.pop()
