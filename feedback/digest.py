"""Feedback: what the diagnoses of one policy say, in numbers and in text, per policy part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from feedback.digest_text import Limits, part_text
from feedback.document import Source, document
from feedback.losses import Case, Loss, Scene, find_losses, scene_of
from feedback.records import Diagnosis, Stage
from feedback.routing import PARTS, address_group, groups_of, parts_of, shares_of
from feedback.scores import Scores, score, scores_by_period, tokens_per_answer
from policies.files import write_whole
from policies.policy import Policy

__all__ = ["PARTS", "Case", "Feedback", "Limits", "build_feedback", "write_feedback"]

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one policy's train rollouts say.

    Attributes:
        policy: Id of the policy.
        numbers: Flat name to number: rates per stage, per trace stage, tokens per answer, ….
        failing_states: (state, number of wrong answers blamed on it), worst first.
        mass: Policy part to the share of wrong answers addressed to it; sums to 1 if any is wrong.
        texts: Policy part to the text addressed to it, shortened to its token limit, worst first.
        markdown: All of it for a person.
        groups: Group of settings to its share of the wrong answers; sums to ``mass["settings"]``.
    """

    policy: str
    numbers: Mapping[str, float]
    failing_states: tuple[tuple[str, int], ...]
    mass: Mapping[str, float]
    texts: Mapping[str, str]
    markdown: str
    groups: Mapping[str, float] = field(default_factory=dict)


def build_feedback(policy: Policy, cases: Sequence[Case], limits: Limits = _LIMITS) -> Feedback:
    """Turn the diagnoses of a policy's rollouts into feedback on its parts.

    The numbers are those of ``feedback.document.MEANINGS``, in its order (``write``, ``read``,
    ``utilization`` and ``lucky`` only where all answers were probed), then

    - ``trace.STAGE``: share of the answers whose earliest loss it is;
    - ``state.NAME``: share of the answers which require the state that is blamed on it: wrong
      ones whose trace, or whose stage where there is no trace, names it;
    - ``period.N.RATE``: as the shares among ``MEANINGS``.

    Args:
        policy: The policy that was lived.
        cases: Its rollouts, one per user, in any order. Failed ones are only counted, and answers
            without a diagnosis are not looked at.
        limits: How much the texts say.

    Raises:
        ValueError: No diagnosis, a diagnosis of no answer, or a rollout of another policy.
    """
    if any(case[0].policy != policy.id for case in cases):
        raise ValueError(f"a rollout is not one of policy {policy.id}")
    whole = sorted((Case(*case) for case in cases), key=lambda case: case.rollout.user)
    lived = [case for case in whole if case.rollout.failure is None]
    recorded = all(case.truth.recorded for case in whole)
    parts, scenes = parts_of(policy, recorded=recorded), [scene_of(case) for case in lived]
    pairs = zip(lived, scenes, strict=True)
    losses = [loss for case, scene in pairs for loss in find_losses(case, scene, parts)]
    required = _required(lived)
    blamed = Counter(loss.state for loss in losses)
    failing = tuple(sorted(blamed.items(), key=lambda item: (-item[1], item[0])))
    diagnoses = [diagnosis for case in lived for diagnosis in case.diagnoses]
    numbers = _numbers(lived, diagnoses, losses) | _memory(lived, scenes)
    numbers["failed_rollouts"] = len(whole) - len(lived)
    numbers |= {f"trace.{stage}": rate for stage, rate in score(diagnoses).trace.items()}
    numbers |= {f"state.{name}": count / required[name] for name, count in failing}
    for period, scores in scores_by_period(diagnoses).items():
        numbers |= {f"period.{period}.{name}": rate for name, rate in _shares(scores).items()}
    mass = _mass(diagnoses, parts, policy.texts.get("memory_types", ""))
    texts = {
        part: part_text([loss for loss in losses if part in loss.parts], required, limits)
        for part in parts
    }
    users = tuple(case.truth.user for case in lived)
    periods = tuple(sorted({diagnosis.period for diagnosis in diagnoses}))
    markdown = document(Source(policy, users, periods), numbers, mass, texts)
    groups = _groups(diagnoses, parts, groups_of(policy.settings))
    return Feedback(policy.id, numbers, failing, mass, texts, markdown, groups)


def write_feedback(feedback: Feedback, path: Path | str) -> None:
    """Write the document for a person, whole or not at all; missing folders are made.

    Raises:
        OSError: The file cannot be written.
    """
    write_whole(Path(path), feedback.markdown)


def _required(cases: Sequence[Case]) -> Counter[str]:
    """State to the number of answers that require it."""
    return Counter(
        state
        for case in cases
        for diagnosis in case.diagnoses
        for state in dict.fromkeys(case.truth.required[diagnosis.question])
    )


def _numbers(
    cases: Sequence[Case], diagnoses: Sequence[Diagnosis], losses: Sequence[Loss]
) -> dict[str, float]:
    overall = score(diagnoses)
    competing = [loss.competing for loss in losses if loss.competing is not None]
    return {
        "answers": len(diagnoses),
        "users": len(cases),
        "wrong": sum(d.stage is not Stage.RIGHT for d in diagnoses),
        **_shares(overall),
        "tokens_per_answer": tokens_per_answer([case.rollout for case in cases]),
        "stale_in_context": sum(loss.older_shown for loss in losses),
        "stale_live": sum(
            any(True for _ in loss.scene.older_entries(loss.state, loss.answer.period))
            for loss in losses
        ),
        "competing_facts": sum(competing) / len(competing) if competing else 0.0,
        "probe_format_errors": overall.probe_format_errors,
        "unknown_probes": overall.unknown_probes,
    }


def _memory(cases: Sequence[Case], scenes: Sequence[Scene]) -> dict[str, float]:
    tokens = entries = unreadable = 0
    for case, scene in zip(cases, scenes, strict=True):
        last, rollout = case.last_period, case.rollout
        tokens += rollout.memory_tokens[last] if 0 <= last < len(rollout.memory_tokens) else 0
        entries += sum(scene.index.live(entry, last) for entry in rollout.entries)
        unreadable += sum(
            write.format_error is not None and write.period <= last for write in rollout.writes
        )
    return {
        "memory_tokens": tokens / len(cases),
        "memory_entries": entries / len(cases),
        "unreadable_writes": unreadable,
    }


def _shares(scores: Scores) -> dict[str, float]:
    """Accuracy and the stages, as far as they are defined."""
    shares = {
        "accuracy": scores.accuracy,
        "write": scores.write,
        "read": scores.read,
        "utilization": scores.utilization,
        "format": scores.format,
        "lucky": scores.lucky,
    }
    return {name: share for name, share in shares.items() if share is not None}


def _mass(diagnoses: Sequence[Diagnosis], parts: tuple[str, ...], types: str) -> dict[str, float]:
    """Part to its share of the wrong answers."""
    wrong = [d for d in diagnoses if d.stage is not Stage.RIGHT]
    mass = dict.fromkeys(parts, 0.0)
    for diagnosis in wrong:
        for part, share in shares_of(diagnosis, parts, types).items():
            mass[part] += share / len(wrong)
    return mass


def _groups(
    diagnoses: Sequence[Diagnosis], parts: tuple[str, ...], groups: tuple[str, ...]
) -> dict[str, float]:
    """What ``_mass`` gives to the settings, each answer's split evenly over its groups."""
    wrong = [d for d in diagnoses if d.stage is not Stage.RIGHT]
    mass = dict.fromkeys(groups, 0.0)
    for diagnosis in wrong:
        share = shares_of(diagnosis, parts, "").get("settings", 0.0)
        if share:
            chosen = address_group(diagnosis, groups)
            for group in chosen:
                mass[group] += share / (len(chosen) * len(wrong))
    return mass
