"""A config file holds any long option; what it holds wrongly is told in one sentence."""

import pytest

from evolve import policy_run
from evolve.arguments import RUN_ARGUMENTS
from evolve.config import Options
from evolve.config_file import read_config
from evolve.loop import main
from evolve.means import Means
from evolve.roles import Models
from policies.errors import ConfigError


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "run.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_names_have_dashes_or_underscores_and_values_their_kinds(file):
    path = file(
        "budget: 300\nuser-model: openai/b\nrewrite_model: offline\nprice: [0.4, 1.6]\n"
        "timeout: 60\nyes: true\ndry-run: false\nname: 2024\n"
    )
    assert read_config(path, RUN_ARGUMENTS) == {
        "budget": "300",
        "user_model": "openai/b",
        "rewrite_model": "offline",
        "price": "0.4,1.6",
        "timeout": 60.0,
        "yes": True,
        "name": "2024",
    }
    assert read_config(file("# nothing\n"), RUN_ARGUMENTS) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bugdet: 3", "has 'bugdet'; name one of address, agent, api-base"),
        ("config: x.yaml", "has 'config'; name one of"),
        ("user-model: a/b\nuser_model: a/c", "has 'user_model' twice"),
        ("seed: three", "seed must be a whole number, but .* has 'three'"),
        ("seed: 1.5", "seed must be a whole number"),
        ("seed: true", "seed must be a whole number"),
        ("timeout: [1]", "timeout must be a number"),
        ("yes: 1", "yes must be true or false"),
        ("env: null", "env must be text"),
        ("seed: 1\n  x: [", "is none .*line 2.*; mend it"),
        (b"\xff\xfe\xfa", "is none"),
        ("- seed", "holds list; write it so"),
        ("just text", "holds str; write it so"),
    ],
)
def test_what_it_may_not_hold(file, text, reason):
    with pytest.raises(ConfigError, match=reason) as error:
        read_config(file(text), RUN_ARGUMENTS)
    assert "\n" not in str(error.value)


def test_the_command_line_wins(file, monkeypatch, tmp_path, capsys):
    asked = []
    monkeypatch.setattr(policy_run, "policy_run", lambda *given, **_: asked.append(given))
    path = file("budget: 60\nseed: 3\nconcurrency: 4\njobs: 1\nruns: elsewhere\nname: here\n")
    assert main(["--config", path, "--seed", "5"]) == 0
    ((options, folder, means, _),) = asked
    assert (options, means) == (Options(60, seed=5), Means(1, 4))
    assert str(folder) == "elsewhere/here"
    assert main(["--config", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml cannot be read (No such file or directory)" in capsys.readouterr().err


def test_models_in_a_file_are_those_of_the_run(file):
    found = read_config(file("model: openai/a\nbudget: $5\n"), RUN_ARGUMENTS)
    assert Options(found["budget"], models=Models(found["model"])).units == {"dollars": 5.0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("timeout: " + "9" * 400, "timeout must be a number, but .* has 9999.*mend its value"),
        ("name: 0x" + "f" * 5000, "name must be text, but .* has a number that is too long"),
        ("budget: " + "9" * 5000, "is none .Exceeds the limit .*; mend it"),
        ("price: [0x" + "f" * 5000 + ", 1]", "price must be text"),
        ("name: 2026-02-30", "is none .day is out of range"),
        ('runs: "a\\0b"', "runs must be text that can be written"),
        ('cache: "a\\0b"', "cache must be text that can be written"),
        ("name: a\x07", "is none .special characters are not allowed"),
        ("[" * 100_000, "is none .it is nested too deeply"),
        (b"a: \xff", "is none .it is not text in UTF-8"),
        ("budget: &a [*a]", "budget must be text"),
        ("x" * 900 + ": 1", "has 'xxx.*; name one of"),
    ],
    ids=lambda given: repr(given)[:12],
)
def test_the_true_reason_is_told_briefly(file, text, reason):
    with pytest.raises(ConfigError, match=reason) as error:
        read_config(file(text), RUN_ARGUMENTS)
    assert len(str(error.value)) < 700


@pytest.mark.parametrize("option", ["budget", "price"])
def test_anchors_that_multiply_are_not_written_out(file, option):
    rows = [f" - &x{n} [{', '.join([f'*x{n - 1}'] * 10) if n else 'lol'}]" for n in range(12)]
    with pytest.raises(ConfigError, match=f"{option} must be text") as error:
        read_config(file("\n".join([f"{option}:", *rows])), RUN_ARGUMENTS)
    assert len(str(error.value)) < 1000
