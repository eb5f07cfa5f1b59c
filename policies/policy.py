"""A policy: an immutable version of prompts and settings, its id, its file, its difference."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from policies import policy_yaml
from policies.declared import declared
from policies.errors import PolicyFileError
from policies.files import read_whole, write_whole
from policies.placeholders import TEXTS, check_texts
from policies.settings import SettingValue
from policies.settings import check as check_settings
from policies.shown import short

ARCHITECTURES: tuple[str, ...] = tuple(TEXTS)
EXTRA: frozenset[str] = frozenset({"mem0"})
"""Architectures that need a package of the same name, which is an extra."""
BUILT_IN: tuple[str, ...] = tuple(name for name in ARCHITECTURES if name not in EXTRA)
SCHEMA = 1
_MOST_BYTES = 500_000  # of a file: dozens of times the longest prompts

_KEYS = ("schema", "id", "name", "architecture", "texts", "settings", "lineage", "scores")
_LINEAGE_KEYS = ("parents", "generation", "operator", "feedback", "run", "environment")


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a policy comes from.

    Attributes:
        parents: Ids of the policies that it was made from.
        generation: 0 for a seed, one more than its parent's otherwise.
        operator: What made it.
        feedback: Where the feedback that led to it is kept, or None.
        run: Id of the run that made it, or None.
        environment: Digest of the environment file that it was evolved on, or None.
    """

    parents: tuple[str, ...] = ()
    generation: int = 0
    operator: str = "seed"
    feedback: str | None = None
    run: str | None = None
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """One version; made by ``make_policy``, ``derive`` or a reader, which check it.

    Attributes:
        architecture: One of ``ARCHITECTURES``, or a declared one.
        texts: Name to prompt: exactly those that the architecture has.
        settings: Name to value: exactly those that apply.
        name: For people; no part of the id.
        lineage: Where it comes from; no part of the id.
        scores: Plain data written by the run that accepted it; no part of the id.
    """

    architecture: str
    texts: Mapping[str, str]
    settings: Mapping[str, SettingValue]
    name: str = ""
    lineage: Lineage = Lineage()
    scores: Mapping[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """First 12 hex digits of the SHA-256 of canonical JSON of what decides behaviour."""
        content = {
            "architecture": self.architecture,
            "texts": dict(self.texts),
            "settings": dict(self.settings),
        }
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def short_id(self) -> str:
        """First 8 digits of the id, for file names."""
        return self.id[:8]

    def __hash__(self) -> int:
        """Hash of the id: equal policies have equal ids."""
        return hash(self.id)

    def derive(
        self,
        texts: Mapping[str, str] | None = None,
        settings: Mapping[str, SettingValue] | None = None,
        name: str | None = None,
        lineage: Lineage | None = None,
    ) -> Policy:
        """This policy with some texts and settings replaced, checked, without its scores.

        Args:
            texts: Those that change.
            settings: Those that change.
            name: The new name; by default this policy's.
            lineage: The new lineage; by default that of an edited child of this policy.

        Raises:
            PolicyFileError: The result breaks a rule.
        """
        return make_policy(
            self.architecture,
            {**self.texts, **(texts or {})},
            {**self.settings, **(settings or {})},
            name=self.name if name is None else name,
            lineage=lineage or Lineage((self.id,), self.lineage.generation + 1, "edit"),
        )


def make_policy(
    architecture: str,
    texts: Mapping[str, object],
    settings: Mapping[str, object],
    name: str = "",
    lineage: Lineage | None = None,
) -> Policy:
    """Check the parts of a policy and put them together.

    Args:
        architecture: One of ``ARCHITECTURES``.
        texts: All texts of the architecture, with their placeholders.
        settings: Some or all of the settings that apply; the rest get their defaults.
        name: For people.
        lineage: Where it comes from; by default that of a seed.

    Raises:
        PolicyFileError: A rule is broken; the message names it, the value and what to do.
    """
    if architecture not in ARCHITECTURES and declared(architecture) is None:
        if ":" in architecture:
            raise PolicyFileError(
                f"architecture {short(architecture)} is a memory system of somebody's own, "
                "which is used where it is named, too; add --agent with this name"
            )
        raise PolicyFileError(
            f"architecture must be one of {', '.join(ARCHITECTURES)}, not"
            f" {short(architecture)}; change it"
        )
    return Policy(
        architecture,
        check_texts(architecture, texts),
        check_settings(architecture, settings),
        name,
        lineage or Lineage(),
    )


def read_policy(path: Path | str) -> Policy:
    """Read a policy file.

    Raises:
        PolicyFileError: The file cannot be read, or breaks a rule; the message names the file.
    """
    try:
        data = read_whole(Path(path))
        if len(data) > _MOST_BYTES:
            raise PolicyFileError(
                f"{path}: a policy file has at most {_MOST_BYTES} bytes, and this one {len(data)};"
                " it holds prompts and settings only"
            )
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyFileError(
            f"{path}: a policy file must be UTF-8, and byte {error.start} is not; save it as UTF-8"
        ) from error
    except OSError as error:
        raise PolicyFileError(
            f"{path}: the policy file cannot be read ({error.strerror}); check the path"
        ) from error
    return read_policy_text(text, str(path))


def read_policy_text(yaml_text: str, source: str) -> Policy:
    """Read a policy from the text of its file.

    Args:
        yaml_text: The whole file.
        source: What messages call it, such as its path.

    Raises:
        PolicyFileError: A rule is broken.
    """
    try:
        return _from_document(policy_yaml.parse(yaml_text))
    except PolicyFileError as error:
        raise PolicyFileError(f"{source}: {error}") from error


def policy_to_yaml(policy: Policy) -> str:
    """The policy as a file; reading it back gives an equal policy."""
    lineage = asdict(policy.lineage) | {"parents": list(policy.lineage.parents)}
    if policy.lineage.environment is None:
        del lineage["environment"]
    return policy_yaml.dump(
        {
            "schema": SCHEMA,
            "id": policy.id,
            "name": policy.name,
            "architecture": policy.architecture,
            "texts": dict(policy.texts),
            "settings": dict(policy.settings),
            "lineage": lineage,
            "scores": json.loads(json.dumps(dict(policy.scores))),  # plain, nothing shared
        }
    )


def write_policy(policy: Policy, path: Path | str) -> None:
    """Write a policy file, whole or not at all; missing folders are made.

    Raises:
        PolicyFileError: The file cannot be written.
    """
    try:
        write_whole(Path(path), policy_to_yaml(policy))
    except OSError as error:
        raise PolicyFileError(
            f"{path}: the policy file cannot be written ({error.strerror}); choose another place"
        ) from error


def seed_policy(architecture_or_name: str) -> Policy:
    """A packaged seed, by architecture (``awe``) or by its name (``awe-seed``), or a declared one.

    Raises:
        PolicyFileError: There is no such seed.
    """
    own = declared(architecture_or_name)
    if own is not None:
        return make_policy(architecture_or_name, own.texts, own.settings, architecture_or_name)
    stem = architecture_or_name.removesuffix("-seed")
    folder = resources.files("policies") / "seeds"
    seeds = sorted(item.name.removesuffix(".yaml") for item in folder.iterdir())
    if stem not in seeds:
        raise PolicyFileError(
            f"there is no seed policy {short(architecture_or_name)}; use one of"
            f" {', '.join(seeds)}, or the path of a policy file"
        )
    text = (folder / f"{stem}.yaml").read_text(encoding="utf-8")
    return read_policy_text(text, f"seed policy {stem}")


def _from_document(document: Mapping[object, object]) -> Policy:
    """A checked policy from a file's mapping."""
    _only(document, _KEYS, "a policy file")
    if "schema" not in document:
        raise PolicyFileError(f"the key schema is missing; add schema: {SCHEMA}")
    if type(document["schema"]) is not int or document["schema"] != SCHEMA:
        raise PolicyFileError(
            f"schema must be {SCHEMA}, not {short(document['schema'])}; write the file in"
            f" schema {SCHEMA}, or use the version of Mnemotune that wrote it"
        )
    policy = make_policy(
        _text(document.get("architecture", ""), "architecture"),
        _mapping(document, "texts"),
        _mapping(document, "settings"),
        _text(document.get("name", ""), "name"),
        _lineage(_mapping(document, "lineage")),
    )
    if document.get("id", policy.id) != policy.id:
        raise PolicyFileError(
            f"id must be '{policy.id}', the hash of the content, not {short(document['id'])};"
            " write that, or remove the line"
        )
    scores = _mapping(document, "scores")
    if not _is_plain(scores):
        raise PolicyFileError("scores must hold plain values only, not dates or sets; remove them")
    return replace(policy, scores=scores)


def _lineage(fields: Mapping[str, object]) -> Lineage:
    _only(fields, _LINEAGE_KEYS, "lineage")
    parents = fields.get("parents", [])
    if not isinstance(parents, list):
        raise PolicyFileError(
            f"lineage parents must be a list of ids, not {short(parents)}; write [] for none"
        )
    generation = fields.get("generation", 0)
    if type(generation) is not int or generation < 0:
        raise PolicyFileError(
            "lineage generation must be a whole number from 0, not"
            f" {short(generation)}; write 0 for a policy of your own"
        )
    feedback, run, environment = (
        None if fields.get(name) is None else _text(fields[name], f"lineage {name}")
        for name in ("feedback", "run", "environment")
    )
    return Lineage(
        tuple(_text(parent, "each of lineage parents") for parent in parents),
        generation,
        _text(fields.get("operator", "seed"), "lineage operator"),
        feedback,
        run,
        environment,
    )


def _only(found: Mapping[Any, object], known: tuple[str, ...], where: str) -> None:
    for key in found:
        if key not in known:
            raise PolicyFileError(
                f"{where} has no key {short(key)}; remove it (keys: {', '.join(known)})"
            )


def _mapping(document: Mapping[object, object], key: str) -> dict[str, object]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise PolicyFileError(
            f"{key} must be a mapping (name: value), not {short(value)}; write it as one"
        )
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise PolicyFileError(f"{what} must be text, not {short(value)}; put it in quotes")
    return value


def _is_plain(value: object) -> bool:
    """Whether a value is made of what JSON has too."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)
