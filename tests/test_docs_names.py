"""What the documentation names exists: links, files, Python names; its tables are the code's."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from evolve.config import HOLDOUTS, STRATEGIES
from evolve.lm.base import CAPS
from evolve.lm.offline import Capacity
from evolve.roles import OFFLINE
from policies.policy import ARCHITECTURES
from policies.settings import SETTINGS, as_text
from tests.pages import (
    DESIGN,
    DOCS,
    EVOLVE,
    REAL_MODELS,
    RESULTS,
    ROOT,
    code,
    code_in,
    place,
    prose_of,
    table_after,
)


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DOCS, ids=place)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(\s*([^)\s]+)\s*\)", prose_of(path)):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if file == RESULTS and not RESULTS.is_file():
            continue  # README.md then says that nothing was measured
        assert file.exists(), f"{place(path)} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", prose_of(file), re.M)
            assert anchor in map(slug, headings), f"{place(path)} links to {target}"


@pytest.mark.parametrize("path", DOCS, ids=place)
def test_named_files_exist(path: Path) -> None:
    tops = "policies|feedback|evolve|benchmarks|tests|docs|runs|notebooks"
    for name in code_in(path):
        made = name.startswith("runs/") or re.search(r"[A-Z]{2,}|\bgen-", name)
        if re.fullmatch(rf"(?:{tops})/[\w./*-]*", name) and not made:
            assert list(ROOT.glob(name)) or ROOT / name == RESULTS, f"{place(path)}: {name}"


@pytest.mark.parametrize("path", DOCS, ids=place)
def test_named_python_things_exist(path: Path) -> None:
    """Dotted names of the packages, and classes and constants that tests or packages define."""
    defined = {
        name
        for folder in ("policies", "feedback", "evolve", "tests")
        for file in (ROOT / folder).rglob("*.py")
        for name in re.findall(
            r"^(?:class (\w+)|([A-Z_]{4,})\b.*=)", file.read_text(encoding="utf-8"), re.M
        )
        for name in name
        if name
    }
    for name in code_in(path):
        if re.fullmatch(r"(?:policies|feedback|evolve)(?:\.\w+)+(?:\(.*\))?", name):
            file, last = _module_and_rest(name.split("(")[0])
            assert file is not None, f"{place(path)}: {name}"
            text = file.read_text(encoding="utf-8")
            assert re.search(rf"\b{last}\b", text) or not last, f"{place(path)}: {name}"
        elif re.fullmatch(r"(?:[A-Z][a-z]+){2,}|[A-Z]{4,}_?[A-Z]*", name):
            known = defined | {"NAME", "MNEMOTUNE_DATA"}
            assert name in known, f"{place(path)}: {name}"


def _module_and_rest(name: str) -> tuple[Path | None, str]:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        file = ROOT.joinpath(*parts[:count])
        for module in (file.with_suffix(".py"), file / "__init__.py"):
            if module.is_file():
                return module, ".".join(parts[count:])
    return None, ""


def test_the_layout_names_every_module() -> None:
    starts = re.findall(r"^\| `((?:policies|feedback|evolve)/[a-z/]*)` \|", prose_of(DESIGN), re.M)
    packages = ("policies", "feedback", "evolve")
    folders = {place(file.parent) + "/" for p in packages for file in (ROOT / p).rglob("*.py")}
    assert set(starts) == folders
    for start in starts:
        rows = table_after(DESIGN, f"| `{start}` |")
        named = {name for row in rows for name in re.findall(r"`(\w+\.py)`", row[0])}
        there = {file.name for file in (ROOT / start).glob("*.py")} - {"__init__.py"}
        assert named == there, start


def test_the_table_of_settings_is_that_of_the_code() -> None:
    rows = {code(row[0]): row[1:4] for row in table_after(DESIGN, "| setting ")}
    assert list(rows) == [setting.name for setting in SETTINGS]
    for setting in SETTINGS:
        applies, values, default = rows[setting.name]
        assert set(applies.split(", ")) == setting.architectures
        assert default == as_text(setting.default)
        if setting.values:
            assert values == ", ".join(map(as_text, setting.values))
        else:
            even = ", even" if setting.step == 2 else ""
            null = "null, " if setting.optional else ""
            assert values == f"{null}{setting.low} to {setting.high}{even}"


def test_the_guide_to_agents_names_every_setting() -> None:
    guide = ROOT / "docs" / "guide" / "agents.md"
    assert {setting.name for setting in SETTINGS} - set(code_in(guide)) == set()


def test_the_table_of_capacities_is_that_of_the_code() -> None:
    rows = {code(row[0]): float(row[1]) for row in table_after(DESIGN, "| capacity ")}
    assert rows == {f.name: float(getattr(Capacity(), f.name)) for f in fields(Capacity)}


def test_the_guide_names_the_caps_of_replies() -> None:
    (said,) = re.findall(r"^- \*\*Replies are capped\*\*: [^.]*\.", prose_of(REAL_MODELS), re.M)
    told = [
        int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?=(?: tokens)? for)", said)
    ]
    assert told == list(dict.fromkeys(CAPS.values())), said


def test_the_guide_names_every_choice_of_an_option() -> None:
    rows = {code(row[0]).split()[0]: row[1] for row in table_after(EVOLVE, "| option")}
    choices = {"--strategy": STRATEGIES, "--holdout": HOLDOUTS, "--model": (OFFLINE,)}
    for option, values in {**choices, "--policy": ARCHITECTURES}.items():
        assert [value for value in values if f"`{value}`" not in rows[option]] == []


def test_the_table_of_strategies_is_that_of_the_code() -> None:
    rows = {code(row[0]): row[1] for row in table_after(EVOLVE, "| strategy ")}
    assert rows == {name: strategy.meaning for name, strategy in STRATEGIES.items()}
