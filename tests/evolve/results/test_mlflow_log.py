"""What MLflow is told of a run, in a store of its own; and what is refused before a run begins."""

import sys

import pytest

from evolve.config import Options
from evolve.means import Means
from evolve.mlflow_log import check_store, log_run, metrics
from evolve.prepare import prepare
from evolve.results.run_record import diagnoses, read_run
from feedback.scores import score
from policies.errors import ConfigError


def test_numbers_by_generation_and_of_the_end(run):
    record = read_run(run)
    told = {(name, step): value for name, value, step in metrics(record)}
    tested = record.summary["test"]["best"]
    assert told["test/best/memory", 0] == tested["memory"]
    assert told["gain/low", 0] == record.summary["gain"]["low"]
    assert told["usage/reply/calls", 0] == record.summary["usage"]["reply"]["calls"]
    assert (told["candidates", 1], told["versions", 1], told["versions", 2]) == (1.0, 1.0, 2.0)
    learned = score(diagnoses(record, record.versions[1].id, "train"))
    assert told["train/accuracy", 1] == learned.accuracy
    assert ("test/none/write", 0) not in told


def test_scope_user_is_told_by_period(lives):
    told = {(name, step): value for name, value, step in metrics(read_run(lives))}
    periods = read_run(lives).summary["periods"]
    assert told["learned/accuracy", 2] == periods["2"]["learned"]["accuracy"]
    assert told["fixed/all/accuracy", 0] == periods["all"]["fixed"]["accuracy"]


@pytest.mark.extra
def test_a_store_in_a_folder_has_it_once(run, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    store = tmp_path / "a store"
    said = log_run(run, str(store))
    client = mlflow.MlflowClient(tracking_uri=store.as_uri())
    place = client.get_experiment_by_name("mnemotune").experiment_id
    assert log_run(run, store.as_uri()).startswith("MLflow has this run already")
    (kept,) = client.search_runs([place])
    assert kept.info.run_id in said
    record = read_run(run)
    assert (kept.info.run_name, kept.info.status) == ("mine", "FINISHED")
    assert kept.data.params["strategy"] == "self-evolution"
    assert kept.data.params["best_policy"] == record.best.id
    assert kept.data.metrics["test/best/memory"] == record.summary["test"]["best"]["memory"]
    history = client.get_metric_history(kept.info.run_id, "versions")
    assert [point.value for point in history if point.step in {1, 2}] == [1.0, 2.0]
    kept_files = {one.path for one in client.list_artifacts(kept.info.run_id)}
    assert {"best.yaml", "seed.yaml", "policies", "candidates", "summary.json"} <= kept_files
    assert not {"journal.jsonl", "feedback", "run.log"} & kept_files
    versions = client.list_artifacts(kept.info.run_id, "policies")
    assert len(versions) == len(record.versions) - 1


@pytest.mark.extra
def test_what_a_kill_left_is_told_anew(run, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    log_run(run, str(tmp_path / "store"))
    client = mlflow.MlflowClient(tracking_uri=(tmp_path / "store").as_uri())
    place = client.get_experiment_by_name("mnemotune").experiment_id
    (torn,) = client.search_runs([place])
    client.delete_tag(torn.info.run_id, "mnemotune.whole")
    log_run(run, str(tmp_path / "store"))
    (kept,) = client.search_runs([place])
    assert kept.info.run_id != torn.info.run_id


@pytest.mark.extra
@pytest.mark.parametrize(
    "uri", ["", " ", "http://secret@127.0.0.1:9", "nonsense://x", "/proc/none", "http://["]
)
def test_no_store_costs_nothing_and_shows_no_password(uri, run, made):
    pytest.importorskip("mlflow", reason="mlflow is not installed")
    options = Options(39, env=str(made / "env.json"), policy="awi")
    with pytest.raises(ConfigError, match="--mlflow must") as refused:
        prepare(options, Means(mlflow=uri))
    assert "secret" not in str(refused.value)


def test_without_mlflow_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ConfigError, match="install it with make extras"):
        check_store("mlruns")


def test_a_store_is_no_part_of_what_is_shown_of_means():
    assert "secret" not in repr(Means(mlflow="http://ann:secret@host"))
