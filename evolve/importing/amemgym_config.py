"""An agent configuration of AMemGym (github.com/AGI-Eval-Official/amemgym) as a policy."""

from __future__ import annotations

from collections.abc import Mapping

from evolve.importing.imported import (
    Finding,
    Imported,
    completed,
    fitted,
    kind_of,
    other_keys,
)
from evolve.importing.placeholders import find_placeholders
from evolve.importing.prompt import write_texts
from evolve.importing.types_list import as_list
from policies.errors import ImportSourceError
from policies.settings import SettingValue

TYPES: Mapping[str, str] = {
    "native": "native",
    "rag": "rag",
    "awe": "awe",
    "awi": "awi",
    "awi-hack": "awi",
    "awi-evolve": "awi",
    "rag-evolve": "awe",
    "mem0-evolution": "awe",
}
"""AMemGym's type of agent to architecture; the last two are its evolving agents over mem0."""

_NUMBERS = {"update_bsz": "write_every", "local_length": "local_window", "top_k": "top_k"}
_PROMPT = "custom_fact_extraction_prompt"
_READ = {"type", "name", "agent_config", "memory_config", "info_types"}
_ELSEWHERE: Mapping[str, str] = {
    "llm_config": "not in a policy: name the model by --model and --api-base",
    "evolution_config": "not in a policy: --scope user evolves so, from period to period",
    "mnemotune": "notes of an export, not read",
}


def is_amemgym(content: Mapping[str, object]) -> bool:
    """Whether a configuration is one of AMemGym's agents."""
    return "type" in content and bool(content.keys() & {"llm_config", "agent_config"})


def import_amemgym(content: Mapping[str, object], name: str) -> Imported:
    """The policy that comes nearest to an agent of AMemGym.

    Args:
        content: The configuration.
        name: Of the policy, where the configuration has none.

    Raises:
        ImportSourceError: Its type is unknown, or a value is of the wrong kind.
    """
    kind = content["type"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise ImportSourceError(
            f"type must be one of {', '.join(TYPES)}, but is {_other(kind)}; a policy for "
            "another memory starts from a seed."
        )
    numbers = mapping_at(content, "agent_config")
    infers = numbers.get("enable_llm_mem_policy", True)
    architecture = "rag" if TYPES[kind] == "awe" and infers is False else TYPES[kind]
    findings = [Finding(f"type {kind}", f"architecture {architecture}")]
    settings = _settings(architecture, numbers, findings)
    texts = _texts(architecture, content, findings)
    findings += [Finding(k, _ELSEWHERE[k]) for k in content if k in _ELSEWHERE]
    findings += other_keys(content, _READ | _ELSEWHERE.keys())
    fixed = "those of the seed, as AMemGym has its own in its code"
    findings.append(Finding("prompts that are not here", fixed))
    called = content.get("name")
    policy = completed(architecture, texts, settings, called if isinstance(called, str) else name)
    return Imported(policy, "an agent configuration of AMemGym", tuple(findings))


def mapping_at(content: Mapping[str, object], key: str) -> Mapping[str, object]:
    """A part of a configuration; empty where it is missing.

    Raises:
        ImportSourceError: It is there, but no mapping.
    """
    part = content.get(key)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise ImportSourceError(
            f"{key} must be a mapping (name: value), but is {kind_of(part)}; mend it in the source."
        )
    return part


def _settings(
    architecture: str, numbers: Mapping[str, object], findings: list[Finding]
) -> dict[str, SettingValue]:
    """The settings that the numbers are; what becomes of each goes to the findings."""
    settings: dict[str, SettingValue] = {}
    if architecture == "native":
        return settings
    for key, name in _NUMBERS.items():
        if key in numbers and not (architecture == "awi" and name == "top_k"):
            settings[name], finding = fitted(name, numbers[key], f"agent_config.{key}")
            findings.append(finding)
    if architecture != "awi":
        settings["memory_order"] = "time"
        findings.append(
            Finding("memories by time, as AMemGym has them", "setting memory_order time")
        )
    return settings


def _texts(
    architecture: str, content: Mapping[str, object], findings: list[Finding]
) -> dict[str, str]:
    """The texts that the configuration has; what becomes of them goes to the findings."""
    memory = mapping_at(content, "memory_config")
    texts: dict[str, str] = {}
    if memory:
        findings.append(Finding("memory_config", "not in a policy: it has its own store"))
    prompt = memory.get(_PROMPT)
    if architecture == "awe" and isinstance(prompt, str) and prompt.strip():
        style, placed = find_placeholders(prompt)
        unknown = {one.written for one in placed if one.meaning is None}
        texts, found = write_texts(prompt, style, placed)
        findings += [one for one in found if one.found not in unknown]
        if unknown:
            findings.append(Finding(f"{len(unknown)} other placeholders", "words in their place"))
    types = content.get("info_types")
    if architecture == "awi" and types is not None:
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise ImportSourceError(
                f"info_types must be a list of texts, but is {kind_of(types)}; mend it in the "
                "source."
            )
        texts["memory_types"] = as_list([" ".join(one.split()) for one in types])
        findings.append(Finding(f"info_types, {len(types)} entries", "text memory_types"))
    return texts


def _other(kind: object) -> str:
    return "another text" if isinstance(kind, str) else kind_of(kind)
