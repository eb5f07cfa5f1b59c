"""Which variables hold keys, and what a key looks like."""

from __future__ import annotations

import pytest

from evolve.lm.keys import check_key, own_keys, secrets
from policies.errors import ModelError

KEY = "sk-proj-Zx81Qw72Er63Ty54"
ENVIRON = {"OPENAI_API_KEY": KEY, "DB_PASSWORD": "hunter2", "HOME": "/home/someone", "MY_KEY": "x"}
NAMES = [
    *("A_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "X_SECRET", "PGPASSWORD", "TOKEN"),
    *("WATSONX_APIKEY", "WATSONX_ZENAPIKEY", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "X_CREDENTIAL"),
]


def test_values_of_variables_that_are_named_like_keys_are_secret() -> None:
    for name in NAMES:
        assert secrets({name: "12345678"}) == ("12345678",), name
    for name in ("KEYBOARD", "PATH", "TOKENIZERS_PARALLELISM", "MONKEY"):
        assert secrets({name: "12345678"}) == ()
    assert secrets(ENVIRON) == (KEY, "hunter2")


def test_passwords_in_addresses_are_secret() -> None:
    environ = {"HTTPS_PROXY": "http://me:s3cret@proxy:8080", "DB": "postgresql://u:pass1@h/d"}
    assert secrets(environ) == ("s3cret", "pass1")
    assert secrets({"NO_PROXY": "a@b, http://proxy:8080"}) == ()


def test_keys_of_a_provider_are_told_from_others() -> None:
    environ = {"OPENAI_API_KEY": KEY, "GROQ_API_KEY": KEY + "2", "AWS_ACCESS_KEY_ID": KEY + "3"}
    assert own_keys("openai/a", environ) == (KEY,)
    assert own_keys("bedrock/a", environ) == (KEY + "3",)
    for word in ("correct horse battery 1", "aaaaaaaaaaaaaaaaaaaa1", "short1", "onlyletterslong"):
        assert own_keys("openai/a", {"OPENAI_API_KEY": word}) == ()


@pytest.mark.parametrize(
    "key", [f"{KEY}\r", f"{KEY}\nx", f"\ufeff{KEY}", f"é{KEY}", f"{KEY} ", "\t"]
)
def test_a_key_that_cannot_be_sent_is_told_without_it(key: str) -> None:
    with pytest.raises(ModelError, match="in OPENAI_API_KEY, for openai/a,") as caught:
        check_key("openai/a", {"OPENAI_API_KEY": key})
    assert KEY[:8] not in str(caught.value)
    check_key("groq/a", {"OPENAI_API_KEY": key})
    check_key("openai/a", {"OPENAI_API_KEY": KEY, "OPENAI_CREDENTIALS": "a\nb"})
