"""From names of models to specs, keys and workers."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from evolve import dask_ray
from evolve.away import AwayWorkers
from evolve.clusters import ClusterWorkers
from evolve.config import Options
from evolve.connecting import (
    Site,
    connected,
    find_site,
    make_cast,
    make_workers,
    world_spec,
)
from evolve.lm import prices
from evolve.lm.models import ModelSpec
from evolve.means import Means
from evolve.roles import Models
from evolve.workers import HereWorkers, ProcessWorkers, ThreadWorkers
from policies.errors import ConfigError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def test_an_address_is_that_of_one_provider():
    models = Models("openai/a", "openai/b", "anthropic/c", "http://here/v1")
    cast = make_cast(models, 60.0)
    assert cast.model == ModelSpec("openai/a", "http://here/v1", 60.0)
    assert cast.user == ModelSpec("openai/b", "http://here/v1", 60.0)
    assert cast.rewrite == ModelSpec("anthropic/c", None, 60.0)
    assert [cast.of(role) for role in ("reply", "bound", "user", "rewrite")] == [
        *(cast.model, cast.model, cast.user, cast.rewrite),
    ]
    assert make_cast(Models(rewrite_model="o/x"), 60.0).model == ModelSpec("offline")


def test_a_price_is_that_of_the_only_model_or_of_those_with_none(monkeypatch):
    known = {"openai/a": prices.Price(1, 1, 1)}
    monkeypatch.setattr(prices, "price_of", lambda spec: known.get(spec.name))
    alone = make_cast(Models("openai/a", price=(1, 2)), 60.0)
    assert alone.model.price == (1, 2)
    several = make_cast(Models("openai/a", "openai/b", "offline", price=(1, 2)), 60.0)
    assert (several.model.price, several.user.price) == (None, (1, 2))
    assert several.rewrite == ModelSpec("offline")
    known["openai/b"] = known["openai/a"]
    with pytest.raises(ConfigError, match="but all of openai/a, openai/b have one; leave it out"):
        make_cast(Models("openai/a", "openai/b", price=(1, 2)), 60.0)


def test_keys_are_read_for_real_models_and_override_nothing(here, monkeypatch):
    (here / ".env").write_text("MNEMOTUNE_ONE=from-file\nMNEMOTUNE_TWO=from-file\n")
    monkeypatch.setenv("MNEMOTUNE_ONE", "from-outside")
    monkeypatch.delenv("MNEMOTUNE_TWO", raising=False)
    make_cast(Models(), 60.0)
    assert "MNEMOTUNE_TWO" not in os.environ
    monkeypatch.setenv("MNEMOTUNE_TWO", "")  # so that it is taken away again
    del os.environ["MNEMOTUNE_TWO"]
    make_cast(Models("openai/a"), 60.0)
    assert os.environ["MNEMOTUNE_ONE"] == "from-outside"
    assert os.environ["MNEMOTUNE_TWO"] == "from-file"


def test_keys_that_cannot_be_read(here):
    (here / ".env").write_bytes(b"KEY=\xff\xfe")
    with pytest.raises(ConfigError, match=r"a file \.env in the current folder, but it cannot be"):
        make_cast(Models("openai/a"), 60.0)


@pytest.mark.parametrize(
    ("models", "jobs", "kind"),
    [
        (Models(), 1, HereWorkers),
        (Models(), 2, ProcessWorkers),
        (Models("openai/a"), 2, ThreadWorkers),
        (Models(user_model="openai/a"), 1, ThreadWorkers),
        (Models(rewrite_model="openai/a"), 2, ProcessWorkers),
    ],
)
def test_threads_wait_for_models_and_processes_compute(models, jobs, kind):
    spec = world_spec(Options(60, models=models), make_cast(models, 60.0))
    with ExitStack() as stack:
        assert type(make_workers(stack, spec, Site(Means(jobs)), None)) is kind


@pytest.mark.parametrize(
    ("models", "means", "kind"),
    [
        (Models(), Means(4, backend="threads"), ThreadWorkers),
        (Models(), Means(4, backend="loky"), ProcessWorkers),
        (Models("openai/a"), Means(4, backend="loky"), AwayWorkers),
        (Models("openai/a"), Means(4, 1, backend="loky"), HereWorkers),
    ],
)
def test_a_backend_that_is_named(models, means, kind):
    spec = world_spec(Options(60, models=models), make_cast(models, 60.0))
    with ExitStack() as stack:
        assert type(make_workers(stack, spec, find_site(stack, means), None)) is kind


def test_a_cluster_is_reached_and_left(monkeypatch):
    closed = []

    class Cluster:
        def __init__(self, address):
            self.address = address

        def close(self):
            closed.append(self.address)

    monkeypatch.setattr(dask_ray, "DaskCluster", Cluster)
    monkeypatch.setattr(dask_ray, "RayCluster", Cluster)
    spec = world_spec(Options(60), make_cast(Models(), 60.0))
    for means in (Means(backend="dask", scheduler="a"), Means(backend="ray", address="b")):
        with ExitStack() as stack:
            workers = make_workers(stack, spec, find_site(stack, means), None)
            assert type(workers) is ClusterWorkers
    assert closed == ["a", "b"]


def test_calls_are_logged_where_a_model_is_real(here):
    with connected(Models(), Means(), Path("run")) as connection:
        assert connection is None
    (here / "run").mkdir()
    with connected(Models("openai/a"), Means(cache=Path("shared")), Path("run")) as connection:
        assert connection is not None
        assert connection.log.spent() == {}
    assert (here / "run" / "calls.jsonl").exists()


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/a", "OPENAI_BASE_URL"),
        ("openai/a", "OPENAI_API_BASE"),
        ("anthropic/a", "ANTHROPIC_BASE_URL"),
        ("hosted_vllm/a", "HOSTED_VLLM_API_BASE"),
        ("vertex_ai/a", "VERTEXAI_API_BASE"),
        ("watsonx/a", "WATSONX_URL"),
    ],
)
def test_an_address_of_the_environment_is_known_to_the_client(monkeypatch, model, variable):
    monkeypatch.setenv(variable, "http://here/v1")
    assert make_cast(Models(model), 60.0).model.api_base == "http://here/v1"
    assert make_cast(Models(model, api_base="http://there"), 60.0).model.api_base == "http://there"
    both = make_cast(Models("groq/b", model, api_base="http://there"), 60.0)
    assert (both.model.api_base, both.user.api_base) == ("http://there", "http://here/v1")
    assert make_cast(Models(), 60.0).model.api_base is None


def test_an_address_in_the_file_of_keys_is_known_too(here, monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "")  # so that it is taken away again
    monkeypatch.delenv("OPENAI_API_BASE")
    (here / ".env").write_text("OPENAI_API_BASE=http://here/v1\n")
    assert make_cast(Models("openai/a"), 60.0).model.api_base == "http://here/v1"


def test_a_folder_of_keys_is_told(here):
    (here / ".env").mkdir()
    with pytest.raises(ConfigError, match="that is a folder; rename it"):
        make_cast(Models("openai/a"), 60.0)
