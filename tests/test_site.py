"""The pages of docs/ build as a site without a warning, need no network, and leave nothing out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder


def pages_of_the_menu(entry: object) -> set[str]:
    if isinstance(entry, str):
        return {entry}
    parts = entry.values() if isinstance(entry, dict) else entry
    return set[str]().union(*map(pages_of_the_menu, parts))  # type: ignore[call-overload]


def test_every_page_is_in_the_menu() -> None:
    # YAML's own loader knows no tags of mkdocs, and the file has none.
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    docs = ROOT / "docs"
    assert pages_of_the_menu(menu) == {p.relative_to(docs).as_posix() for p in docs.rglob("*.md")}


def test_the_reference_comes_of_docstrings(site: Path) -> None:
    text = (site / "reference" / "protocols.html").read_text(encoding="utf-8")
    for name in ("LM", "MemoryAgent", "Proposer"):
        assert re.search(rf'id="[\w.]+\.{name}"', text), name


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    fetched = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="?(https?://[^"\s>]+)')
    for page in site.rglob("*.html"):
        assert fetched.findall(page.read_text(encoding="utf-8")) == [], page


def test_links_out_of_the_pages_are_names(site: Path) -> None:
    text = (site / "design.html").read_text(encoding="utf-8")
    assert "evolve/lm/base.py" in text
    assert 'href="../' not in text
