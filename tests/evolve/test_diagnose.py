"""The command that diagnoses a published run."""

import json
import subprocess
import sys

import pytest

from evolve.cli import run_command
from evolve.diagnose import main
from tests.clock import cpu_of_children


@pytest.fixture
def options(tiny_run):
    return [
        *("--reference-run", str(tiny_run / "runs" / "published")),
        *("--env", str(tiny_run / "env.json")),
        *("--upper-bounds", str(tiny_run / "runs")),
    ]


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        ("awi", ["all 530 166 64 179 133 52 0 0", "all 0.31321 0.21212 0.90566 0.1458"]),
        ("native", ["all 530 175 61 156 129 70 0 10", "all 0.33019 0.21212 0.90566 0.1702"]),
    ],
)
def test_published_runs(shared_data, capsys, run, lines):
    folder = shared_data / "amemgym-v1"
    status = main(
        [
            *("--reference-run", str(folder / "runs" / run)),
            *("--env", str(folder / "data.json")),
            *("--upper-bounds", str(folder / "runs")),
        ]
    )
    assert status == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        assert line in printed
    assert sum(line.endswith(" yes") for line in printed) == 3


def test_a_run_without_faults(options, capsys):
    assert main(options) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "all 12 12 0 0 0 0 0 0" in printed
    assert "all 1.00000 0.41667 1.00000 1.0000" in printed
    assert "ann yes" in printed


def test_counts_that_are_not_reproduced_are_status_1(options, tiny_run, edit, capsys):
    ann, bob = (tiny_run / "runs" / "published" / user for user in ("ann", "bob"))
    edit(ann / "diagnosis_metrics.json", "read_failure.1.0", 1)
    (bob / "diagnosis_metrics.json").unlink()
    assert main(options) == 1
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "ann NO" in printed
    assert "bob no such file" in printed


def test_memory_score_is_undefined_where_the_bound_is_no_higher(options, tiny_run, edit, capsys):
    for user in ("ann", "bob"):
        for question in (0, 1):
            path = tiny_run / "runs" / f"upperbound_{user}.json"
            edit(path, f"{question}.0.json_error", True)  # the choice that is right at period 0
    assert main(options) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "0 4 1.00000 0.41667 0.00000 undefined" in printed
    assert "1 4 1.00000 0.41667 1.00000 1.0000" in printed
    assert main(options[:4]) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "all 1.00000 0.41667 - -" in printed


def test_json(options, capsys):
    assert main([*options, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["all"]["counts"]["right"] == report["all"]["n"] == 12
    assert report["users"]["bob"]["memory"] == 1.0
    assert len(report["periods"]) == 3
    assert report["reproduced"] == {"ann": True, "bob": True}


def test_what_the_environment_exposes_does_not_start_a_trace(options, tiny_run, edit, capsys):
    env = tiny_run / "env.json"
    for user in (0, 1):
        for period in range(3):
            edit(env, f"{user}.periods.{period}.sessions.1.exposed_states", {})
    answers = tiny_run / "runs" / "published" / "ann" / "overall_results.json"
    edit(answers, "0.0.response_state", ["coffee", "cat"])
    assert main([*options, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["all"]["counts"]["utilization"] == 1
    assert report["all"]["traced"] == 0


def test_mistakes_are_one_line(options, tiny_run, capsys):
    (tiny_run / "env.json").write_text("[")
    assert run_command(lambda: main(options)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "env.json is not JSON" in err


def test_help_is_fast():
    command = [sys.executable, "-m", "evolve.diagnose", "--help"]
    before = cpu_of_children()
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert cpu_of_children() - before < 0.5  # 0.1 when measured; LiteLLM takes seconds
    assert "--upper-bounds" in process.stdout
    assert process.stderr == ""
