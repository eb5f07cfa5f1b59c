"""The strategy ``diagnose-and-set``: a model reads the failure log and proposes settings.

This follows EvolveMem, which treats the settings as actions of a model: it reads what failed
question by question, names causes, and changes the settings that act on them. Two safeguards of
that method are here, too: every change starts from the best version, so that one which made
things worse is taken back, and settings are drawn by chance where nothing was gained for a while.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from evolve.lm.base import LM
from evolve.lm.json_text import FormatError, objects_in
from evolve.optimize.base import Proposal, ProposalContext, RejectedRewriteError, Verdict
from evolve.optimize.random_search import draw_settings
from evolve.seeding import derive
from policies.errors import RejectedTextError
from policies.settings import Setting, SettingValue, as_text

DIAGNOSE, EXPLORE = "diagnose", "explore"  # operators
STAGNATION = 3  # candidates in a row that were not accepted: then chance proposes
MOST_TOLD = 20  # earlier changes that the model is told of
_OFF = frozenset({"null", "none", "off", "never"})


class DiagnoseProposer:
    """Asks a model for settings; where it is stuck, draws some by chance.

    Args:
        lm: The model, through a dspy engine.
    """

    def __init__(self, lm: LM) -> None:
        self._lm = lm
        self._verdicts: list[Verdict] = []

    def propose(self, context: ProposalContext) -> Proposal:
        """New settings; an empty proposal for an architecture that has none.

        Raises:
            RejectedRewriteError: The reply could not be read, or names settings that are not
                allowed or are those of the parent.
            MnemotuneError: The model failed.
        """
        settings = context.constraints.settings_of(context.parent.architecture)
        if not settings:
            return Proposal(DIAGNOSE)
        if self._is_stuck():
            draw = random.Random(derive(context.seed, EXPLORE))
            return Proposal(EXPLORE, settings=draw_settings(context, draw))
        try:
            changed = read_settings(self._ask(context, settings), settings, context.parent.settings)
        except RejectedTextError as error:
            raise RejectedRewriteError(str(error), Proposal(DIAGNOSE)) from error
        return Proposal(DIAGNOSE, settings=changed)

    def observe(self, verdict: Verdict) -> None:
        """Remember what became of a candidate."""
        self._verdicts.append(verdict)

    def _is_stuck(self) -> bool:
        """Whether nothing was accepted for a while, since chance last proposed."""
        latest = self._verdicts[-STAGNATION:]
        return len(latest) == STAGNATION and not any(
            verdict.accepted or verdict.operator == EXPLORE for verdict in latest
        )

    def _ask(self, context: ProposalContext, settings: Sequence[Setting]) -> str:
        from evolve.lm.dspy_lm import ask
        from evolve.optimize.diagnose_program import Diagnoser

        def program() -> str | None:
            new: str | None = Diagnoser()(
                settings=settings_text(context, settings),
                tried=self._tried(context.parent.settings),
                failure_log=context.feedback.markdown,
            ).new_settings
            return new

        return ask(self._lm, derive(context.seed, DIAGNOSE), program) or ""

    def _tried(self, own: Mapping[str, SettingValue]) -> str:
        """Earlier candidates by what differs from the present settings, and what became of them."""
        lines = []
        for verdict in self._verdicts[-MOST_TOLD:]:
            settings = {n: v for n, v in verdict.settings.items() if own.get(n, v) != v}
            named = ", ".join(f"{name} {as_text(value)}" for name, value in settings.items())
            kept = "kept" if verdict.accepted else f"not kept ({verdict.stage})"
            lines.append(f"- {named or 'the present settings'}: {kept}, {verdict.reason}")
        return "\n".join(lines) or "Nothing was tried yet."


def settings_text(context: ProposalContext, settings: Sequence[Setting]) -> str:
    """The settings as a model is shown them, one per line, and the limit of the run if any."""
    own = context.parent.settings
    lines = [f"- {s.name}: {as_text(own[s.name])}; {s.rule}; {s.meaning}" for s in settings]
    limit = context.constraints.answer_tokens
    if limit is not None:
        lines.append(f"An answer may take {limit} tokens at most, all prompts included.")
    return "\n".join(lines)


def read_settings(
    reply: str, settings: Sequence[Setting], own: Mapping[str, SettingValue]
) -> dict[str, SettingValue]:
    """The settings that a reply changes.

    Values are read as models write them, so ``"20"`` is 20 and ``"off"`` is null where a setting
    may be that; nothing is moved into its range.

    Args:
        reply: A JSON object, and what a model may say around it.
        settings: That there are.
        own: The parent's.

    Raises:
        RejectedTextError: There is no such object, it names something else, a value is not allowed,
            or nothing is changed.
    """
    try:
        found = objects_in(reply)
    except FormatError as error:
        raise RejectedTextError(f"the settings proposed could not be read: {error}") from error
    if not found:
        raise RejectedTextError("the settings proposed are no JSON object")
    known = {setting.name: setting for setting in settings}
    changed: dict[str, SettingValue] = {}
    for name, said in found[-1].items():
        if name not in known:
            raise RejectedTextError(f"there is no setting {name!r} here")
        value = _value(known[name], said)
        if value != own[name]:
            changed[name] = value
    if not changed:
        raise RejectedTextError("the settings proposed are those of the present policy")
    return changed


def _value(setting: Setting, said: object) -> SettingValue:
    """A value as a setting takes it."""
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    plain = as_text(said).strip().casefold() if isinstance(said, str | int | None) else repr(said)
    options: list[SettingValue] = [*setting.values]
    if not setting.values:
        options += [None] if setting.optional and plain in _OFF else []
        options += [int(plain)] if plain.lstrip("-").isdecimal() else []
    for option in options:
        if setting.accepts(option) and plain in {
            as_text(option),
            *(_OFF if option is None else ()),
        }:
            return option
    raise RejectedTextError(f"setting {setting.name} {setting.rule}, not {said!r}")
