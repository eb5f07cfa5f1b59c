"""What a budget is counted in: rollouts, calls, tokens, dollars, minutes, or several of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from policies.errors import ConfigError

UNITS = ("rollouts", "calls", "tokens", "dollars", "minutes")
METERED = ("calls", "tokens", "dollars")
"""What is counted where calls are made, of models that are called alone."""

Amounts = Mapping[str, float]  # by unit

MOST = 10**12  # of a unit
_SHOWN = 60  # characters of a budget that is refused
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_FORMS = {
    "rollouts": re.compile(r"(-?\d+)()"),
    "calls": re.compile(rf"{_NUMBER}\s*([kM]?)\s*calls?"),
    "tokens": re.compile(rf"{_NUMBER}\s*([kM]?)\s*tokens?"),
    "dollars": re.compile(rf"\$\s*{_NUMBER}()"),
    "minutes": re.compile(rf"{_NUMBER}()\s*min"),
}
_TIMES = {"": 1, "k": 1_000, "M": 1_000_000}


def parse_units(given: int | str) -> Amounts:
    """A budget as it was given, by unit in their order.

    Raises:
        ConfigError: It is in no known unit, twice in one, or too small.
    """
    found: dict[str, Decimal] = {}
    long = isinstance(given, int) and abs(given) > MOST
    whole = f"{Decimal(given):.3E}" if long else str(given)
    for piece in whole.split(","):
        text = piece.strip()
        unit, amount = _read(text, whole)
        if unit in found:
            raise ConfigError(
                f"--budget may name each unit once, but {whole[:_SHOWN]!r} has {unit} twice; drop "
                "one (numbers take no comma)."
            )
        _check(text, unit, amount)
        found[unit] = amount
    return {
        unit: float(found[unit]) if unit in {"dollars", "minutes"} else int(found[unit])
        for unit in UNITS
        if unit in found
    }


def write_units(amounts: Amounts) -> int | str:
    """A budget as it is given, in its one shortest form: rollouts alone are a number."""
    if set(amounts) == {"rollouts"}:
        return int(amounts["rollouts"])
    return ",".join(write_unit(unit, amount) for unit, amount in amounts.items())


def write_unit(unit: str, amount: float) -> str:
    """One unit of a budget as it is given."""
    if unit in {"calls", "tokens"}:
        size = next(s for s in ("M", "k", "") if int(amount) % _TIMES[s] == 0)
        return f"{int(amount) // _TIMES[size]}{size}{unit}"
    number = f"{Decimal(repr(amount)).normalize():f}"
    return {"dollars": f"${number}", "minutes": f"{number}min"}.get(unit, str(int(amount)))


def quoted(budget: str) -> str:
    """A budget as a shell must be given it."""
    return f"'{budget}'" if "$" in budget else budget


def shown(unit: str, amount: float) -> str:
    """An amount as people write it; of less than ten cents two digits that count."""
    if unit == "dollars":
        return f"${amount:.2f}" if amount >= 0.1 or not amount else f"${amount:.2g}"
    name = unit.removesuffix("s") if amount == 1 else unit
    return f"{amount:.6g} {name}" if unit == "minutes" else f"{amount:.0f} {name}"


def _read(text: str, whole: str) -> tuple[str, Decimal]:
    for unit, form in _FORMS.items():
        match = form.fullmatch(text)
        if match is not None:
            return unit, Decimal(match[1]) * _TIMES[match[2]]
    raise ConfigError(
        "--budget must be rollouts such as 300, or 5000calls, 2Mtokens, 30min, or dollars in "
        "single quotes such as '$5' (a shell swallows a bare $), or several with commas, but is "
        f"{whole[:_SHOWN]!r}; give one of these."
    )


def _check(text: str, unit: str, amount: Decimal) -> None:
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    if amount > MOST:
        raise ConfigError(
            f"--budget must be at most {MOST:.0e} of a unit, but is {text}; give less."
        )
    if unit == "rollouts" and amount < 1:
        raise ConfigError(f"--budget must be at least 1, but is {text}; give a larger number.")
    if amount < (1 if unit in {"calls", "tokens"} else Decimal("1e-6")):
        least = "$0" if unit == "dollars" else f"0 {unit}"
        raise ConfigError(f"--budget must be above {least}, but is {text}; give more.")
