"""What may be asked for, and the sentence where it may not."""

from __future__ import annotations

import pytest

from evolve.gym.generating.brief import Brief
from policies.errors import ConfigError


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"domain": " "}, "--domain"),
        ({"domain": "a\0b"}, "--domain"),
        ({"domain": "x" * 201}, "--domain"),
        ({"language": "de"}, "--language"),
        ({"language": ""}, "--language"),
        ({"language": "x" * 41}, "--language"),
        ({"language": "Ger\nman"}, "--language"),
        ({"seed": -1}, "--seed"),
        ({"periods": 1}, "--periods"),
        ({"periods": 25}, "--periods"),
        ({"questions": 1}, "--questions"),
        ({"questions": 21}, "--questions"),
    ],
)
def test_what_is_not_usable_is_told_in_one_sentence(wrong, named):
    with pytest.raises(ConfigError, match=f"^{named} must .*; .*\\.$"):
        Brief(**{"domain": "travel assistant", **wrong})


def test_white_space_and_the_first_letter_make_no_difference():
    assert Brief(" travel \n assistant", "german ") == Brief("travel assistant", "German")
