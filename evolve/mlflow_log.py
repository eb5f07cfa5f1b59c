"""A run in MLflow, told at its end: options as parameters, metrics by generation, policy files.

Nothing is told while a run goes on, so MLflow changes nothing of what it finds. What users said is
not told at all: no feedback and no transcripts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolve.journal import FILE, read_header
from evolve.results.run_record import RunRecord, diagnoses, read_run
from feedback.scores import score
from policies.errors import ConfigError

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXPERIMENT = "mnemotune"
RUN_TAG, WHOLE_TAG = "mnemotune.run", "mnemotune.whole"  # which run it is; set once all is told
_METRICS, _PARAMETERS = 1000, 100  # that MLflow takes in one request
_STAGES = ("accuracy", "write", "read", "utilization", "format", "memory")
_SPENT = ("calls", "cached", "prompt_tokens", "completion_tokens", "dollars")
_ARTIFACTS = ("*.yaml", "policies/*.yaml", "candidates/*.yaml", "summary.json")
# Folders as stores are off by default; a server that does not answer is to be told at once.
_SETTINGS = {
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
}
Point = tuple[str, float, int]
"""Name of a metric, its value, and its step: generation, in scope ``user`` period, 0 at the end."""


def check_store(uri: str) -> None:
    """Ask a store whether it is there, before anything is spent.

    Args:
        uri: A folder, or the URI of a database or a server. It may hold a password.

    Raises:
        ConfigError: MLflow is not installed, or the store cannot be used.
    """
    with _store(uri) as client:
        client.search_experiments(max_results=1)


def log_run(folder: Path, uri: str) -> str:
    """Tell a store of a run that has ended; once, however often it is resumed.

    Args:
        folder: Of the run.
        uri: As of ``check_store``.

    Returns:
        What to say of it.

    Raises:
        ConfigError: As ``check_store``: the run itself is whole, and resuming it tries again.
        UserError: The run cannot be read.
    """
    record, digest = read_run(folder), _digest(folder)
    points = list(metrics(record))
    with _store(uri) as client:
        found = client.get_experiment_by_name(EXPERIMENT)
        place = client.create_experiment(EXPERIMENT) if found is None else found.experiment_id
        for earlier in client.search_runs([place], f"tags.`{RUN_TAG}` = '{digest}'"):
            if WHOLE_TAG in earlier.data.tags:
                return f"MLflow has this run already, as {earlier.info.run_id}"
            client.delete_run(earlier.info.run_id)  # what a kill left
        run = client.create_run(place, run_name=record.name, tags={RUN_TAG: digest}).info.run_id
        _log(client, run, record, points)
        client.set_tag(run, WHOLE_TAG, "true")
        client.set_terminated(run)
    return f"MLflow has this run as {run} in the experiment {EXPERIMENT}"


def _log(client: MlflowClient, run: str, record: RunRecord, points: Sequence[Point]) -> None:
    from mlflow.entities import Metric, Param

    when = int((record.folder / FILE).stat().st_mtime * 1000)
    told = [Metric(name, value, when, step) for name, value, step in points]
    for first in range(0, len(told), _METRICS):
        client.log_batch(run, metrics=told[first : first + _METRICS])
    options = [Param(name, str(value)) for name, value in record.options.items()]
    options += [Param("seed_policy", record.seed.id), Param("best_policy", record.best.id)]
    for first in range(0, len(options), _PARAMETERS):
        client.log_batch(run, params=options[first : first + _PARAMETERS])
    for pattern in _ARTIFACTS:
        for path in sorted(record.folder.glob(pattern)):
            inside = path.parent.relative_to(record.folder).as_posix()
            client.log_artifact(run, str(path), None if inside == "." else inside)


def metrics(record: RunRecord) -> Iterator[Point]:
    """All that is told in numbers; what is undefined is left out."""
    yield from _by_generation(record)
    summary = record.summary or {}
    for period, sides in summary.get("periods", {}).items():
        step = int(period) if period.isdecimal() else None
        for side, rates in sides.items():
            name = side if step is not None else f"{side}/{period.replace(' ', '_')}"
            yield from _numbers(name, rates, _STAGES, step or 0)
    for policy, scores in summary.get("test", {}).items():
        yield from _numbers(f"test/{policy}", scores, (*_STAGES, "tokens_per_answer"))
    yield from _numbers("gain", summary.get("gain") or {}, ("memory", "low", "high"))
    yield from _numbers("", summary, ("spent", "rollouts", "gate_gain", "shrinkage"))
    for kind in ("usage", "paid"):
        for role, spent in summary.get(kind, {}).items():
            yield from _numbers(f"{kind}/{role}", spent, _SPENT)


def _by_generation(record: RunRecord) -> Iterator[Point]:
    """What became of each generation's candidates, and how its last version does on train users."""
    versions, told = 0, None
    for generation in sorted({one.generation for one in record.candidates}):
        here = [one for one in record.candidates if one.generation == generation]
        accepted = [one.policy for one in here if one.verdict.accepted]
        gained = [one.verdict.minibatch_difference for one in here]
        versions += len(accepted)
        yield "candidates", float(len(here)), generation
        yield "versions", float(versions), generation
        known = [difference for difference in gained if difference is not None]
        if known:
            yield "minibatch_difference", max(known), generation
        policy = accepted[-1] if accepted else told or record.seed
        if policy != told and record.users is not None:
            learned = score(diagnoses(record, policy.id, "train"))
            rates = {name: getattr(learned, name) for name in _STAGES}
            yield from _numbers("train", rates, _STAGES, generation)
        told = policy


def _numbers(
    group: str, values: Mapping[str, Any], names: tuple[str, ...], step: int = 0
) -> Iterator[Point]:
    for name in names:
        value = values.get(name)
        if value is not None:
            yield f"{group}/{name}" if group else name, float(value), step


def _digest(folder: Path) -> str:
    """What two runs share only if they are one."""
    header = json.dumps(read_header(folder), sort_keys=True)
    return hashlib.sha256(header.encode()).hexdigest()[:16]


@contextmanager
def _store(uri: str) -> Iterator[MlflowClient]:
    """A client of the store, whose errors are told in one sentence."""
    if not uri.strip():
        raise ConfigError(
            "--mlflow must be a folder or the URI of a store, such as mlruns or "
            f"http://127.0.0.1:5000, but is {uri!r}; name one."
        )
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        from mlflow import MlflowClient
    except ImportError as error:
        raise ConfigError(
            f"--mlflow needs MLflow, but {error}; install it with make extras, in the "
            "project's folder, or leave the option out."
        ) from error
    try:
        yield MlflowClient(tracking_uri=_as_uri(uri))
    except (OSError, ValueError, _mlflow_error()) as error:
        # Neither the URI nor the error's own words, which may show a password.
        raise ConfigError(
            f"--mlflow must name a store that answers, but it does not ({type(error).__name__}); "
            "check its address and that its server runs; of a run that has ended nothing is lost: "
            "--resume with --mlflow tells of it."
        ) from None


def _mlflow_error() -> type[Exception]:
    from mlflow.exceptions import MlflowException

    error: type[Exception] = MlflowException  # without the package it has no type
    return error


def _as_uri(uri: str) -> str:
    """A folder's path as a URI, so that nothing is taken for a default."""
    return uri if "://" in uri or uri.startswith("file:") else Path(uri).resolve().as_uri()
