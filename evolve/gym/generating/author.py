"""Asks a model for one thing at a time, checks what it wrote and has it mended."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from evolve.gym.generating.brief import Brief
from evolve.gym.generating.replies import as_list, as_text, part_of
from evolve.lm.asking import ask
from evolve.lm.base import CAPS, LM, Message, Request, Task
from evolve.lm.json_text import FormatError
from evolve.seeding import derive
from policies.errors import MnemotuneError

TRIES = 4  # of one thing, the first included
JUDGED_TRIES = 2  # after which objections that are a matter of opinion count no more
_SHOWN = 3  # objections that a failure quotes
_LONGEST_OBJECTION = 2000  # characters

Value = TypeVar("Value")


class UnmendedError(MnemotuneError):
    """What a model wrote still breaks a rule after the last try."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a model is asked to write or to check.

    Attributes:
        name: In a word, for messages.
        rules: What to do, and what must hold.
        reply: The JSON to reply with, as a pattern.
        key: The key in it that holds everything.
    """

    name: str
    rules: str
    reply: str
    key: str


_OBJECT = Step(
    "objections",
    "Somebody was given the rules and the material below and wrote what stands under `written`. "
    "Check it against the rules, one by one. Object only to what clearly breaks a rule: say in one "
    "sentence what breaks it and how to mend it. Matters of taste are no objection, and an empty "
    "list is a good reply.",
    '{"objections": ["one sentence", …]}',
    "objections",
)


@dataclass(frozen=True, slots=True)
class Author:
    """A model at work on one user, or on what all users share.

    Attributes:
        lm: Writes, and checks what it wrote.
        brief: What is to be made.
        seed: Of all that it writes.
    """

    lm: LM
    brief: Brief
    seed: int

    def write(
        self,
        step: Step,
        material: Mapping[str, object],
        read: Callable[[object], Value],
        faults: Callable[[Value, int], list[str]],
    ) -> Value:
        """Have one thing written, and mended until nothing is wrong with it.

        Args:
            step: What is asked.
            material: What it is made from, JSON-able.
            read: Reads what stands under the step's key; raises ``FormatError``.
            faults: What is wrong with it, in sentences, and how many tries were before; raises
                ``FormatError`` where that cannot be found out.

        Raises:
            UnmendedError: Something was wrong with the last try, too.
        """
        request = asked = self._request("generate", step, material)
        for tried in range(TRIES):
            said = self.lm.complete(replace(asked, seed=derive(request.seed, tried))).text
            try:
                value = read(part_of(said, step.key))
                wrong = faults(value, tried)
            except FormatError as error:
                wrong = [str(error)]
            if not wrong:
                return value
            asked = _mending(request, said, wrong)
        shown = "; ".join(wrong[:_SHOWN])
        raise UnmendedError(f"{step.name}: after {TRIES} tries still wrong: {shown}")

    def check(
        self, step: Step, material: Mapping[str, object], read: Callable[[object], Value]
    ) -> Value:
        """Have something checked; asked once more if the reply cannot be read.

        Raises:
            FormatError: It cannot be read then, either.
        """
        request = self._request("check", step, material)
        found = ask(self.lm, request, lambda reply: read(part_of(reply, step.key))).value
        if isinstance(found, FormatError):
            raise FormatError(f"what checks it gave no readable reply: {found}")
        return found

    def objections(
        self, step: Step, material: Mapping[str, object], written: object, tried: int
    ) -> list[str]:
        """What a second look objects to; nothing once it was heard ``JUDGED_TRIES`` times.

        Opinions never end, so they can make a thing better but not fail it.
        """
        if tried >= JUDGED_TRIES:
            return []
        shown = {"rules": step.rules, "material": material, "written": written}

        def read(value: object) -> list[str]:
            listed = as_list(value, "the objections")
            return [as_text(one, "each objection", _LONGEST_OBJECTION) for one in listed]

        return self.check(_OBJECT, shown, read)

    def _request(self, task: Task, step: Step, material: Mapping[str, object]) -> Request:
        content = json.dumps(material, ensure_ascii=False, indent=1)
        messages = (
            Message("system", _setting(self.brief)),
            Message(
                "user",
                f'{step.rules}\n\n<material step="{step.name}">\n{content}\n</material>\n\n'
                f"Reply with JSON only, in this form:\n{step.reply}",
            ),
        )
        seed = derive(self.seed, step.name, content)
        # What is written should differ from user to user; what is checked should not.
        temperature = 1.0 if task == "generate" else 0.0
        return Request(task, messages, seed, CAPS[task], temperature)


def _setting(brief: Brief) -> str:
    """What all steps have in common."""
    return (
        "You help to make a test of assistants that remember. Simulated people talk with an "
        f"assistant, a {brief.domain}, for months. Each of them has hidden states, such as a habit "
        "or a circumstance, every one with one value of a few; values change over time, and "
        "people let them be known in passing. Later they ask questions to which the right advice "
        f"depends on the present values. Everything that you write is in {brief.language}; keys "
        "of JSON stay as they are given."
    )


def _mending(request: Request, said: str, wrong: list[str]) -> Request:
    """The request, once more, with what was replied to it and what is wrong with that."""
    told = "\n".join(f"- {fault}" for fault in wrong)
    turns = (
        Message("assistant", said if said.strip() else "(no text)"),
        Message(
            "user",
            f"This must be mended:\n{told}\nReply with the whole JSON again, in the same form; "
            "leave what is right as it is.",
        ),
    )
    return replace(request, messages=(*request.messages, *turns))
