"""Whole runs on real clusters and with PostgreSQL: the same as in threads, byte for byte."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from benchmarks.openai_server import OpenAIServer
from evolve.gym.sample import make_users
from evolve.journal import FILE

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore")]

ROOT = Path(__file__).parents[2]
PATIENCE = 600  # seconds after which a run hangs, however busy the machine
TOLD_APART = {"run.log", "calls.jsonl", "summary.json"}  # by times, and by what was paid twice
KEY = "sk-elsewhere-3f9a1c7e5b2d"


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    reason = f"{', '.join(missing)} is not installed: make test-extras installs it"
    return pytest.mark.skipif(bool(missing), reason=reason)


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    users = make_users(3, 12)
    for user in users:
        user |= {"periods": user["periods"][:3], "qas": user["qas"][:4]}
    path = tmp_path_factory.mktemp("env") / "env.json"
    path.write_text(json.dumps(users))
    return path


@pytest.fixture(scope="module")
def start(env, tmp_path_factory):
    """Starts a run and tells its folder."""
    started = []

    def begin(*options):
        runs = tmp_path_factory.mktemp("runs")
        given = {"--budget": "60", "--env": env, "--runs": runs, "--name": "a"}
        words = [str(word) for pair in given.items() for word in pair]
        process = subprocess.Popen(
            [sys.executable, "-m", "evolve.loop", *words, *map(str, options)],
            cwd=ROOT,
            env={**os.environ, "OPENAI_API_KEY": KEY, "RAY_USAGE_STATS_ENABLED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process, runs / "a"

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def ended(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err[-3000:]
    return out, err


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in TOLD_APART
    }


@pytest.fixture(scope="module")
def in_threads(start):
    process, folder = start("--backend", "threads")
    ended(process)
    return files(folder)


@pytest.fixture(scope="module")
def dask():
    """A cluster of two workers."""
    from distributed import LocalCluster

    before = os.environ.get("OPENAI_API_KEY")
    os.environ["OPENAI_API_KEY"] = KEY  # workers have keys of their own
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster
    os.environ.pop("OPENAI_API_KEY")
    if before is not None:
        os.environ["OPENAI_API_KEY"] = before


def wait_for_rollouts(process, folder, count=3):
    """Until so many rollouts are in the journal."""
    until = time.monotonic() + PATIENCE
    journal = folder / FILE
    while not journal.exists() or journal.read_text().count('"rollout"') < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.05)


@needs("distributed")
class TestDask:
    def test_a_run_is_the_same_as_in_threads(self, dask, start, in_threads):
        process, folder = start("--backend", "dask", "--scheduler", dask.scheduler_address)
        assert ended(process)[1] == ""
        assert files(folder) == in_threads

    def test_a_worker_that_dies_loses_only_its_rollout(self, dask, start, in_threads):
        process, folder = start("--backend", "dask", "--scheduler", dask.scheduler_address)
        wait_for_rollouts(process, folder)
        os.kill(dask.workers[0].pid, signal.SIGKILL)
        ended(process)
        assert files(folder) == in_threads

    def test_workers_of_python_3_11_cannot_stop_for_good(self, dask):
        from distributed import Client

        with Client(dask.scheduler_address) as client:  # one of them took the place of a dead one
            client.wait_for_workers(2)
            profiled = client.run(lambda dask_worker: "profile" in dask_worker.periodic_callbacks)
        assert list(profiled.values()) == [sys.version_info[:2] != (3, 11)] * 2

    def test_no_scheduler(self, start):
        process, folder = start("--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "--scheduler must be the address of a Dask scheduler" in err.splitlines()[-1]
        assert not folder.exists()


@needs("ray", "psutil")
class TestRay:
    def test_a_run_is_the_same_as_in_threads_though_a_worker_dies(self, start, in_threads):
        import psutil

        process, folder = start("--backend", "ray", "--address", "local")
        wait_for_rollouts(process, folder)
        working = []
        while not working:  # at most one is between two rollouts, and soon at the next
            assert process.poll() is None
            with suppress(psutil.Error):  # one has just ended
                children = psutil.Process(process.pid).children(recursive=True)
                working = [child for child in children if child.name().startswith("ray::_do")]
        working[0].kill()
        assert ended(process)[1] == ""
        assert files(folder) == in_threads


@pytest.fixture(scope="module")
def server():
    with OpenAIServer(latency=0.01, key=KEY) as server:
        yield server


@pytest.fixture(scope="module")
def model(server):
    return (
        *("--model", "openai/x", "--api-base", server.base_url, "--price", "0.4,1.6"),
        *("--first-rounds", "1", "--later-rounds", "1"),
    )


@pytest.fixture(scope="module")
def model_in_threads(start, model):
    process, folder = start(*model)
    ended(process)
    return folder


def paid(folder):
    return json.loads((folder / "summary.json").read_text())["paid"]


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("loky"),
        pytest.param("dask", marks=needs("distributed")),
        pytest.param("ray", marks=needs("ray")),
    ],
)
def test_a_real_model_elsewhere_and_all_that_was_paid(
    backend, start, model, model_in_threads, request
):
    options = {"loky": ("--jobs", "2"), "ray": ("--address", "local")}.get(backend)
    if options is None:
        options = "--scheduler", request.getfixturevalue("dask").scheduler_address
    process, folder = start(*model, "--backend", backend, *options)
    ended(process)
    assert files(folder) == files(model_in_threads)
    here, there = paid(model_in_threads), paid(folder)
    assert here.keys() == there.keys()
    for role, spend in there.items():
        asked = spend["calls"] + spend["cached"]
        assert asked == here[role]["calls"] + here[role]["cached"]
        assert spend["calls"] >= here[role]["calls"]
    lines = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert len(lines) == sum(spend["calls"] for spend in there.values())
    assert sum(line["dollars"] for line in lines) == pytest.approx(
        sum(spend["dollars"] for spend in there.values())
    )
    for path in folder.rglob("*"):
        assert not path.is_file() or KEY not in path.read_text()


def programs():
    """The folder of PostgreSQL's programs, which Debian does not put on the path."""
    on_path = shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


@contextmanager
def database(folder, port):
    """A server that listens on loopback, run by the user postgres where this one is root."""
    place = programs()
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres", "postgres")

    def run(program, *words):
        command = [*user, place / program, "-D", folder / "data", *words]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)

    run("initdb", "-U", "mnemotune", "-A", "trust", "--no-sync")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    run("pg_ctl", "start", "-w", "-l", folder / "log", "-o", options)
    try:
        yield f"postgresql://mnemotune:secret@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "stop", "-m", "immediate")


@pytest.fixture
def postgres():
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        pytest.skip("PostgreSQL must not be run by root, and there is no runuser")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="mnemotune-"))
    try:
        with database(folder, port) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@needs("psycopg")
def test_runs_mirror_their_search_to_postgresql(postgres, start, in_threads):
    import optuna

    first, folder = start("--storage", postgres)
    second, _ = start("--storage", postgres, "--seed", "2", "--name", "b")
    assert [ended(process)[1] for process in (first, second)] == ["", ""]
    assert files(folder) == in_threads
    told = set()
    for line in (folder / FILE).read_text().splitlines():
        event = json.loads(line)
        data = event["data"]
        searched = event["kind"] == "verdict" and "search" in data["operator"].split("+")[-1]
        if searched and None not in (data["minibatch_difference"], data["tokens_per_answer"]):
            told.add(data["candidate"])
    storage = optuna.storages.RDBStorage(postgres)
    names = {study.study_name for study in optuna.get_all_study_summaries(storage)}
    study = optuna.load_study(study_name="a", storage=storage)
    assert names == {"a", "b"}
    assert {trial.user_attrs["candidate"] for trial in study.trials} == told
    assert told
    storage.engine.dispose()


@needs("psycopg")
def test_a_database_that_is_down_costs_one_line(start, in_threads):
    process, folder = start("--storage", "postgresql://me:secret@127.0.0.1:9/none")
    out, err = ended(process)
    assert files(folder) == in_threads
    (line,) = [line for line in out.splitlines() if line.startswith("warning: ")]
    assert "postgresql://me:***@127.0.0.1:9/none" in line
    assert "secret" not in out + err
