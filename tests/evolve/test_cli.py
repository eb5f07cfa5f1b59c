"""What every command does around its work."""

import os
import subprocess
import sys

import pytest

from evolve.cli import CommandParser, limit_threads, run_command
from policies.errors import ConfigError


def raising(error):
    def main():
        raise error

    return main


def test_the_status_passes(capsys):
    assert run_command(lambda: 3) == 3
    assert capsys.readouterr() == ("", "")


def test_a_mistake_of_the_user_is_one_line_and_status_2(capsys):
    assert run_command(raising(ConfigError("Two\n  lines."))) == 2
    assert capsys.readouterr() == ("", "error: Two lines.\n")


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_everything_else_passes(error):
    with pytest.raises(error):
        run_command(raising(error))


def test_ctrl_c_is_one_line(capsys):
    assert run_command(raising(KeyboardInterrupt)) == 130
    assert capsys.readouterr() == ("", "stopped; nothing was kept\n")


def test_a_mistake_in_the_arguments_is_one_line(capsys):
    parser = CommandParser(prog="python -m it")
    parser.add_argument("--users", type=int)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--users", "some"])
    assert ended.value.code == 2
    said = "error: argument --users: invalid int value: 'some'; see python -m it --help\n"
    assert capsys.readouterr() == ("", said)


def test_a_closed_pipe_ends_quietly():
    program = (
        "import sys\n"
        "from evolve.cli import run_command\n"
        "def main():\n"
        "    for _ in range(100_000): print('line')\n"
        "    return 0\n"
        "sys.exit(run_command(main))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout.readline() == "line\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_threads_are_limited_unless_the_user_said_otherwise(monkeypatch):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    limit_threads()
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    assert [os.environ[name] for name in names] == ["1", "3", "1"]
