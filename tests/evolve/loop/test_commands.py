"""The command line: what is refused, in one sentence, and what a finished run says again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from evolve.journal import FILE, Journal, read_header

HEAVY = {"numpy", "pandas", "scipy", "sklearn", "optuna", "dspy", "litellm", "joblib", "rich"}


def test_help_imports_nothing_heavy(command):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "evolve.loop", "--help"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {name.partition(".")[0] for name in imported} & (HEAVY | {"pydantic", "yaml"}) == set()
    assert "argparse" in imported
    assert "--resume RUN" in done.stdout
    assert "SIGTERM" in done.stdout


def test_an_unknown_option(command):
    done = command.run("--bugdet", 60)
    assert done.returncode == 2
    said = "error: unrecognized arguments: --bugdet 60; see python -m evolve.loop --help\n"
    assert done.stderr == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "A run needs a budget, but --budget is missing; try --budget 300."),
        ("--budget 0", "--budget must be at least 1, but is 0; give a larger number."),
        ("--budget 60 --strategy best", "--strategy must be one of joint, placebo, "),
        ("--budget 60 --jobs 0", "--jobs must be at least 1, but is 0; give a larger number."),
        ("--budget 60 --env no.json", "no.json"),
        ("--budget 60 --env .", ". is a folder where a file is needed"),
        ("--budget 60 --policy best", "best"),
        ("--budget 60 --policy no.yaml", "no.yaml"),
        ("--budget 300 --runs /dev/null/runs", "Not a directory"),
        ("--resume runs/none", "there is no journal.jsonl in 'runs/none' nor in"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(command, arguments, said):
    assert said in command.refused(*arguments.split())
    assert [path.name for path in command.place.iterdir()] == ["home"]


def test_a_budget_too_small_names_the_smallest(command, small):
    options = small.options[:2]
    said = command.refused(*options, "--budget", 5)
    least = int(re.search(r"give --budget (\d+) or more", said)[1])
    again = command.refused(*options, "--budget", least - 1)
    assert again == said.replace(" but 5 rollouts", f" but {least - 1} rollouts")
    assert least <= int(small.options[3])


def test_a_folder_that_is_no_run(command):
    folder = command.place / "folder"
    folder.mkdir()
    assert "cannot be read" in command.refused("--resume", folder)
    (folder / FILE).write_text("")
    assert "begin it again with all of its options" in command.refused("--resume", folder)


def test_a_run_that_another_process_has(command, small):
    with Journal(small.folder, read_header(small.folder), resume=True):
        assert "is in use by another; wait" in command.refused("--resume", small.folder)
        again = [*small.options, "--runs", small.folder.parent, "--name", "run"]
        assert "is in use by another; wait" in command.refused(*again)
    assert "holds a run; go on with it by --resume" in command.refused(*again)


def test_a_resume_with_something_else_names_the_difference(command, small):
    resume = ["--resume", small.folder]
    users = json.loads(Path(small.options[1]).read_text())
    users[0]["user_profile"]["name"] = "Somebody Else"
    (command.place / "env.json").write_text(json.dumps(users))
    before = small.journal.read_bytes()
    for arguments, named in [
        (["--budget", 300], "--budget was 42 and is now 300; give the same again"),
        (["--seed", 1, "--later-rounds", 3], "--later-rounds was 2 and is now 3, --seed was 0 and"),
        (["--env", command.place / "env.json"], "--env was '"),
        (["--env", "sample"], "--env was '"),  # though it would need a larger budget
        (["--policy", "awi"], "--policy was '"),
    ]:
        assert named in command.refused(*resume, *arguments)
    assert small.journal.read_bytes() == before


def change(folder, line, edit):
    """Edit the data of a line of the journal, with a checksum that fits."""
    path = folder / FILE
    lines = path.read_bytes().splitlines(keepends=True)
    event = json.loads(lines[line])
    del event["sum"]
    edit(event["data"])
    body = json.dumps(event, ensure_ascii=False).encode()[:-1]
    lines[line] = body + b', "sum": %d}\n' % zlib.crc32(body)
    path.write_bytes(b"".join(lines))


@pytest.fixture
def copied(command, small):
    return Path(shutil.copytree(small.folder, command.place / "copy" / "run"))


def test_a_run_of_an_older_version(command, copied):
    change(copied, 0, lambda data: data.update(schema=1))
    assert "has schema 1; resume it with the version that began it" in command.refused(
        "--resume", copied
    )


def test_a_damaged_line(command, copied):
    content = (copied / FILE).read_bytes()
    middle = content.index(b'"answers"', len(content) // 2)
    (copied / FILE).write_bytes(content[:middle] + b"!" + content[middle + 1 :])
    number = content[:middle].count(b"\n") + 1
    done = command.run("--resume", copied)
    assert done.returncode == 2
    assert f"line {number} of {copied / FILE} was changed or damaged; restore" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (copied / FILE).stat().st_size == len(content)


def test_a_finished_run_says_its_end_again_and_changes_nothing(command, copied, small, same_run):
    elsewhere = command.place / "moved.json"
    shutil.copy(small.options[1], elsewhere)
    done = command.run("--resume", copied, *small.options[2:], "--env", elsewhere, "--jobs", 2)
    assert (done.returncode, done.stderr) == (0, "")
    ours, theirs = (text[text.index("\nCandidates") :] for text in (done.stdout, small.out))
    assert ours.splitlines()[:-1] == theirs.splitlines()[:-1]
    assert "\nSpent: " in ours
    same_run(copied, small.folder)


def test_a_renamed_folder_is_the_same_run(command, copied, small, same_run):
    moved = copied.rename(copied.parent / "other")
    for name in ("best.yaml", "policies", "candidates", "feedback", "summary.json"):
        path = moved / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    assert command.run("--resume", moved, "--jobs", 1).returncode == 0
    same_run(moved, small.folder)


def test_an_output_that_lacks_characters_or_is_closed_costs_nothing(command, copied, small):
    command.variables = {"PYTHONIOENCODING": "ascii"}
    done = command.run("--resume", copied, "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2192" in done.stdout or "seed stays" in done.stdout
    done = command.run("--resume", copied, "--jobs", 1, first="import os; os.close(1)")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_an_output_that_is_full_is_told_in_one_sentence(command, copied):
    with open("/dev/full", "w") as full:
        done = command.run("--resume", copied, "--jobs", 1, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "the output is refused (No space left on device)" in done.stderr


def test_what_is_printed_without_a_terminal(small):
    lines = small.out.splitlines()
    assert lines[0].startswith("run runs/run: 42 rollouts buy about ")
    assert lines[1].startswith("model offline: a deterministic stand-in")
    assert "\x1b" not in small.out
    assert re.fullmatch(
        r"generation 1  best so far: accuracy .*, budget left \d+ of 42 .*", lines[2]
    )
    assert lines[-2].startswith("test users: ")
    assert re.fullmatch(r"runs/run: summary\.json, best\.yaml; \d+ s", lines[-1])
    log = (small.folder / "run.log").read_text()
    assert "INFO run runs/run: 42 rollouts buy" in log
    assert "DEBUG generation 1" in log


def test_a_full_disk_is_named_and_nothing_is_lost(command, small, same_run):
    limit = small.journal.stat().st_size * 2 // 3
    first = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    done = command.run(*small.options, "--name", "run", "--jobs", 1, first=first)
    assert done.returncode == 2
    assert "writing to runs/run/journal.jsonl failed (File too large); free space" in done.stderr
    assert done.stderr.count("\n") == 1
    done = command.run("--resume", "runs/run", "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    same_run(command.place / "runs" / "run", small.folder)


WATCH = """
import os, sys
log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
busy = []

def note(*words):
    os.write(log, (" ".join(map(str, words)) + "\\n").encode())

def watch(event, arguments):
    if busy:
        return
    busy.append(1)
    try:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            flags = arguments[2] or 0
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                note("write", os.path.abspath(os.fsdecode(arguments[0])))
        elif event == "os.mkdir":
            note("write", os.path.abspath(os.fsdecode(arguments[0])))
        elif event in ("os.rename", "os.link", "os.symlink"):
            note("write", os.path.abspath(os.fsdecode(arguments[1])))
        elif event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            note("network", arguments[0 if event == "socket.getaddrinfo" else -1])
    finally:
        busy.clear()

note("process", os.getpid())
sys.addaudithook(watch)
"""


def test_nothing_reaches_the_network_or_is_written_elsewhere(command, small, same_run):
    (command.place / "site").mkdir()
    (command.place / "site" / "sitecustomize.py").write_text(WATCH)
    log = command.place / "watched"
    command.variables = {
        "PYTHONPATH": os.pathsep.join(
            [str(command.place / "site"), str(Path(__file__).parents[3])]
        ),
        "PYTHONDONTWRITEBYTECODE": "1",
        "WATCH_LOG": str(log),
        "OPENAI_API_KEY": "sk-secret",
    }
    done = command.run(*small.options, "--name", "run", "--jobs", 2)
    assert (done.returncode, done.stderr) == (0, "")
    noted = [line.partition(" ") for line in log.read_text().splitlines()]
    assert sum(what == "process" for what, _, _ in noted) >= 3
    folder = command.place / "runs"
    elsewhere = [
        name
        for what, _, name in noted
        if what != "process"
        and not name.startswith((str(folder), os.devnull, "/dev/shm/joblib_memmapping"))
    ]
    assert elsewhere == []
    same_run(folder / "run", small.folder)
    assert b"sk-secret" not in b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())
