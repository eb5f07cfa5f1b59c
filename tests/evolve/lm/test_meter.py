"""Counting what passes through a model."""

import pytest

from evolve.lm.base import Completion, Message, Request, count_tokens
from evolve.lm.meter import Meter, add_usage
from feedback.records import Usage
from policies.errors import OutsideFailureError


class Fixed:
    """Says "ab" to everything; fails on a probe."""

    name = "fixed"

    def complete(self, request):
        if request.task == "probe":
            raise OutsideFailureError("down")
        return Completion("ab", 5, 1)


def test_calls_and_tokens_are_counted_per_role():
    meter = Meter(Fixed())
    assert (meter.name, meter.usage) == ("fixed", ())
    for task in ("write", "answer", "write"):
        assert meter.complete(Request(task, (Message("user", "x"),))).text == "ab"
    assert meter.usage == (("answer", Usage(1, 5, 1)), ("write", Usage(2, 10, 2)))


def test_errors_pass_and_are_not_counted():
    meter = Meter(Fixed())
    with pytest.raises(OutsideFailureError, match="down"):
        meter.complete(Request("probe", (Message("user", "x"),)))
    assert meter.usage == ()


def test_meters_do_not_share_their_counts():
    one, other = Meter(Fixed()), Meter(Fixed())
    one.complete(Request("reply", (Message("user", "x"),)))
    assert other.usage == ()


def test_usages_are_added_by_role():
    one = (("answer", Usage(1, 2, 3)), ("write", Usage(1, 1, 1)))
    other = (("probe", Usage(4, 0, 0)), ("write", Usage(1, 2, 3)))
    total = (("answer", Usage(1, 2, 3)), ("probe", Usage(4, 0, 0)), ("write", Usage(2, 3, 4)))
    assert add_usage(one, other) == add_usage(other, one) == total
    assert add_usage((), ()) == ()


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("茶", 1)]
)
def test_tokens_are_bytes_by_four_rounded_up(text, tokens):
    assert count_tokens(text) == tokens
