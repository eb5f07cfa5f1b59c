"""The lock file, what is exported from it, the reasons for dependencies, and the wheel agree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[1]
PACKAGES = ("policies", "feedback", "evolve")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORTED_AS = {
    "markdown-it-py": "markdown_it",
    "python-dotenv": "dotenv",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
EXPORTS = {
    "requirements.txt": ["--no-dev"],
    "requirements-dev.txt": [],
    "requirements-llm.txt": ["--only-group", "llm"],
    "requirements-extras.txt": ["--all-extras"],
}


def uv(*arguments: str) -> str:
    """Output of uv, which needs neither a network nor a cache here."""
    done = subprocess.run(
        [find_uv_bin(), *arguments, "--offline", "--no-cache", "--python", sys.executable],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def distribution(requirement: str) -> str:
    """Name of the distribution that a requirement wants."""
    return re.split(r"[^a-z0-9-]", requirement.lower())[0]


def reasons() -> dict[str, str]:
    """Distribution of each runtime dependency to the comment in its line."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = text.split("\ndependencies = [\n")[1].split("\n]\n")[0]
    found = re.findall(r'^ *"([^"]+)", +# (.+)$', block, flags=re.MULTILINE)
    return {distribution(requirement): comment for requirement, comment in found}


def imports(path: Path) -> set[str]:
    """First names of all imports of a module."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).split(".")[0])
    return names


def test_lock_file_fits_the_project() -> None:
    uv("lock", "--check")


@pytest.mark.parametrize("name", EXPORTS)
def test_requirement_files_are_what_the_lock_file_exports(name: str) -> None:
    exported = uv("export", "--frozen", "--no-header", "--no-emit-project", *EXPORTS[name])
    assert (ROOT / name).read_text(encoding="utf-8") == exported


@pytest.mark.parametrize("name", EXPORTS)
def test_requirement_files_hold_pinned_and_hashed_releases_only(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if not line.startswith(" ")]
    assert len(entries) > (1 if name == "requirements-llm.txt" else 50)
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==\S+ (; .+ )?\\$", entry), entry
    for line in set(lines) - set(entries):
        assert re.match(r"    (--hash=sha256:[0-9a-f]{64}( \\)?|# .+|#   .+)$", line), line
    assert not re.search(r"https?:|--index|--find|file:", "\n".join(lines))


def test_lock_file_names_one_registry() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    assert set(re.findall(r'registry = "([^"]+)"', text)) == {"https://pypi.org/simple"}
    assert set(re.findall(r'url = "(https?://[^/]+/)', text)) == {"https://files.pythonhosted.org/"}


@pytest.mark.parametrize("requirement", PROJECT["dependencies"])
def test_every_runtime_dependency_has_its_reason(requirement: str) -> None:
    name = distribution(requirement)
    comment = reasons().get(name)
    assert comment is not None, f"{name} has no comment that names the module which needs it"
    named = re.findall(r"[\w./*-]+(?:\.py|/)(?=[\s,:;]|$)", comment)
    assert named, f"the comment of {name} names no module: {comment}"
    paths = {place: sorted(ROOT.glob(place)) for place in named}
    assert [place for place, found in paths.items() if not found] == []
    modules = [path for found in paths.values() for path in found if path.suffix == ".py"]
    wanted = IMPORTED_AS.get(name, name.replace("-", "_"))
    assert [str(path) for path in modules if wanted not in imports(path)] == []


def test_wheel_holds_all_code_and_data_and_nothing_else(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    info = f"mnemotune-{PROJECT['version']}.dist-info"
    assert f"{info}/licenses/LICENSE" in packed
    on_disk = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }
    assert {name for name in packed if not name.startswith(info)} == on_disk
    data = {name for name in on_disk if not name.endswith(".py")}
    assert data >= {
        *(f"policies/seeds/{name}.yaml" for name in ("none", "native", "rag", "awe", "awi")),
        *(f"evolve/gym/banks/{name}.yaml" for name in ("schema", "bank_a", "bank_b")),
        "evolve/lm/lexicon.yaml",
    }
    assert any(name.startswith("evolve/gym/") and ".json" in name for name in data), "no sample"


def test_files_of_keys_are_not_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".env", ".env.*"} <= set(ignored)
