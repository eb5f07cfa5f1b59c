"""What a message shows of a value stays short, whatever the value is."""

from policies.shown import short


def test_it_stays_short() -> None:
    pair = {"k" * 1000: "v" * 1000}
    many = [[[[["x"] * 9] * 9] * 9] * 9]
    for value in (10**400, 16**9000, [16**9000], "x" * 1000, pair, many):
        assert len(short(value)) <= 101


def test_what_is_short_stays() -> None:
    assert (short("a"), short(2.5), short([1, "b"])) == ("'a'", "2.5", "[1, 'b']")
