"""Keys in texts that others wrote."""

from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.lm.redact import PIECE, plain, redact, redact_reply

KEY = "sk-proj-Zx81Qw72Er63Ty54"
ENVIRON = {"OPENAI_API_KEY": KEY, "DB_PASSWORD": "hunter2", "HOME": "/home/someone", "MY_KEY": "x"}


def leaks(text: str, key: str = KEY) -> bool:
    return any(key[n : n + PIECE] in text for n in range(len(key) - PIECE + 1))


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


def written(key: str) -> dict[str, str]:
    """A key as a provider's error may write it."""
    encode = base64.b64encode
    return {
        "bearer": encode(f"Bearer {key}".encode()).decode(),
        **{f"base64 after {n}": encode(b"x" * n + key.encode()).decode() for n in range(3)},
        "url-safe": base64.urlsafe_b64encode(key.encode()).decode(),
        "hex": key.encode().hex(),
        "HEX": key.encode().hex(" ").upper(),
        "percent": "".join(f"%{ord(c):02X}" for c in key),
        "percent, some": quote(key, safe=""),
        "from its end": key[::-1],
        "upper": key.upper(),
        "lower": key.lower(),
        "dashes": "-".join(key),
        "blanks": " ".join(key[n : n + 4] for n in range(0, len(key), 4)),
        "lines": "\n".join(key[n : n + 7] for n in range(0, len(key), 7)),
        "zero width": "\u200b".join(key),
        "escapes": "".join(f"\\u{ord(c):04x}" for c in key),
        "escapes in JSON": json.dumps("".join(f"\\u{ord(c):04x}" for c in key)),
    }


@pytest.mark.parametrize("form", written(KEY))
@pytest.mark.parametrize("key", [KEY, "AKz9/Qx7+Lm3==Wd8.Pv2_Yt"])
def test_a_key_that_is_written_otherwise_is_removed_too(form: str, key: str) -> None:
    told = redact(f"Wrong key: {written(key)[form]} end", {"OPENAI_API_KEY": key})
    assert told.startswith("Wrong key: ")
    assert told.endswith(" end")
    assert len(told.replace("Wrong key", "").replace("[removed]", "").replace(" end", "")) < 26, (
        told
    )


def test_what_only_resembles_a_key_stays() -> None:
    said = "The prompt sk-proj has 8192 tokens: 0x5f3759df, aGVsbG8gd29ybGQ=, %41%42 \\u00e9."
    assert redact(said, ENVIRON) == said


def test_a_models_own_words_lose_whole_keys_of_its_provider_only() -> None:
    environ = {**ENVIRON, "OPENAI_API_TOKEN": "a plain sentence 1", "X_API_KEY": KEY + "2"}
    said = f"{KEY} and {KEY[:12]}, hunter2, a plain sentence 1"
    assert redact_reply(said, "openai/a", environ) == said.replace(KEY, "[removed]", 1)
    assert redact_reply(said, "groq/a", environ) == said


def test_what_a_terminal_would_obey_is_no_part_of_a_message() -> None:
    said = "a\x1b[31mred\x1b[0m\x1b]0;title\x07 b\x00\x08\ud800\u202e\r\nc é 中"
    assert plain(said) == "ared b c é 中"


def test_it_is_linear_in_the_text() -> None:
    once, often = cpu_of(500), cpu_of(8_000)
    assert often < 64 * once  # 16 times as much; it would be 256 times with its square


def cpu_of(words: int) -> float:
    """Seconds of this process alone, whatever else the machine does; the least of three."""
    text, taken = "sk-proj " * words, []
    for _ in range(3):
        began = time.process_time()
        redact(text, ENVIRON)
        taken.append(time.process_time() - began)
    return min(taken)
