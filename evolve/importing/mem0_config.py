"""A configuration of mem0, or an export for it, as a policy of architecture ``mem0``."""

from __future__ import annotations

from collections.abc import Mapping

from evolve.importing.amemgym_config import mapping_at
from evolve.importing.imported import (
    Finding,
    Imported,
    completed,
    fitted,
    kind_of,
    other_keys,
)
from evolve.importing.types_list import take_types
from policies.errors import ImportSourceError
from policies.placeholders import names
from policies.settings import SettingValue

_STORES = {"vector_store", "llm", "embedder", "graph_store", "reranker", "history_db_path"}
_PROMPTS = {"custom_instructions", "custom_fact_extraction_prompt", "custom_update_memory_prompt"}
_TEXTS = ("custom_instructions", "custom_fact_extraction_prompt")  # of mem0 2.x, and before it
_OWN = frozenset({"config", "add", "search", "your_code", "mnemotune"})
_KNOWN = _STORES | _PROMPTS | {"version", "mnemotune"}
_ELSEWHERE: Mapping[str, str] = {
    "llm": "not in a policy: name the model by --model",
    "custom_update_memory_prompt": "not in a policy: mem0 2.x only adds",
    "mnemotune": "notes of an export, not read",
}
_TYPES = "Types of information to write down:"


def is_mem0(content: Mapping[str, object]) -> bool:
    """Whether a configuration is one of mem0's, or one that was exported for it."""
    return bool(content) and (content.keys() <= _OWN or bool(content.keys() & (_STORES | _PROMPTS)))


def import_mem0(content: Mapping[str, object], name: str) -> Imported:
    """A policy that configures mem0 in the same way.

    Args:
        content: The configuration.
        name: Of the policy.

    Raises:
        ImportSourceError: A value is of the wrong kind.
    """
    exported = content.keys() <= _OWN
    config = mapping_at(content, "config") if exported else content
    findings: list[Finding] = []
    texts = _instructions(config, findings)
    settings: dict[str, SettingValue] = {}
    if exported:
        settings = _settings(content, findings)
        texts |= _replies(mapping_at(content, "your_code"), findings)
    for key in (*config, *(key for key in content if key == "mnemotune")):
        if key in _KNOWN - set(_TEXTS):
            findings.append(Finding(key, _ELSEWHERE.get(key, "not in a policy: it has its own")))
    findings += other_keys(config, _KNOWN)
    if "reply_prompt" not in texts:
        findings.append(Finding("no words for replies", "those of the seed"))
    kind = "an export for mem0" if exported else "a configuration of mem0"
    return Imported(completed("mem0", texts, settings, name), kind, tuple(findings))


def _instructions(config: Mapping[str, object], findings: list[Finding]) -> dict[str, str]:
    """The texts that mem0's own instructions are; of two the newer kind counts."""
    found = [key for key in _TEXTS if config.get(key) is not None]
    if not found:
        findings.append(Finding("no instructions of your own", "those of the seed"))
        return {}
    key, *others = found
    findings += [Finding(other, f"not in a policy: {key} counts") for other in others]
    text = config[key]
    if not isinstance(text, str) or not text.strip():
        raise ImportSourceError(
            f"{key} must be a text, but is {kind_of(text)}; mend it in the source."
        )
    if names(text):
        raise ImportSourceError(
            f"{key} is handed to a model as it stands, but has a name in double braces, which "
            "nothing fills; put words there."
        )
    taken = take_types(text)
    if taken is None:
        findings.append(Finding(key, "text write_prompt; text memory_types is the seed's"))
        return {"write_prompt": f"{text.strip()}\n\n{_TYPES}\n{{{{memory_types}}}}\n"}
    findings.append(Finding(key, "text write_prompt"))
    findings.append(Finding(f"a list of {taken.count} types in it", "text memory_types"))
    prompt = f"{taken.before}{{{{memory_types}}}}\n{taken.after}"
    return {"write_prompt": f"{prompt.strip()}\n", "memory_types": taken.types}


def _settings(content: Mapping[str, object], findings: list[Finding]) -> dict[str, SettingValue]:
    """The settings of an export's calls, and of what it leaves to the code around mem0."""
    add, search, own = (mapping_at(content, key) for key in ("add", "search", "your_code"))
    settings: dict[str, SettingValue] = {}
    for part, values, wanted in (
        ("search", search, ("top_k",)),
        ("your_code", own, ("write_every", "local_window")),
    ):
        for key in wanted:
            if key in values:
                settings[key], finding = fitted(key, values[key], f"{part}.{key}")
                findings.append(finding)
    threshold = search.get("threshold")
    if isinstance(threshold, int | float) and not isinstance(threshold, bool):
        if not 0 <= threshold <= 1:  # nor is NaN
            raise ImportSourceError(
                "search.threshold must be a number from 0 to 1, but is another; mend it in the "
                "source."
            )
        settings["threshold"], finding = fitted(
            "threshold", round(100 * threshold), "search.threshold, in hundredths"
        )
        findings.append(finding)
    if isinstance(add.get("infer"), bool):
        settings["infer"] = bool(add["infer"])
        findings.append(Finding(f"add.infer {add['infer']}", "setting infer"))
    return settings


def _replies(own: Mapping[str, object], findings: list[Finding]) -> dict[str, str]:
    texts = {}
    for key in ("reply_prompt", "answer_prompt"):
        text = own.get(key)
        if isinstance(text, str):
            texts[key] = text
            findings.append(Finding(f"your_code.{key}", f"text {key}"))
    return texts
