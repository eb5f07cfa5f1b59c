"""N-grams of several scripts, shares and nearness."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedback.similarity import (
    nearness,
    ngram_set,
    ngrams,
    presence,
    rivals,
    share_within,
    shares,
    weighted,
)


def test_a_name_is_read_as_words():
    assert ngram_set("large_citywide-event") == ngram_set("Large citywide event")
    assert " large " in ngram_set("large_citywide_event")


def test_unspaced_scripts_are_read_by_characters_and_pairs():
    assert ngrams("纯素者") == ["纯", "素", "者", "纯素", "素者"]
    assert {"素", " vegan "} <= ngram_set("我吃素 (vegan)")


def test_mixed_words_are_cut_where_the_script_changes():
    assert {" iphone ", "手机"} <= ngram_set("iPhone手机")


def test_share_of_one_text_within_another():
    assert share_within("a vegan", "she is a vegan now") == 1.0
    assert share_within("vegan", "jazz") == 0.0
    assert share_within("!?", "jazz") == 0.0


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4), st.text(max_size=20))
def test_shares_and_nearness_lie_between_0_and_1(phrases, text):
    present = presence([text, *phrases])
    found = [shares(present, weighted(phrases, text)), nearness(present, rivals([(text, phrases)]))]
    for matrix in found:
        assert matrix.shape == (1 + len(phrases), len(phrases))
        assert np.all((matrix >= 0) & (matrix <= 1 + 1e-9))


@given(st.lists(st.text(alphabet="abcdef ", min_size=1), min_size=1, max_size=4, unique=True))
def test_a_phrase_holds_itself(phrases):
    own = np.diag(shares(presence(phrases), weighted(phrases)))
    assert all(np.isclose(share, bool(ngrams(p))) for share, p in zip(own, phrases, strict=True))


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("likes complex dishes", 2),
        ("likes moderately complex dishes", 1),
        ("simple dishes only", 0),
    ],
)
def test_a_value_within_another_is_told_apart(text, best):
    values = ["simple_dishes", "moderately_complex_dishes", "complex_dishes"]
    (near,) = nearness(presence([text]), rivals([("", values)]))
    assert near.argmax() == best
    assert near[best] - np.delete(near, best).max() > 0.1


def test_a_word_of_the_name_tells_values_apart_less():
    values = ["no_tracking", "phone_app"]
    text = presence(["a phone app for tracking"])
    (plain,) = nearness(text, rivals([("", values)]))
    (named,) = nearness(text, rivals([("tracking_tool", values)]))
    assert named[1] - named[0] > plain[1] - plain[0]


def test_groups_do_not_compete():
    text = presence(["a phone app and a large kitchen"])
    tools, rooms = ("tool", ["no_tracking", "phone_app"]), ("room", ["large_kitchen"])
    together = nearness(text, rivals([tools, rooms]))
    alone = [nearness(text, rivals([group])) for group in (tools, rooms)]
    assert np.allclose(together, np.concatenate(alone, axis=1))
