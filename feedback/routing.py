"""Which parts of a policy a failure is addressed to: by its trace, else by its stage."""

from __future__ import annotations

from feedback.records import Diagnosis, Stage, StateTrace, TraceStage
from policies.policy import Policy

PARTS = ("reply_prompt", "memory_types", "write_prompt", "answer_prompt", "settings")
MANY_FACTS = 3  # told in one write: from here on its size is to blame too

_BY_TRACE: dict[TraceStage, tuple[str, ...]] = {
    TraceStage.UNSAID: ("reply_prompt",),
    TraceStage.UNWRITTEN: ("memory_types", "write_prompt"),
    TraceStage.CORRUPTED: ("memory_types", "write_prompt"),
    TraceStage.UNDECIDED: ("memory_types", "write_prompt"),
    TraceStage.LOST: ("settings", "memory_types"),
    TraceStage.UNRETRIEVED: ("settings",),
    TraceStage.MISREAD: ("answer_prompt", "settings"),
    TraceStage.UNUSED: ("answer_prompt", "settings"),
}
_BY_STAGE: dict[Stage, tuple[str, ...]] = {
    Stage.WRITE: ("memory_types", "write_prompt"),
    Stage.READ: ("settings", "answer_prompt"),
    Stage.UTILIZATION: ("answer_prompt",),
    Stage.FORMAT: ("answer_prompt",),
}


def parts_of(policy: Policy) -> tuple[str, ...]:
    """The parts that a policy has, in the order of ``PARTS``."""
    return tuple(p for p in PARTS if p in policy.texts or (p == "settings" and policy.settings))


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
    earliest = [trace for trace in diagnosis.trace if trace.stage is diagnosis.earliest]
    addressed = {part for trace in earliest for part in address_trace(trace, parts)}
    return tuple(part for part in PARTS if part in addressed)


def _those_of(wanted: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in PARTS if part in wanted and part in parts) or parts
