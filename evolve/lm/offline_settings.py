"""The offline model's diagnosis: reads a log of failures and changes settings that act on them.

It knows by heart which way a setting acts on which kind of loss, as a reader of such logs would,
and nothing of this environment: how much of which loss there is, what settings there are and what
they may be stands in its prompt. What it picks, and how far it goes, is drawn from the seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_MOST_CHANGED = 3
_MOST_DRAWS = 12  # of a change, some of which are impossible or were tried
_MANY_FACTS = 2.0  # told in one write, on average: its size is to blame
_REMEDIES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "unsaid": (("local_window", "more"),),
    "unwritten": (
        ("write_every", "less"),
        ("local_window", "more"),
        ("granularity", "other"),
        ("context_tokens", "more"),
    ),
    "crowded": (("write_every", "less"),),
    "corrupted": (("write_every", "less"), ("local_window", "more")),
    "undecided": (("write_every", "less"), ("granularity", "other")),
    "lost": (("max_memory_tokens", "more"), ("context_tokens", "more"), ("local_window", "more")),
    "unretrieved": (
        ("top_k", "more"),
        ("retriever", "other"),
        ("recency_half_life", "other"),
        ("granularity", "other"),
    ),
    "misread": (("top_k", "less"), ("memory_order", "other"), ("recency_half_life", "less")),
    "unused": (("top_k", "less"), ("memory_order", "other")),
    "stale": (("supersede", "other"), ("recency_half_life", "less")),
    "write": (("write_every", "less"), ("local_window", "more")),
    "read": (("top_k", "more"), ("retriever", "other"), ("max_memory_tokens", "more")),
    "utilization": (("top_k", "less"), ("memory_order", "other")),
}
"""Kind of loss to settings that act on it, and which way they should go."""
_STEPS = (
    "unsaid",
    "unwritten",
    "corrupted",
    "undecided",
    "lost",
    "unretrieved",
    "misread",
    "unused",
)
_STAGES = ("write", "read", "utilization")

_ROW = re.compile(r"^\| ([a-z_]+) \| (\d+(?:\.\d+)?) \|", re.MULTILINE)
_SETTING = re.compile(r"^- (\w+): ([^;]+); must be ([^;]+);", re.MULTILINE)
_NUMBERS = re.compile(r"a whole number from (\d+) to (\d+)(?: in steps of (\d+))?")


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting as the prompt has it.

    Attributes:
        now: Its value.
        choices: What it may be; empty for a whole number.
        low: Smallest number.
        high: Largest number.
        step: Between numbers.
    """

    now: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    step: int = 1


def diagnosed(fields: Mapping[str, str], seed: int) -> dict[str, str]:
    """The reply's fields: causes in words, and changed settings as a JSON object.

    Args:
        fields: The prompt's, with ``settings``, ``tried`` and ``failure_log``.
        seed: Of chance.
    """
    draw = random.Random(seed)
    knobs, causes = _knobs(fields["settings"]), _causes(fields["failure_log"])
    weights: dict[tuple[str, str], float] = {}
    for cause, share in causes.items():
        moves = [move for move in _REMEDIES[cause] if move[0] in knobs]
        for move in moves:
            weights[move] = weights.get(move, 0.0) + share / len(moves)
    changed: dict[str, str] = {}
    wanted = draw.randint(1, _MOST_CHANGED)
    for _ in range(_MOST_DRAWS):
        moves = [move for move in weights if move[0] not in changed]
        if not moves or len(changed) == wanted:
            break
        name, way = draw.choices(moves, [weights[move] for move in moves])[0]
        value = _moved(knobs[name], way, draw)
        if value is not None and f"- {name} {value}: not kept" not in fields["tried"]:
            changed[name] = value
    worst = sorted(causes, key=lambda cause: -causes[cause])[:2]
    said = {name: json.loads(_as_json(value)) for name, value in changed.items()}
    return {
        "root_causes": f"Most of what fails is {' and '.join(worst) or 'unclear'}.",
        "new_settings": json.dumps(said),
    }


def _causes(log: str) -> dict[str, float]:
    """Kind of loss to its share of the answers, by the trace if there is one."""
    rows: dict[str, float] = {}
    for name, number in _ROW.findall(log):
        rows.setdefault(name, float(number))
    shares = {step: rows.get(step, 0.0) for step in _STEPS}
    if not any(shares.values()):
        shares = {stage: rows.get(stage, 0.0) for stage in _STAGES}
    answers = rows.get("answers", 0.0) or 1.0
    shares["stale"] = rows.get("stale_in_context", 0.0) / answers
    if rows.get("competing_facts", 0.0) >= _MANY_FACTS:
        shares["crowded"] = shares.get("unwritten", shares.get("write", 0.0))
    found = {cause: share for cause, share in shares.items() if share > 0}
    return found or dict.fromkeys(_REMEDIES, 1.0)  # a log that says nothing: anything may help


def _knobs(text: str) -> dict[str, Knob]:
    """Name to setting, as the prompt lists them."""
    found: dict[str, Knob] = {}
    for name, now, rule in _SETTING.findall(text):
        numbers = _NUMBERS.match(rule)
        if numbers is None:
            choices = rule.removeprefix("one of ").split(", ")
            found[name] = Knob(now, tuple(choices))
        else:
            low, high, step = int(numbers[1]), int(numbers[2]), int(numbers[3] or 1)
            found[name] = Knob(now, (), low, high, step)
    return found


def _moved(knob: Knob, way: str, draw: random.Random) -> str | None:
    """Another value that way; None if there is none."""
    if knob.choices:
        return _chosen(knob, way, draw)
    if knob.now == "null":  # a number where there was none: somewhere in the middle
        low, high = max(1, knob.low), knob.high
        return str(round(low * (high / low) ** draw.uniform(0.3, 0.8)))
    now = int(knob.now)
    up = way == "more" or (way == "other" and draw.random() < 0.5)
    aim = max(now, knob.step) * draw.uniform(1.3, 2.5) if up else now / draw.uniform(1.3, 2.5)
    value = knob.low + round((aim - knob.low) / knob.step) * knob.step
    if value == now:
        value += knob.step if up else -knob.step
    value = min(knob.high - (knob.high - knob.low) % knob.step, max(knob.low, value))
    return None if value == now else str(value)


def _chosen(knob: Knob, way: str, draw: random.Random) -> str | None:
    """Another choice: the next one in its order, or any where there is no way to go."""
    others: Sequence[str] = [choice for choice in knob.choices if choice != knob.now]
    if way != "other":
        place = knob.choices.index(knob.now)
        others = knob.choices[place + 1 :] if way == "more" else knob.choices[:place][::-1]
        others = others[:1]
    return draw.choice(others) if others else None


def _as_json(value: str) -> str:
    """A value of a prompt as JSON has it."""
    plain = value in {"true", "false", "null"} or value.lstrip("-").isdecimal()
    return value if plain else json.dumps(value)
