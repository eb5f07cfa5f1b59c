"""Which parts of a policy a failure is addressed to: by its trace, else by its stage.

A part is a text, or the settings; among the settings, a failure is addressed to the groups that
decide what the failed step does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from feedback.records import Diagnosis, Stage, StateTrace, TraceStage
from policies.policy import Policy
from policies.words import words

PARTS = ("reply_prompt", "memory_types", "write_prompt", "answer_prompt", "settings")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "writing": ("write_every", "local_window", "infer"),
    "keeping": ("supersede", "max_memory_tokens", "context_tokens"),
    "finding": ("retriever", "top_k", "threshold", "granularity", "recency_half_life"),
    "showing": ("memory_order", "recency_half_life"),
}
"""Group to its settings: how much is written at a time, what stays, what is found, its order."""
_REPLIES = "reply_prompt"
LIKELY = 0.75  # of what types and write prompt both can mend: to the one that rather is to blame
MANY_FACTS = 3  # told in one write: from here on its size is to blame too

_BY_TRACE: dict[TraceStage, tuple[str, ...]] = {
    TraceStage.UNSAID: ("reply_prompt",),
    TraceStage.UNWRITTEN: ("memory_types", "write_prompt"),
    TraceStage.CORRUPTED: ("memory_types", "write_prompt"),
    TraceStage.UNDECIDED: ("memory_types", "write_prompt"),
    TraceStage.LOST: ("settings", "memory_types", "write_prompt"),
    TraceStage.UNRETRIEVED: ("settings",),
    TraceStage.MISREAD: ("answer_prompt", "settings"),
    TraceStage.UNUSED: ("answer_prompt", "settings"),
}
_BY_STAGE: dict[Stage, tuple[str, ...]] = {
    Stage.WRITE: ("memory_types", "write_prompt"),
    Stage.READ: ("settings", "answer_prompt"),
    Stage.UTILIZATION: ("answer_prompt", "settings"),
    Stage.FORMAT: ("answer_prompt",),
}
_GROUPS_BY_TRACE: dict[TraceStage, tuple[str, ...]] = {
    TraceStage.UNWRITTEN: ("writing",),
    TraceStage.CORRUPTED: ("writing",),
    TraceStage.LOST: ("keeping",),
    TraceStage.UNRETRIEVED: ("finding",),
    TraceStage.MISREAD: ("showing",),
    TraceStage.UNUSED: ("showing",),
}
_GROUPS_BY_STAGE: dict[Stage, tuple[str, ...]] = {
    Stage.READ: ("keeping", "finding"),
    Stage.UTILIZATION: ("showing",),
}


def parts_of(policy: Policy, *, recorded: bool = False) -> tuple[str, ...]:
    """The parts of a policy that can act, in the order of ``PARTS``.

    Args:
        policy: The policy.
        recorded: Whether all conversations are replayed. No reply is made in them, so what asks for
            replies can do nothing; it is left out, as long as the policy has another part.
    """
    has = tuple(p for p in PARTS if p in policy.texts or (p == "settings" and policy.settings))
    acting = tuple(part for part in has if not (recorded and part == _REPLIES))
    return acting or has


def groups_of(settings: Collection[str]) -> tuple[str, ...]:
    """The groups that some settings belong to, in the order of ``GROUPS``."""
    return tuple(
        group for group, members in GROUPS.items() if not set(members).isdisjoint(settings)
    )


def address_trace(trace: StateTrace, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Parts that can mend the loss of one state; all of ``parts`` if none of those is there."""
    wanted = _BY_TRACE[trace.stage]
    if trace.competing is not None and trace.competing >= MANY_FACTS:
        wanted = (*wanted, "settings")
    return _those_of(wanted, parts)


def address_stage(stage: Stage, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Parts that can mend a wrong answer without a trace; all if none of those is there."""
    return _those_of(_BY_STAGE[stage], parts)


def address(diagnosis: Diagnosis, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Parts that a wrong answer is addressed to: those of its earliest loss, else of its stage."""
    if diagnosis.stage is Stage.FORMAT or not diagnosis.trace:
        return address_stage(diagnosis.stage, parts)
    addressed = {part for trace in _earliest(diagnosis) for part in address_trace(trace, parts)}
    return tuple(part for part in PARTS if part in addressed)


def shares_of(diagnosis: Diagnosis, parts: tuple[str, ...], types: str) -> dict[str, float]:
    """Part to its share of a wrong answer; sums to 1.

    It is split evenly over the parts that it is addressed to; but of what ``memory_types`` and
    ``write_prompt`` get together, most goes to the types where they do not name what was lost, and
    else to the write prompt.

    Args:
        diagnosis: Of a wrong answer.
        parts: Those that the policy has.
        types: The policy's list of types; empty where it has none.
    """
    addressed = address(diagnosis, parts)
    shares = {part: 1 / len(addressed) for part in addressed}
    if {"memory_types", "write_prompt"} <= shares.keys():
        both, missing = 2 / len(addressed), not _named(diagnosis, types)
        shares["memory_types"] = both * (LIKELY if missing else 1 - LIKELY)
        shares["write_prompt"] = both - shares["memory_types"]
    return shares


def address_group(diagnosis: Diagnosis, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Groups that decide the step which failed first; all of ``groups`` if none of them does.

    Args:
        diagnosis: Of a wrong answer that is addressed to the settings.
        groups: Those that the policy has.
    """
    if diagnosis.stage is Stage.FORMAT or not diagnosis.trace:
        wanted = set(_GROUPS_BY_STAGE.get(diagnosis.stage, ()))
    else:
        wanted = {g for t in _earliest(diagnosis) for g in _GROUPS_BY_TRACE.get(t.stage, ())}
    return tuple(group for group in groups if group in wanted) or groups


def _earliest(diagnosis: Diagnosis) -> list[StateTrace]:
    return [trace for trace in diagnosis.trace if trace.stage is diagnosis.earliest]


def _those_of(wanted: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in PARTS if part in wanted and part in parts) or parts


def _named(diagnosis: Diagnosis, types: str) -> bool:
    """Whether lines of the list hold all words of the names of what was lost."""
    lines = [set(words(line)) for line in types.split("\n")]
    lost = [trace.state for trace in _earliest(diagnosis)] or diagnosis.failed_states
    return all(any(set(words(state)) <= line for line in lines) for state in lost)
