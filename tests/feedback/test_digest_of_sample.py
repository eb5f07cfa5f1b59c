"""Feedback on offline rollouts: choices are evidence, and nothing that the stand-in acts on."""

from dataclasses import replace

import pytest

from evolve.gym.rollout import World, live
from evolve.gym.sample import make_users
from evolve.gym.users import users_of
from evolve.lm.base import Message, Request
from evolve.lm.offline import OfflineLM
from feedback.diagnosis import diagnose
from feedback.digest import Case, build_feedback
from policies.policy import seed_policy

AWE = seed_policy("awe")


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    lm = OfflineLM()
    found = []
    for user in users_of(make_users(5, 3), "test"):
        rollout = live(AWE, user, World(lm, lm, 1))
        found.append(Case(rollout, user.truth(), diagnose(rollout, user.truth())))
    return found


def rewritten(part: str, feedback: str, seed: int) -> str:
    fields = {
        "purpose": f"{part}: its purpose",
        "rules": "- At most 8000 characters.",
        "current_text": AWE.texts[part],
        "feedback": feedback,
    }
    prompt = "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items())
    prompt += "\n\nRespond with the corresponding output fields."
    return OfflineLM().complete(Request("rewrite", (Message("user", prompt),), seed)).text


def test_choices_do_not_change_what_the_stand_in_reads(cases):
    told = build_feedback(AWE, cases)
    silent = build_feedback(
        AWE,
        [
            case._replace(
                truth=replace(case.truth, choices=tuple(("",) * len(c) for c in case.truth.choices))
            )
            for case in cases
        ],
    )
    assert told.numbers == silent.numbers
    for part in AWE.texts:
        for seed in range(5):
            now = rewritten(part, told.texts[part], seed)
            assert now == rewritten(part, silent.texts[part], seed)
    assert told.texts["memory_types"] != silent.texts["memory_types"]


def test_evidence_holds_both_choices(cases):
    truth = {case.truth.user: case.truth for case in cases}
    text = build_feedback(AWE, cases).texts["memory_types"]
    lines = [line for line in text.split("\n") if line.startswith('  - asked "')]
    assert len(lines) >= 3
    known = {c for one in truth.values() for choices in one.choices for c in choices}
    for line in lines:
        chosen, right = line.partition('", chose "')[2].split('" was right')[0].split('" where "')
        assert chosen != right
        assert all(any(s.strip("…") in c for c in known) for s in (chosen, right))
