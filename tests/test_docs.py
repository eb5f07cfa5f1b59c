"""The documentation says what is so: its commands run, its outputs, names and figures are real."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_string
from functools import cache
from pathlib import Path

import pytest
from uv import find_uv_bin

from tests.evolve.locomo.conftest import long_dialogue
from tests.pages import (
    CLUSTER,
    DOCS,
    EVOLVE,
    README,
    REAL_MODELS,
    ROOT,
    TUTORIAL,
    Fence,
    code,
    code_in,
    fences_of,
    place,
    prose_of,
    table_after,
)

LEFT_OUT = "[…]"
COPIED = ("policies", "feedback", "evolve", "benchmarks", "tests", ".ci", "Makefile", ".gitignore")
FENCES = [fence for path in DOCS for fence in fences_of(path)]
COMMANDS = [command for fence in FENCES for command in fence.commands]
ONE_JOB = "--jobs 1"
FEW = f"--env few.json {ONE_JOB}"  # twelve users with four periods each, made by the test
UV = f"{find_uv_bin()} run --active --no-sync --offline --no-cache"


# A command that a model answers, here the stand-in of rehearsals over loopback.
SERVED = """
import os, shlex, subprocess, sys
from benchmarks.openai_server import OpenAIServer
from evolve.gym.generating.rehearsed import Rehearsed
with OpenAIServer(lm=Rehearsed()) as server:
    line = [*shlex.split(sys.argv[1]), "--api-base", server.base_url]
    sys.exit(subprocess.call(line, env={**os.environ, "OPENAI_API_KEY": "sk-test"}))
"""
SERVED_OFFLINE = SERVED.replace("lm=Rehearsed()", "")
LOCOMO_ANSWERS = (
    "python -m evolve.eval --policy runs/found/best.yaml --against rag --env locomo10.json"
    " --model openai/gpt-4.1-mini"
)
GENERATE = (
    'python -m evolve.gym.generate --domain "travel assistant" --model openai/gpt-4.1-mini'
    " --out travel.json"
)
GENERATE_FEW = f"{GENERATE} --users 12 --periods 2 --questions 2"


@dataclass(frozen=True)
class Way:
    """What is run in place of a command as it is printed; ``{}`` stands for the command itself."""

    run: str
    published: bool = False  # needs the published data
    whole: bool = False  # is run with the others of its page by a test of that page


MAKE = Way("{} -n --no-print-directory")  # CI runs these; what they would do must be known
AS_PRINTED = Way("{}")
CLUSTER_COMMANDS, TUTORIAL_COMMANDS = (
    {
        command
        for fence in fences_of(page)
        for command in fence.commands
        if command != ". .venv/bin/activate"
    }
    for page in (CLUSTER, TUTORIAL)
)
WAYS = {
    "make run": MAKE,
    "make test": MAKE,
    "make benchmarks": MAKE,
    "make docs": MAKE,
    "make notebooks": MAKE,
    "make venv": MAKE,
    "make check": MAKE,
    "make test-extras": MAKE,
    "make test-llm": MAKE,
    "make lock": MAKE,
    "make clean": MAKE,
    ".ci/run": Way("bash -n .ci/run"),
    ". .venv/bin/activate": Way("grep -qx 'VENV ?= .venv' Makefile"),
    "uv run python -m evolve.loop --budget 300": Way(f"{UV} python -m evolve.loop --help"),
    "python -m evolve.loop --policy mem0 --budget 300": Way("python -m evolve.loop --help"),
    # In the order of the pages, in which one needs what another made.
    "python -m evolve.loop --agent evolve.agents.example:UserWords --budget 120 --name words": Way(
        "python -m evolve.loop --agent evolve.agents.example:UserWords --budget 41 --name words"
        f" {FEW}"
    ),
    "python -m evolve.check_agent evolve.agents.example:UserWords": AS_PRINTED,
    "python -m evolve.loop --budget 300 --policy awi --name mine": Way(
        f"python -m evolve.loop --budget 41 --policy awi --name mine {FEW}"
    ),
    "export OPENAI_API_KEY=…": AS_PRINTED,
    "python -m evolve.loop --model openai/gpt-4.1-mini --budget 300 --dry-run": Way(
        "python -m evolve.loop --model openai/gpt-4.1-mini --budget 60 --dry-run --env few.json"
    ),
    # What it begins would be paid for.
    "python -m evolve.loop --model openai/gpt-4.1-mini --budget 300 --name real": Way(
        "python -m evolve.loop --model openai/gpt-4.1-mini --budget 60 --dry-run --env few.json"
    ),
    f"{GENERATE} --dry-run": AS_PRINTED,
    GENERATE: Way(f"python -c {shlex.quote(SERVED)} {shlex.quote(GENERATE_FEW)}"),
    "python -m evolve.loop --env travel.json --model openai/gpt-4.1-mini --budget 60 --dry-run": (
        AS_PRINTED
    ),
    "python -m evolve.gym.sample --seed 8 --users 24 --out trial.json": AS_PRINTED,
    "python -m evolve.loop --model openai/gpt-4.1-mini --budget 46 --env trial.json --dry-run": (
        AS_PRINTED
    ),
    "python -m evolve.loop --resume runs/mine": Way(f"{{}} {ONE_JOB}"),
    "python -m evolve.report runs/mine --open no": AS_PRINTED,
    "python -m evolve.gym.sample --seed 8 --users 48 --out fresh.json": AS_PRINTED,
    "python -m evolve.eval --policy runs/mine/best.yaml --against awi --env fresh.json": Way(
        f"{{}} --users 2 {ONE_JOB}"
    ),
    "python -m evolve.diagnose --reference-run amemgym-v1/runs/awi --env amemgym-v1/data.json"
    " --upper-bounds amemgym-v1/runs": Way("{}", published=True),
    "python -m evolve.loop --budget 60 --env amemgym-v1/data.json --holdout periods --policy awi"
    " --name by-time": Way(
        "python -m evolve.loop --budget 31 --env amemgym-v1/data.json --holdout periods"
        f" --policy awi --name by-time {ONE_JOB}",
        published=True,
    ),
    "python -m evolve.export runs/mine --format mem0 -o mem0.json": AS_PRINTED,
    "python -m evolve.export policies/seeds/awe.yaml --format mem0 -o awe-mem0.json": AS_PRINTED,
    "python -m evolve.export runs/mine --format dspy -o program.json": AS_PRINTED,
    "printf 'Extract facts about the customer from {conversation}.\\nKnown so far: {memories}\\n"
    "Today is {date}.\\n' > my_prompt.txt": AS_PRINTED,
    "python -m evolve.import_policy my_prompt.txt -o mine.yaml --yes": AS_PRINTED,
    "python -m evolve.loop --policy my_prompt.txt --budget 300 --name from-prompt": Way(
        f"python -m evolve.loop --policy my_prompt.txt --budget 41 --dry-run {FEW}"
    ),
    "python -m evolve.eval --policy rag --env locomo10.json": AS_PRINTED,
    "python -m evolve.loop --env locomo10.json --budget 300 --name found": Way(
        "python -m evolve.loop --env locomo10.json --budget 20 --name found"
    ),
    LOCOMO_ANSWERS: Way(
        f"python -c {shlex.quote(SERVED_OFFLINE)} {shlex.quote(f'{LOCOMO_ANSWERS} --users 1')}"
    ),
    "python -m evolve.loop --env locomo10.json --policy awe --model openai/gpt-4.1-mini"
    " --budget 300 --dry-run": Way(
        "python -m evolve.loop --env locomo10.json --policy awe --model openai/gpt-4.1-mini"
        " --budget 60 --dry-run"
    ),
    "python -m evolve.chats.example --out try": Way("{} --users 9"),
    "python -m evolve.eval --policy awe --against native --env try/chats.jsonl --probes"
    " try/probes.yaml": Way(f"{{}} --users 2 {ONE_JOB}"),
    "python -m evolve.loop --budget 120 --policy awe --env try/chats.jsonl --probes try/probes.yaml"
    " --name chats": Way(
        "python -m evolve.loop --budget 42 --policy awe --env try/chats.jsonl --probes"
        f" try/probes.yaml --name chats {ONE_JOB}"
    ),
    "python -m evolve.runs list": AS_PRINTED,
    "python -m evolve.runs show mine": AS_PRINTED,
    "python -m evolve.loop --budget 300 --policy awi --strategy self-evolution"
    " --name published": Way(
        "python -m evolve.loop --budget 41 --policy awi --strategy self-evolution"
        f" --name published {FEW}"
    ),
    "python -m evolve.runs diff published mine": AS_PRINTED,
    "python -m evolve.runs rollback published seed": AS_PRINTED,
    "python -m evolve.runs redact published --yes": AS_PRINTED,
    "python -m evolve.runs purge published --yes": AS_PRINTED,
    "python -m pytest tests/policies": Way("{} --collect-only -p no:cacheprovider"),
    "python -m benchmarks.all --quick --only gate_power": AS_PRINTED,
    **{command: Way("{}", whole=True) for command in CLUSTER_COMMANDS | TUTORIAL_COMMANDS},
    "make extras": MAKE,
    "python -m evolve.gym.sample --seed 7 --users 72 --out evolve/gym/data/sample.json": AS_PRINTED,
}
"""Every command that the documentation prints in a block of its own, and how it is checked."""


# Commands


def copy_of_project(folder: Path) -> Path:
    """A copy to work in, with few users, and ``python`` as this test runs it on the path."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            # pytest's caches stay behind; compiled modules spare seconds.
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(".*cache"))
        else:
            shutil.copy2(source, folder / name)
    for name in ("pyproject.toml", "uv.lock", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, folder / name)
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    few = (
        "import json; from evolve.gym.sample import make_users; users = make_users(3, 12)\n"
        "for user in users: del user['periods'][4:]\n"
        "json.dump(users, open('few.json', 'w'))"
    )
    assert shell(f"python -c {shlex.quote(few)}", folder).returncode == 0
    dialogues = [long_dialogue(f"talk-{number}", 4) for number in range(6)]
    (folder / "locomo10.json").write_text(json.dumps(dialogues), encoding="utf-8")
    return folder


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # A make that runs the tests hands its own variables down.
    outer = ("PYTEST_", "MAKE", "MFLAGS", "VENV")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
    variables |= {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": sys.prefix,
        "HOME": str(folder),
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def ran(command: str, folder: Path) -> str:
    """Output of what is run in place of a command."""
    stand_in = WAYS[command].run.replace("{}", command)
    done = shell(stand_in, folder)
    assert done.returncode == 0, f"{stand_in}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def test_every_printed_command_has_a_way_to_run_it() -> None:
    inline = {c for path in DOCS for c in code_in(path) if c.startswith(("make ", "uv run "))}
    assert COMMANDS
    assert sorted((set(COMMANDS) | inline) - WAYS.keys()) == []
    assert sorted(WAYS.keys() - set(COMMANDS) - inline) == []


@pytest.mark.extra
def test_commands_run_in_the_order_in_which_they_are_printed(tmp_path: Path) -> None:
    folder = copy_of_project(tmp_path)
    # What tools keep at home, which is this folder here, is no file of the project.
    track = "git init -q && git add -A && echo '/.*' > .git/info/exclude"
    assert shell(track, folder).returncode == 0
    done: set[str] = set()
    for fence in FENCES:
        for command in fence.commands:
            way = WAYS[command]
            if way is not MAKE and not way.published and not way.whole and command not in done:
                check_output(command, ran(command, folder))
            done.add(command)
        if fence.language == "python":
            code = shlex.quote("\n".join(fence.lines))
            printed = shell(f"python -c {code}", folder)
            assert printed.returncode == 0, printed.stderr
            assert printed.stdout.strip()
    check_files_of_a_run(folder / "runs" / "mine")
    packaged = Path("evolve", "gym", "data", "sample.json")
    assert (folder / packaged).read_bytes() == (ROOT / packaged).read_bytes()
    for command in (c for c in WAYS if c.startswith("uv run ")):
        ran(command, folder)
    status = shell("git status --porcelain", folder).stdout.splitlines()
    assert [line for line in status if not line.startswith("A  ")] == []


def test_files_that_printed_commands_write_are_ignored_by_git(tmp_path: Path) -> None:
    shutil.copy2(ROOT / ".gitignore", tmp_path)
    assert shell("git init -q", tmp_path).returncode == 0
    ours = (c for c in COMMANDS if c.startswith(("python -m ", "printf ")))
    written = {name for c in ours for name in re.findall(r"(?:-o|--out|>) ([\w./-]+)", c)}
    written -= {"evolve/gym/data/sample.json"}  # which is a file of the project
    assert len(written) > 5
    found = shell(f"git check-ignore -- {shlex.join(sorted(written))}", tmp_path)
    assert set(found.stdout.splitlines()) == written


@pytest.mark.extra
def test_the_guide_to_clusters_works_from_its_first_command_to_its_last(tmp_path: Path) -> None:
    """In one shell, as a reader types them; other ports, a folder of the test's, a small budget."""
    for module in ("distributed", "psycopg", "ray"):
        pytest.importorskip(module, reason=f"{module} is not installed: make test-extras has it")
    if os.geteuid() != 0 or not Path("/usr/lib/postgresql").is_dir():
        pytest.skip("the guide is for root, with Debian's package postgresql installed")
    data = Path(tempfile.mkdtemp(prefix="mnemotune-", dir="/var/tmp"))
    stand_ins = {
        "make extras": f"make -n -C {shlex.quote(str(ROOT))} extras",
        ". .venv/bin/activate": ":",
        "apt-get install ": ": ",
        "--budget 300": f"--budget 41 {FEW}",
        "/var/tmp/mnemotune-db": str(data / "db"),
        "8786": "28786",
        "5433": "25433",
        "optuna studies": f"{Path(sys.executable).parent / 'optuna'} studies",
    }
    script = "\n".join(c for fence in fences_of(CLUSTER) for c in fence.commands)
    for printed, stand_in in stand_ins.items():
        assert printed in script
        script = script.replace(printed, stand_in)
    stop = f"runuser -u postgres -- /usr/lib/postgresql/*/bin/pg_ctl -D {data}/db/data stop -mi"
    data.chmod(0o755)
    try:
        folder = copy_of_project(tmp_path)
        done = shell(f"set -e\ntrap 'kill $(jobs -p); {stop}' EXIT\n{script}", folder)
    finally:
        shutil.rmtree(data)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"^\| told +\|", done.stdout, re.M)
    ends = [
        [
            path.read_text(encoding="utf-8").replace(f"run: {name},", "")
            for path in sorted((folder / "runs" / name).glob("policies/*"))
        ]
        for name in ("far", "near", "told")
    ]
    assert ends[0]
    assert ends[0] == ends[1] == ends[2]


def check_files_of_a_run(run: Path) -> None:
    """What a run left is what the guide says, and all of it."""
    rows = table_after(EVOLVE, "| in `runs/NAME/`")
    named = {re.sub(r"gen-[\d.]+-?|ID", "*", code(row[0])) for row in rows}
    patterns = {re.sub(r"\*+", "*", name) for name in named}
    found = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    matched = {p: {f for f in found if Path(f).match(p)} for p in patterns}
    # No real model was called.
    assert sorted(p for p, files in matched.items() if not files) == ["calls.jsonl", "sent"]
    assert found - set().union(*matched.values()) == set()


def test_commands_on_published_data_run_and_print_what_is_shown(
    tmp_path: Path, shared_data: Path
) -> None:
    folder = copy_of_project(tmp_path)
    (folder / "amemgym-v1").symlink_to(shared_data / "amemgym-v1")
    commands = [command for command in COMMANDS if WAYS[command].published]
    outputs = {command: ran(command, folder) for command in commands}
    for fence in outputs_shown():
        for command, output in outputs.items():
            if command.startswith(f"{fence.comment} "):
                check_excerpt(fence, output.splitlines())


@pytest.mark.parametrize("command", [c for c, way in WAYS.items() if way is MAKE])
def test_make_knows_the_target(command: str) -> None:
    done = shell(MAKE.run.replace("{}", command), ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_make_run_runs_what_the_documentation_says() -> None:
    done = shell("make -n --no-print-directory run", ROOT)
    assert done.stdout.splitlines()[-1] == ".venv/bin/python -m evolve.loop --budget 300"


@cache
def options_of(module: str) -> frozenset[str]:
    """The options that a command's ``--help`` names."""
    done = shell(f"{shlex.quote(sys.executable)} -m {module} --help", ROOT)
    assert done.returncode == 0, done.stderr
    return frozenset(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stdout)) - {"--help"}


def module_commands() -> Iterator[tuple[Path, str]]:
    """Every ``python -m`` command in backticks or in a block."""
    for path in DOCS:
        yield from ((path, c) for c in code_in(path) if re.match(r"(uv run )?python -m ", c))
    for fence in FENCES:
        yield from ((fence.path, c) for c in fence.commands if c.startswith("python -m "))


def test_modules_and_options_of_printed_commands_exist() -> None:
    for path, command in module_commands():
        module, *rest = command.split("-m ", 1)[1].split()
        if module.startswith(("pytest", "distributed.")) or "NAME" in module:
            continue
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), f"{place(path)}: {command}"
        given = {word for word in rest if word.startswith("--")}
        assert given <= (options_of(module) if given else set()), f"{place(path)}: {command}"


def commands_of_the_project() -> list[str]:
    """Modules that ``python -m`` runs as commands."""
    return [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in sorted((ROOT / "evolve").rglob("*.py"))
        if 'if __name__ == "__main__":' in file.read_text(encoding="utf-8")
    ]


def test_the_documentation_names_every_option_and_no_other() -> None:
    known = frozenset[str]().union(*map(options_of, commands_of_the_project()))
    guides = [README, *(path for path in DOCS if path.parent.name == "guide")]
    prose = "\n".join(map(prose_of, guides))
    named = set(re.findall(r"(?<![\w<!-])--[a-z][a-z-]*", prose))
    assert named == known
    rows = [*table_after(EVOLVE, "| option"), *table_after(REAL_MODELS, "| with real models")]
    in_tables = " ".join(row[0] for row in rows)
    assert options_of("evolve.loop") == set(re.findall(r"--[a-z-]+", in_tables))


# Outputs and excerpts


def outputs_shown() -> list[Fence]:
    """Blocks that show what a command prints, with the command as their comment."""
    shown = []
    for fence in FENCES:
        if found := re.fullmatch(r"<!-- output: (.+) -->", fence.comment):
            lines = fence.lines
            shown.append(Fence(fence.path, fence.number, fence.language, lines, found[1]))
    return shown


def check_output(command: str, output: str) -> None:
    """What a command prints is what is shown of it, where anything is."""
    for fence in outputs_shown():
        if fence.comment == command:
            check_excerpt(fence, output.splitlines())


def check_excerpt(fence: Fence, whole: Sequence[str]) -> None:
    """Lines stand in the whole in this order, and side by side where nothing is said left out."""
    at, left_out = 0, False
    for line in fence.lines:
        if line.strip() == LEFT_OUT:
            left_out = True
            continue
        rest = whole[at:]
        where = f"{place(fence.path)}:{fence.number}: {line!r}"
        assert line in rest, f"{where} is not there, or not in this order"
        skipped = rest.index(line)
        assert left_out or skipped == 0, f"{where} has lines before it: mark them by {LEFT_OUT}"
        at, left_out = at + skipped + 1, False
    assert left_out or at == len(whole), f"{place(fence.path)}:{fence.number}: lines follow"


def test_every_block_of_text_in_the_readme_says_what_it_is() -> None:
    for fence in fences_of(README):
        if fence.language in {"text", "yaml"}:
            assert re.fullmatch(r"<!-- (output|excerpt): \S.* -->", fence.comment), fence
    shown = {fence.comment for fence in outputs_shown()}
    compared = {command for command, way in WAYS.items() if way == AS_PRINTED or way.whole}
    assert shown - compared == {"make run", "python -m evolve.diagnose"}


@pytest.mark.extra
def test_make_run_prints_what_the_readme_shows(tmp_path: Path) -> None:
    folder = copy_of_project(tmp_path)
    done = shell("python -m evolve.loop --budget 300", folder)
    assert done.returncode == 0, done.stderr

    def plain(line: str) -> str:  # without the run's name and its time
        return re.sub(r"; \d+ s$", "; N s", re.sub(r"runs/[\w-]+", "runs/NAME", line))

    (fence,) = [fence for fence in outputs_shown() if fence.comment == "make run"]
    shown = Fence(fence.path, fence.number, "text", tuple(map(plain, fence.lines)), fence.comment)
    check_excerpt(shown, [plain(line) for line in done.stdout.splitlines()])


@pytest.mark.extra
def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    folder = copy_of_project(tmp_path)
    for fence in fences_of(TUTORIAL):
        for command in fence.commands:
            if command in TUTORIAL_COMMANDS:
                check_output(command, ran(command, folder))


def test_excerpts_of_files_are_real() -> None:
    excerpts = [fence for fence in FENCES if fence.comment.startswith("<!-- excerpt: ")]
    assert excerpts
    for fence in excerpts:
        source = ROOT / fence.comment.removeprefix("<!-- excerpt: ").removesuffix(" -->")
        lines = source.read_text(encoding="utf-8").splitlines()
        check_excerpt(fence, lines)


def figures() -> str:
    """What README.md must show: tables of benchmarks/comparison.md, as they stand."""
    page = (ROOT / "benchmarks" / "comparison.md").read_text(encoding="utf-8")
    titles = [f"{world}: joint less others, final memory score" for world in ("a", "b")]
    tables = [re.search(rf"^\*\*{title}\*\*\n\n(?:\|.*\n)+", page, re.M) for title in titles]
    return "\n\n".join(table[0].strip() for table in tables if table)


def test_the_readme_shows_the_figures_of_the_comparison() -> None:
    text = README.read_text(encoding="utf-8")
    start, end = "<!-- figures: benchmarks/comparison.md -->\n", "<!-- end of figures -->"
    shown = text.split(start)[1].split(end)[0].strip()
    assert figures()
    assert shown == figures(), f"put between the two comments of README.md:\n\n{figures()}\n"


def test_the_picture_is_whole_and_needs_no_network() -> None:
    text = (ROOT / "docs" / "loop.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)|<image|<script|href", text)
    assert len(text) < 10_000


def test_the_wheel_shows_the_readme(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["readme"] == "README.md"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        metadata = message_from_string(archive.read(name).decode("utf-8"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).strip() == README.read_text(encoding="utf-8").strip()
