from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from evolve.journal import append_rollback
from evolve.loop import main
from evolve.results.overview import overview
from evolve.results.run_record import read_run
from evolve.runs import main as runs_command
from policies.policy import read_policy, seed_policy
from tests.evolve.locomo.conftest import dialogue


@pytest.fixture
def env(write):
    return write([dialogue(f"talk-{number}") for number in range(6)])


@pytest.fixture
def run(env, tmp_path, capsys):
    def command(*options, name="tuned"):
        runs = ["--runs", str(tmp_path), "--name", name]
        status = main(["--env", str(env), *runs, *options])
        out, err = capsys.readouterr()
        return status, out, err

    return command


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.log"
    }


def test_a_run_writes_its_policy_and_says_what_was_read(run, tmp_path):
    status, out, _ = run("--budget", "40")
    assert status == 0
    assert "14 settings are tried on 2 dialogues" in out
    assert "nothing is answered" in out
    assert "reply_prompt" not in out  # memory hears nothing, so nothing is replayed to it
    assert "tokens shown holds on the test dialogues" in out
    assert re.search(r"evidence recall seed .* → best .*; precision .* → ", out)
    assert "evidence 'D' of talk-0, question 5: cannot be read" in out
    assert "36 questions of 6 dialogues; 6 without evidence" in out
    assert "Test dialogues: evidence found" in out
    best = read_policy(tmp_path / "tuned" / "best.yaml")
    summary = json.loads((tmp_path / "tuned" / "summary.json").read_text())
    assert summary["best_policy"] == best.id
    assert summary["trials"] == 14
    assert summary["spent"] <= 40
    assert best.scores["split"] == "test"
    assert summary["evidence"]["best"]["recall"] >= summary["evidence"]["seed"]["recall"]


def test_a_stopped_run_goes_on_to_the_same_bytes(run, tmp_path):
    run("--budget", "40")
    whole = files_of(tmp_path / "tuned")
    journal = tmp_path / "tuned" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    assert main(["--resume", str(tmp_path / "tuned")]) == 0
    assert files_of(tmp_path / "tuned") == whole
    assert main(["--resume", str(tmp_path / "tuned")]) == 0
    assert files_of(tmp_path / "tuned") == whole


def test_its_folder_is_shown_redacted_and_keeps_to_a_rollback(run, tmp_path, capsys):
    run("--budget", "40")
    folder, runs = tmp_path / "tuned", ("--runs", str(tmp_path))
    record = read_run(folder)
    assert record.field is None
    append_rollback(folder, {"policy": record.seed.id, "scores": {"split": "none"}})
    assert main(["--resume", str(folder)]) == 0
    told = "the run was rolled back: best.yaml is rag-seed" in capsys.readouterr().out
    assert told == (record.best.id != record.seed.id)
    assert read_policy(folder / "best.yaml").scores == {"split": "none"}
    assert runs_command(["show", "tuned", *runs]) == 0
    shown = capsys.readouterr().out
    assert "Test dialogues" in shown
    assert "recall gained on train  tokens shown on train" in shown
    assert runs_command(["redact", "tuned", "--yes", *runs]) == 0
    assert read_run(folder).summary == record.summary


def test_what_a_search_found_is_told_from_what_it_was_rolled_back_to(run, tmp_path):
    run("--budget", "40")
    record = read_run(tmp_path / "tuned")
    summary = {**record.summary, "best_policy": seed_policy("none").id}  # it knows of that, too
    first, *_, last = overview(replace(record, rollbacks=(record.seed.id,), summary=summary))
    said = dict(first.rows)
    of_found = {"evidence recall gained by what the run found", "limit, of what the run found"}
    assert of_found <= said.keys()
    assert [row[0] for row in last.rows] == ["seed", "found"]


def test_two_searches_are_compared_by_what_they_find(run, tmp_path, capsys):
    run("--budget", "40")
    run("--budget", "40", "--max-answer-tokens", "20", name="small")
    run("--budget", "40", "--seed", "3", name="others")
    evidence = read_run(tmp_path / "tuned").summary["evidence"]
    sides = ("tuned:seed", "small")
    assert runs_command(["diff", *sides, "--runs", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evidence"][0] == evidence["seed"]
    assert runs_command(["diff", *sides, "--runs", str(tmp_path)]) == 0
    rows = capsys.readouterr().out.partition("\nTest dialogues\n")[2].splitlines()
    assert rows[0].split("  ")[-3:] == ["evidence recall", "evidence precision", "tokens shown"]
    assert f"{evidence['seed']['recall']:.3f}" in rows[1].split()
    assert [row.split()[0] for row in rows[1:3]] == list(sides)
    assert runs_command(["diff", "tuned", "others", "--runs", str(tmp_path)]) == 0
    assert "\nTest dialogues (not the same ones: " in capsys.readouterr().out


def test_a_limit_of_tokens_is_kept(run, tmp_path):
    assert run("--budget", "40", "--max-answer-tokens", "20")[0] == 0
    summary = json.loads((tmp_path / "tuned" / "summary.json").read_text())
    assert summary["limit"] == 20
    if summary["best_policy"] != summary["seed_policy"]:
        assert summary["evidence"]["best"]["tokens"] < 40


def test_a_dry_run_pays_nothing(run, tmp_path):
    status, out, _ = run("--budget", "40", "--dry-run")
    assert status == 0
    assert "no model is called" in out
    assert not (tmp_path / "tuned").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--budget", "9"), "give 16 or more"),
        (("--budget", "40,10min"), "takes a budget in rollouts"),
        (("--budget", "40", "--policy", "awe"), "--policy awe is awe"),
        (("--budget", "40", "--strategy", "random"), "--strategy says how"),
        (("--budget", "40", "--later-rounds", "3"), "--later-rounds says how"),
    ],
)
def test_mistakes_are_one_sentence(run, options, told, tmp_path):
    status, _, err = run(*options)
    assert status == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert told in err
    assert not (tmp_path / "tuned").exists()


def test_too_few_dialogues_are_refused(write, tmp_path, capsys):
    env = write([dialogue("one"), dialogue("two")])
    assert main(["--env", str(env), "--budget", "40", "--runs", str(tmp_path), "--name", "x"]) == 2
    assert "3 at least, but the file has 2" in capsys.readouterr().err


def test_what_reads_runs_reads_such_a_run(run, tmp_path, capsys):
    from evolve.exporting.origin import find_origin
    from evolve.report import main as report
    from evolve.results.run_record import read_run

    run("--budget", "40", "--max-answer-tokens", "50")
    folder, page = tmp_path / "tuned", tmp_path / "page.html"
    assert report([str(folder), "--open", "no", "-o", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    for told in (
        "searched by the evidence",
        "no model was asked",
        "Pareto front",
        "over the limit",
    ):
        assert told in html
    for told in ("joint", "stand-in", "rewrite_model", "accuracy on gate users"):
        assert told not in html.partition("<body>")[2]
    record = read_run(folder)
    assert runs_command(["list", "--runs", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert "search of settings by evidence" in listed
    assert "offline" not in listed
    assert record.best.id == read_policy(folder / "best.yaml").id
    if record.best.id != record.seed.id:
        assert "tuned to no model" in find_origin(record.best, folder).sentence


def test_from_python_it_is_the_same_search(env, tmp_path):
    from evolve.api import run as run_here

    done = run_here(budget=40, env=str(env), policy="rag", folder=tmp_path / "here")
    assert done.summary["trials"] == 14
