"""Export for dspy: the saved state of a program whose predictors have the policy's instructions."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.exporting.account import ARCHITECTURE, Export, Fate, json_file, notes, settled
from evolve.exporting.origin import Origin
from policies.placeholders import fill, names
from policies.policy import Policy

if TYPE_CHECKING:
    import dspy

PREDICTORS: Mapping[str, str] = {
    "write_prompt": "write",
    "reply_prompt": "reply",
    "answer_prompt": "answer",
}
"""Text of a policy to the predictor that has it as instructions."""

_SIGNATURES: Mapping[str, str] = {
    "write": "memories, conversation -> notes",
    "reply": "memories, conversation, message -> reply",
    "answer": "memories, conversation, question -> answer",
}
_OTHERWISE = "no prompt of the policy shows it, and a program has its prompts alone"


def to_dspy(policy: Policy, origin: Origin) -> Export:
    """The file that ``dspy.Module.load`` reads into a program with the same predictors."""
    predictors = [PREDICTORS[name] for name in policy.texts if name in PREDICTORS]
    fates = settled(policy, _fates(policy), _OTHERWISE)
    content = _saved(make_program(_instructions(policy)))
    content["mnemotune"] = notes(policy, origin, fates) | {"settings": dict(policy.settings)}
    listed = "; ".join(f"{name}: {_SIGNATURES[name]}" for name in predictors)
    to_do = f"load it into a module with these predictors: {listed}"
    return Export(json_file(content), fates, (to_do,))


def make_program(instructions: Mapping[str, str]) -> dspy.Module:
    """A dspy program with a predictor for each step of an assistant with memory.

    Args:
        instructions: ``write``, ``reply`` and ``answer``, or some of them, to what each is told.
    """
    import dspy

    program = dspy.Module()
    for name, told in instructions.items():
        setattr(program, name, dspy.Predict(dspy.Signature(_SIGNATURES[name], told)))
    return program


def _instructions(policy: Policy) -> dict[str, str]:
    """Predictor to prompt, in which placeholders name the fields of its signature."""
    told = {}
    for text_name, predictor in PREDICTORS.items():
        if text_name not in policy.texts:
            continue
        text = policy.texts[text_name].strip()
        values = {name: f"(see the field {name})" for name in names(text)}
        if "memory_types" in values and "memory_types" in policy.texts:
            values["memory_types"] = policy.texts["memory_types"].strip()
        told[predictor] = fill(text, values)
    return told


def _saved(program: dspy.Module) -> dict[str, Any]:
    """What dspy writes of a program, as dspy itself does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.json"
        program.save(str(path))
        saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return saved


def _fates(policy: Policy) -> list[Fate]:
    fates = [
        Fate(text, "carried", f"instructions of the predictor {predictor}")
        for text, predictor in PREDICTORS.items()
    ]
    listed = [to for name, to in PREDICTORS.items() if _lists_types(policy.texts.get(name, ""))]
    if listed:
        where = f"instructions of the predictor {', '.join(listed)}"
        fates.append(Fate("memory_types", "carried", where))
    stores = "your code keeps the memories and hands them over as the field memories"
    if policy.architecture == "native":
        stores = "your code hands the conversation over as the field of that name"
    fates.append(Fate(ARCHITECTURE, "yours", stores))
    yours = "mnemotune.settings: your code keeps to it"
    return [*fates, *(Fate(name, "yours", yours) for name in policy.settings)]


def _lists_types(text: str) -> bool:
    return "memory_types" in names(text)
