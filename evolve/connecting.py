"""From names of models to what a run calls them with: specs, keys, one connection, workers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from evolve.away import AwayWorkers, Terms
from evolve.config import Options
from evolve.lm.models import Connection, ModelSpec
from evolve.means import Means
from evolve.roles import OFFLINE, Models
from evolve.workers import HereWorkers, ProcessWorkers, ThreadWorkers, Workers, WorldSpec
from policies.errors import ConfigError

if TYPE_CHECKING:
    from evolve.clusters import Cluster


# Names of variables that LiteLLM takes addresses from.
_ENDS = ("_API_BASE", "_BASE_URL")
_ALSO = {
    "bedrock": ("AWS_BEDROCK_RUNTIME_ENDPOINT",),
    "text-completion-openai": ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
    "vertex_ai": ("VERTEX_API_BASE",),
    "ollama_chat": ("OLLAMA_API_BASE",),
    "watsonx": ("WATSONX_URL",),
}


@dataclass(frozen=True, slots=True)
class Cast:
    """The model of every role.

    Attributes:
        model: Of the assistant and the upper bounds.
        user: Of the simulated user.
        rewrite: Of the rewriter.
    """

    model: ModelSpec
    user: ModelSpec
    rewrite: ModelSpec

    def of(self, role: str) -> ModelSpec:
        """Who plays a role, by the name of its task."""
        return {"user": self.user, "rewrite": self.rewrite}.get(role, self.model)


def make_cast(models: Models, timeout: float) -> Cast:
    """Specs of the models, with keys of ``.env`` in the environment if any of them is real.

    Raises:
        ConfigError: ``.env`` cannot be read, or a price is given although all have their own.
    """
    if models.real:
        _read_env()
    specs = {name: ModelSpec(name, timeout=timeout) for name in models.real}
    if models.real:
        priced = _to_price(models, specs)
        for name in specs:
            price = models.price if name in priced else None
            address = models.base_of(name) or _address_of(name)
            specs[name] = ModelSpec(name, address, timeout, price)
    specs[OFFLINE] = ModelSpec(OFFLINE)
    return Cast(specs[models.model], specs[models.user_model], specs[models.rewrite_model])


def world_spec(options: Options, cast: Cast) -> WorldSpec:
    """What a run's workers build their world from."""
    return WorldSpec(
        cast.model, cast.user, options.seed, options.first_rounds, options.later_rounds
    )


@dataclass(frozen=True, slots=True)
class Site:
    """Where rollouts run.

    Attributes:
        means: What the run works with.
        cluster: The one that they name, reached; None where they name none.
    """

    means: Means
    cluster: Cluster | None = None


def find_site(stack: ExitStack, means: Means) -> Site:
    """Reach the cluster that is named, if any, and leave it with the stack.

    Raises:
        ConfigError: It does not answer, or what is needed to ask it is not installed.
    """
    if means.backend not in {"dask", "ray"}:
        return Site(means)
    from evolve.dask_ray import DaskCluster, RayCluster

    dask = means.backend == "dask"
    cluster = DaskCluster(means.scheduler or "") if dask else RayCluster(means.address or "")
    stack.callback(cluster.close)
    return Site(means, cluster)


def make_workers(
    stack: ExitStack, spec: WorldSpec, site: Site, connection: Connection | None
) -> Workers:
    """Those of the site; by default threads where a rollout waits for a real model, else processes.

    Args:
        stack: Ends them.
        spec: Of the world that they are to build.
        site: Where rollouts run.
        connection: To real models, if there are any.
    """
    means = site.means
    real = spec.model.name != OFFLINE or spec.user_model.name != OFFLINE
    terms = _terms(means) if real else None
    if site.cluster is not None:
        from evolve.clusters import ClusterWorkers

        return stack.enter_context(ClusterWorkers(site.cluster, terms, connection))
    if means.backend == "threads" or (real and means.backend is None):
        return stack.enter_context(ThreadWorkers(means.concurrency))
    # More processes than calls may be in flight would have nothing to do.
    jobs = min(means.jobs, means.concurrency) if real else means.jobs
    if jobs == 1:
        return HereWorkers()
    processes = stack.enter_context(ProcessWorkers(jobs))
    if terms is None:
        return processes
    terms = replace(terms, concurrency=means.concurrency // jobs)
    return AwayWorkers(processes, terms, connection)


def _terms(means: Means) -> Terms:
    """On what terms processes elsewhere call real models, all of them together."""
    cache = None if means.cache is None else means.cache.absolute()
    return Terms(uuid4().hex, means.concurrency, cache)


@contextmanager
def connected(models: Models, means: Means, folder: Path | None) -> Iterator[Connection | None]:
    """The connection that all real models of this process share; None if none is real.

    Args:
        models: Who plays which role.
        means: Calls in flight, and where replies are shared.
        folder: Where every call is logged; None keeps the log in memory.
    """
    if not models.real:
        yield None
        return
    from evolve.lm.calls import CallLog
    from evolve.lm.limits import Limits
    from evolve.lm.models import connect
    from evolve.lm.prefix import Prefixes

    with CallLog(folder, means.cache) as log:
        connection = Connection(log, Limits(means.concurrency), Prefixes())
        connect(connection)
        yield connection


def _to_price(models: Models, specs: dict[str, ModelSpec]) -> set[str]:
    """The models that the given price is of."""
    if models.price is None or len(specs) == 1:
        return set(specs)
    from evolve.lm.prices import price_of

    unknown = {name for name, spec in specs.items() if price_of(spec) is None}
    if not unknown:
        raise ConfigError(
            "With several models --price is that of those with no known price, but all of "
            f"{', '.join(specs)} have one; leave it out."
        )
    return unknown


def _address_of(model: str) -> str | None:
    """The address for a model that the environment holds, under a name that LiteLLM looks for.

    It is made known to the client, since which replies are the same depends on who gave them.
    """
    provider = model.partition("/")[0]
    name = re.sub(r"\W", "_", provider).upper()
    names = [f"{start}{end}" for start in (name, name.replace("_", "")) for end in _ENDS]
    found = (os.environ.get(variable) for variable in (*names, *_ALSO.get(provider, ())))
    return next(filter(None, found), None)


def _read_env() -> None:
    """Keys of the current folder's ``.env``; what the environment has already stands."""
    from dotenv import load_dotenv

    if Path(".env").is_dir():
        raise ConfigError(
            "Keys may stand in a file .env in the current folder, but that is a folder; rename it."
        )
    try:
        load_dotenv(Path(".env"), override=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            "Keys may stand in a file .env in the current folder, but it cannot be read "
            f"({error}); mend or remove it."
        ) from error
