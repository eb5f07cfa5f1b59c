from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.words import count_tokens, occurrences, phrases, runs, weight, words


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", ()),
        ("Diet_style: bi-weekly!", ("diet", "style", "bi", "weekly")),
        ("I don’t; the user's 30 km", ("i", "don't", "the", "user's", "30", "km")),
        ("'quoted' (ÉTÉ)", ("quoted", "été")),
        ("under_$500", ("under", "500")),
        ("我住在 Berlin。", ("我", "住", "在", "berlin")),
        ("コーヒー・ﾃｨｰ", ("コ", "ー", "ヒ", "ー", "テ", "ィ", "ー")),
        ("हिंदी में", ("हिंदी", "में")),
        ("see {{memories}}, {x}", ("see", "{{memories}}", "x")),
    ],
)
def test_words(text: str, cut: tuple[str, ...]) -> None:
    assert words(text) == cut


def test_count_tokens_is_bytes_by_four_rounded_up() -> None:
    assert [count_tokens(text) for text in ("", "a", "abcd", "abcde", "漢字")] == [0, 1, 1, 2, 2]


def test_runs_are_six_words_or_twelve_characters() -> None:
    assert list(runs(words("a b c d e"))) == []
    assert list(runs(words("a b c d e f g"))) == [(0, 6), (1, 7)]
    assert list(runs(words("一二三四五六七八九十壹"))) == []
    assert list(runs(words("一二三四五六七八九十壹贰叁"))) == [(0, 12), (1, 13)]
    assert list(runs(words("一二三四五六七八九十壹 ab cd"))) == [
        (0, 12),
        (1, 12),
        (2, 13),
        (3, 13),
    ]


@given(text=st.text(alphabet="ab 一二", max_size=60))
def test_runs_reach_the_weight_and_no_further(text: str) -> None:
    cut = words(text)
    found = list(runs(cut))
    for start, end in found:
        total = sum(weight(word) for word in cut[start:end])
        assert total >= 12 > total - weight(cut[end - 1])
    assert [start for start, _ in found] == list(range(len(found)))
    left = cut[len(found) :]
    assert sum(weight(word) for word in left) < 12


def test_occurrences_are_whole_words_wherever_they_stand() -> None:
    wanted = phrases(["small_team", "Small", "team", ""])
    assert list(occurrences(words("a small team, smaller teams; TEAM"), wanted)) == [
        (1, 2),
        (1, 3),
        (2, 3),
        (5, 6),
    ]
