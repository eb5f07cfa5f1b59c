"""What an environment is to be made of, as its maker asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from evolve.ranges import check_range
from policies.errors import ConfigError

LONGEST_DOMAIN, LONGEST_LANGUAGE = 200, 40  # characters
MOST_USERS = 1000
RANGES = {"seed": (0, None), "periods": (2, 24), "questions": (2, 20)}


@dataclass(frozen=True, slots=True)
class Brief:
    """What all users of an environment have in common.

    Attributes:
        domain: What the assistant is for, in a few words.
        language: In which people talk, by its English name.
        seed: Of every random choice, 0 or above.
        periods: Of each user's life, 2 to 24, three months each.
        questions: To each user, 2 to 20; all are asked in every period.

    Raises:
        ConfigError: One of them is not usable.
    """

    domain: str
    language: str = "English"
    seed: int = 0
    periods: int = 8
    questions: int = 8

    def __post_init__(self) -> None:
        domain = " ".join(self.domain.split())
        if not domain or not domain.isprintable() or len(domain) > LONGEST_DOMAIN:
            raise ConfigError(
                f"--domain must say in up to {LONGEST_DOMAIN} characters what the assistant is "
                f"for, but is {self.domain[:LONGEST_LANGUAGE]!r}; give words such as "
                "'travel assistant'."
            )
        language = self.language.strip()
        letters = sum(character.isalpha() for character in language)
        if letters < 3 or not language.isprintable() or len(language) > LONGEST_LANGUAGE:
            raise ConfigError(
                "--language must be the English name of a language, but is "
                f"{self.language[:LONGEST_LANGUAGE]!r}; write it out, such as German."
            )
        for name, (least, most) in RANGES.items():
            check_range(name, getattr(self, name), least, most)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "language", language[:1].upper() + language[1:])

    @property
    def state_types(self) -> int:
        """How many kinds of state there are, of which each user has most."""
        return self.questions + 4
