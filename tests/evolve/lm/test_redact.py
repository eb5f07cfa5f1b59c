"""Keys in texts that others wrote."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from evolve.lm.redact import PIECE, redact, redact_reply, secrets

KEY = "sk-proj-Zx81Qw72Er63Ty54"
ENVIRON = {"OPENAI_API_KEY": KEY, "DB_PASSWORD": "hunter2", "HOME": "/home/someone", "MY_KEY": "x"}


def leaks(text: str, key: str = KEY) -> bool:
    return any(key[n : n + PIECE] in text for n in range(len(key) - PIECE + 1))


def test_values_of_variables_that_are_named_like_keys_are_secret() -> None:
    names = ["A_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "X_SECRET", "PGPASSWORD", "TOKEN"]
    for name in names:
        assert secrets({name: "12345678"}) == ("12345678",)
    for name in ("KEYBOARD", "PATH", "TOKENIZERS_PARALLELISM", "MONKEY"):
        assert secrets({name: "12345678"}) == ()
    assert secrets(ENVIRON) == (KEY, "hunter2")


def test_keys_and_their_pieces_are_removed_and_nothing_else() -> None:
    assert redact(f"wrong key {KEY}.", ENVIRON) == "wrong key [removed]."
    assert redact(f"{KEY[:9]}****{KEY[-4:]}", ENVIRON) == "[removed]****Ty54"
    assert redact("password hunter2 at /home/someone, x", ENVIRON) == (
        "password [removed] at /home/someone, x"
    )
    assert redact("", ENVIRON) == ""


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 24), st.text(max_size=5))))
def test_no_piece_is_left_however_a_text_quotes_them(quotes) -> None:
    text = "".join(KEY[start:end] + between for start, end, between in quotes)
    assert not leaks(redact(text, ENVIRON))


def test_a_models_own_words_lose_whole_keys_only() -> None:
    assert redact_reply(f"{KEY} and {KEY[:12]}, hunter2", ENVIRON) == (
        f"[removed] and {KEY[:12]}, hunter2"
    )


def test_it_is_linear_in_the_text() -> None:
    began = time.perf_counter()
    redact("sk-proj " * 50_000, ENVIRON)
    assert time.perf_counter() - began < 2
