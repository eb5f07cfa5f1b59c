from __future__ import annotations

import pytest

from evolve.locomo.evidence import read_evidence

KNOWN = {"D1:1", "D2:12", "D30:5"}


@pytest.mark.parametrize(
    ("found", "turns"),
    [
        (["D1:1", "D2:12"], ("D1:1", "D2:12")),
        (["D1:1; D2:12"], ("D1:1", "D2:12")),
        (["D2:12 D1:1", "D1:1"], ("D2:12", "D1:1")),
        (["D:2:12"], ("D2:12",)),
        (["D30:05,D1 : 1"], ("D30:5", "D1:1")),
        ("D1:1", ("D1:1",)),
        ([], ()),
    ],
)
def test_what_can_be_read_is(found, turns):
    evidence = read_evidence(found, KNOWN)
    assert evidence.turns == turns
    assert all(odd.read for odd in evidence.odd)


def test_plain_ids_are_not_odd_and_others_say_what_they_were_read_as():
    (odd,) = read_evidence(["D1:1", "D:2:12"], KNOWN).odd
    assert (odd.found, odd.told) == ("D:2:12", "read as D2:12")


@pytest.mark.parametrize(
    ("item", "turns", "told"),
    [
        ("D", (), "cannot be read"),
        ("", (), "is empty"),
        ("D1:19", (), "the dialogue has no turn D1:19"),
        ("D1:1; D1:19", ("D1:1",), "read as D1:1; the dialogue has no turn D1:19"),
        ("D1:1 and more", ("D1:1",), 'read as D1:1; "andmore" cannot be read'),
        (7, (), "cannot be read"),
        (None, (), "cannot be read"),
        (["D1:1"], (), "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(item, turns, told):
    evidence = read_evidence([item], KNOWN)
    assert evidence.turns == turns
    (odd,) = evidence.odd
    assert odd.told == told
    assert not odd.read
