"""Wrong answers of a run, told step by step: what was said, held, shown and answered.

They are plain data for the page of a report, which shows them one at a time. Texts stand once and
are referred to by number, and whole users are left out where the page would grow too large.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolve.results.curves import Cohort, named_policies
from evolve.results.run_record import RunRecord
from feedback.evidence import shortened
from feedback.reading import FLOOR, reader_of
from feedback.records import Answer, ChatMessage, Diagnosis, Entry, Rollout, Stage, UserTruth
from feedback.trace import RolloutIndex, index_rollout, revealing_turns

MOST_BYTES = 2_000_000  # of all wrong answers, as JSON
_WORDS = 400  # characters of what a user said, or of a memory
_REPLY = 200  # characters of a reply that names no choice, or is in own words
_TURNS = 2  # revealing turns told of a state, the latest
_UNSEEN = ("none",)  # nothing was held, and nobody probed
_TIME = re.compile(r"\[[^\]\n]*?(\d{4}-[\d: .T/-]+)\]\s*")  # a session's first message starts so


@dataclass(frozen=True, slots=True)
class Failures:
    """Wrong answers, ready to be shown.

    Attributes:
        data: JSON-able: ``policies`` (names), ``users`` (per user its ``id``, ``questions`` and
            ``choices``) and ``lives``, one per user and policy, with its ``memory``, which entries
            are ``about`` a state, the ``turns`` quoted, and its ``wrong`` answers.
        wrong: Number of wrong answers in it.
        left_out: Number of wrong answers of users that are left out.
    """

    data: Mapping[str, Any]
    wrong: int
    left_out: int


def failures_of(record: RunRecord, cohort: Cohort, most_bytes: int = MOST_BYTES) -> Failures:
    """The wrong answers of the policies of a cohort, user by user.

    Args:
        record: The run, with its users.
        cohort: Answers to look at; those of ``none``, which holds nothing, are left out.
        most_bytes: Size of all of it as JSON, in bytes; one user is always there.
    """
    names = [name for name in cohort.answers if name not in _UNSEEN]
    given = {name: _by_user(cohort.answers[name]) for name in names}
    truths = {user.id: user.truth() for user in record.users or ()}
    ids = named_policies(record)
    users: list[dict[str, Any]] = []
    lives: list[dict[str, Any]] = []
    room, told, left_out = most_bytes, 0, 0
    for user in given[names[0]]:
        wrong = {name: _wrong(given[name].get(user, ())) for name in names}
        count = sum(map(len, wrong.values()))
        here = [
            {"user": len(users), "policy": place, **_life(lived, wrong[name], truths[user])}
            for place, name in enumerate(names)
            if (lived := _rollout(record, ids, name, user)) is not None
        ]
        size = len(json.dumps(here, ensure_ascii=False).encode())
        if users and size > room:
            left_out += count
            continue
        room, told = room - size, told + count
        users.append(_asked(truths[user]))
        lives += here
    return Failures({"policies": names, "users": users, "lives": lives}, told, left_out)


def _by_user(given: Sequence[Diagnosis]) -> dict[str, list[Diagnosis]]:
    by_user: dict[str, list[Diagnosis]] = {}
    for diagnosis in given:
        by_user.setdefault(diagnosis.user, []).append(diagnosis)
    return by_user


def _wrong(given: Sequence[Diagnosis]) -> list[Diagnosis]:
    return [diagnosis for diagnosis in given if diagnosis.stage is not Stage.RIGHT]


def _rollout(record: RunRecord, ids: Mapping[str, str], name: str, user: str) -> Rollout | None:
    """What a user lived through with a policy; where it has no id, with the user's own."""
    if name in ids:
        return record.rollouts.get((ids[name], user))
    return record.lives[user].rollout if user in record.lives else None


def _asked(truth: UserTruth) -> dict[str, Any]:
    return {
        "id": truth.user,
        "questions": list(truth.queries),
        "choices": [list(choices) for choices in truth.choices],
    }


def _life(rollout: Rollout, wrong: Sequence[Diagnosis], truth: UserTruth) -> dict[str, Any]:
    """One rollout: all that its memory ever held, and its wrong answers."""
    teller = _Teller(rollout, truth)
    answers = {(answer.period, answer.question): answer for answer in rollout.answers}
    told = [teller.wrong(one, answers[one.period, one.question]) for one in wrong]
    return {
        "history": teller.index.keeps_history,
        "memory": [_entry(entry, teller.index) for entry in rollout.entries],
        "about": teller.about({state["name"] for one in told for state in one["states"]}),
        "turns": [_turn(teller.index.messages[message]) for message in teller.turns],
        "wrong": told,
    }


def _entry(entry: Entry, index: RolloutIndex) -> list[Any]:
    """Label, text, the first period that it is in memory at the end of, the first it is not, why.

    The last two are null and empty for an entry that stays.
    """
    gone = None if entry.retired is None else index.writes[entry.retired].period
    text = shortened(_TIME.sub("", entry.text), _WORDS)
    return [entry.label, text, entry.period, gone, entry.retired_because or ""]


def _turn(message: ChatMessage) -> list[str]:
    """Where it stands, when it was said, and its words."""
    found = _TIME.match(message.content)
    said = shortened(_TIME.sub("", message.content, count=1), _WORDS)
    return [message.id, found.group(1).strip() if found else "", said]


class _Teller:
    """Tells the wrong answers of one rollout.

    Args:
        rollout: What happened.
        truth: What was true.

    Attributes:
        index: Of the rollout.
        turns: Id of each turn quoted so far to its number.
    """

    def __init__(self, rollout: Rollout, truth: UserTruth) -> None:
        self.index = index_rollout(rollout)
        self.turns: dict[str, int] = {}
        self._truth = truth
        self._entries = rollout.entries
        self._places = {entry.id: place for place, entry in enumerate(rollout.entries)}

    def wrong(self, diagnosis: Diagnosis, answer: Answer) -> dict[str, Any]:
        """One of them; the states that were lost are each told from what the user said of them."""
        lost = [(one.state, one.stage.value, one.competing) for one in diagnosis.trace]
        lost = lost or [(state, "", None) for state in diagnosis.failed_states]
        reply = shortened(answer.reply, _REPLY)  # what is chosen of choices tells as much
        return {
            "period": diagnosis.period,
            "question": diagnosis.question,
            "stage": diagnosis.stage.value,
            "step": diagnosis.earliest.value if diagnosis.earliest else "",
            "chosen": answer.chosen,
            "right": answer.right_choice,
            "reply": "" if answer.choices and answer.chosen is not None else reply,
            "shown": [self._places[entry] for entry in answer.context.entries],
            "messages": len(answer.context.messages),
            "states": [
                {"name": state, "step": step, "competing": competing, **self._state(state, answer)}
                for state, step, competing in lost
            ],
        }

    def about(self, states: Collection[str]) -> dict[str, list[int]]:
        """State to the numbers of the entries whose words resemble it."""
        entries = [(entry.label, entry.text) for entry in self._entries]
        readings = reader_of(self._truth.schema).read(entries)
        return {
            state: [n for n, one in enumerate(readings) if one.resemblance[state] >= FLOOR]
            for state in sorted(states)
        }

    def _state(self, state: str, answer: Answer) -> dict[str, Any]:
        """What the user said of a state, and what the probe said of it."""
        said: tuple[ChatMessage, ...] = ()
        if self._truth.traceable:
            said = revealing_turns(state, answer.period, self.index, self._truth)[-_TURNS:]
        probe = next((probe for probe in answer.probes if probe.state == state), None)
        return {
            "true": self._truth.states[answer.period][state],
            "probed": probe is not None,
            "probe": None if probe is None else probe.reply,
            "unknown": probe is not None and probe.unknown,
            "said": [self.turns.setdefault(turn.id, len(self.turns)) for turn in said],
            "in_context": any(turn.id in answer.context.messages for turn in said),
        }
