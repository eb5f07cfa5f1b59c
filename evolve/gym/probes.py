"""What the reply to a probe says of the states that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from evolve.gym.people import User
from evolve.lm.json_text import objects_in
from evolve.lm.parse import UNKNOWN, FormatError, parse_values
from feedback.records import Compared, StateProbe

Values = dict[str, str | None]
ProbeMode = Literal["single", "joint", "both"]
"""How states are probed: a call per question; one call per period; or both, of which the single
ones count and the joint one is compared with them."""


def probe_values(reply: str, required: Sequence[str]) -> Values:
    """What a probe's reply says; one without any object is worth asking once more."""
    if not objects_in(reply):
        raise FormatError("it holds no JSON object")
    return parse_values(reply, required)


def state_probes(
    user: User, state: Mapping[str, str], required: Sequence[str], values: Values | FormatError
) -> tuple[StateProbe, ...]:
    """One probe per state: a value of the schema, unknown, or a format error."""
    known = {} if isinstance(values, FormatError) else values
    probes = []
    for name in required:
        said = known.get(name)
        options = {" ".join(option.split()): option for option in user.schema[name]}
        value = options.get(" ".join(said.split())) if said is not None else None
        unknown = value is None and said is not None and said.casefold() == UNKNOWN
        bad = value is None and not unknown
        probes.append(StateProbe(name, state[name], value, format_error=bad, unknown=unknown))
    return tuple(probes)


def compared(single: Sequence[StateProbe], joint: Sequence[StateProbe]) -> Compared:
    """How the probes of a question's states compare with a joint one's, each state once."""
    mine, other = ({probe.state: probe.right for probe in side} for side in (single, joint))
    return Compared(len(mine), sum(mine[state] != other[state] for state in mine))
