"""Routing: which step is mended by which texts, and by which settings."""

from __future__ import annotations

import pytest

from feedback.records import Diagnosis, Stage, StateTrace, TraceStage
from feedback.routing import (
    GROUPS,
    LIKELY,
    address,
    address_group,
    groups_of,
    parts_of,
    shares_of,
)
from policies.policy import seed_policy
from policies.settings import SETTINGS

AWE = seed_policy("awe")


def lost(stage: TraceStage, competing: int | None = None) -> Diagnosis:
    return Diagnosis("u", 0, 0, 4, Stage.WRITE, trace=(StateTrace("tea", stage, competing),))


@pytest.mark.parametrize(
    ("diagnosis", "parts", "groups"),
    [
        (lost(TraceStage.UNSAID), {"reply_prompt"}, None),
        (lost(TraceStage.UNWRITTEN), {"memory_types", "write_prompt"}, None),
        (
            lost(TraceStage.UNWRITTEN, 3),
            {"memory_types", "write_prompt", "settings"},
            ("writing",),
        ),
        (lost(TraceStage.LOST), {"memory_types", "write_prompt", "settings"}, ("keeping",)),
        (lost(TraceStage.UNRETRIEVED), {"settings"}, ("finding",)),
        (lost(TraceStage.MISREAD), {"answer_prompt", "settings"}, ("showing",)),
        (lost(TraceStage.UNUSED), {"answer_prompt", "settings"}, ("showing",)),
        (Diagnosis("u", 0, 0, 4, Stage.WRITE), {"memory_types", "write_prompt"}, None),
        (
            Diagnosis("u", 0, 0, 4, Stage.READ),
            {"answer_prompt", "settings"},
            ("keeping", "finding"),
        ),
        (Diagnosis("u", 0, 0, 4, Stage.UTILIZATION), {"answer_prompt", "settings"}, ("showing",)),
        (Diagnosis("u", 0, 0, 4, Stage.FORMAT), {"answer_prompt"}, None),
    ],
)
def test_what_can_mend_it(diagnosis, parts, groups) -> None:
    assert set(address(diagnosis, parts_of(AWE))) == parts
    if groups is not None:
        assert address_group(diagnosis, groups_of(AWE.settings)) == groups


@pytest.mark.parametrize(
    ("types", "share"),
    [("- pets", LIKELY), ("- pets\n- tea: which kind", 1 - LIKELY), ("", LIKELY)],
)
def test_types_are_rather_to_blame_where_they_do_not_name_what_was_lost(types, share) -> None:
    shares = shares_of(lost(TraceStage.UNWRITTEN), parts_of(AWE), types)
    assert shares == pytest.approx({"memory_types": share, "write_prompt": 1 - share})


def test_the_shares_of_an_answer_sum_to_one() -> None:
    shares = shares_of(lost(TraceStage.LOST), parts_of(AWE), "")
    assert shares["settings"] == pytest.approx(1 / 3)
    assert sum(shares.values()) == pytest.approx(1)


def test_all_groups_where_none_of_a_policys_decides_the_step() -> None:
    native = groups_of(seed_policy("native").settings)
    assert native == ("keeping",)
    assert address_group(lost(TraceStage.UNRETRIEVED), native) == native
    assert groups_of(seed_policy("none").settings) == ()


def test_every_setting_is_in_a_group() -> None:
    assert {name for members in GROUPS.values() for name in members} == {s.name for s in SETTINGS}
