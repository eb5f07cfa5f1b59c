"""What a run works with: what changes its time and its price, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from evolve.ranges import SHOWN, check_range, known_fields
from policies.errors import ConfigError

BACKENDS = ("threads", "loky", "dask", "ray")
LONGEST_TIMEOUT = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Means:
    """What a run works with: changes its time and what it pays, never what it finds.

    Attributes:
        jobs: Processes of the offline model, at least 1.
        concurrency: Calls of real models in flight at once, at least 1.
        timeout: Seconds that a call of a real model may take, above 0.
        cache: Folder of replies that several runs share, or None.
        backend: What rollouts run in: ``threads``, ``loky`` (processes), ``dask`` or ``ray``; None
            for threads where they call real models, else processes.
        scheduler: Address of the Dask scheduler, with that backend alone.
        address: Address of the Ray cluster, with that backend alone.
        storage: URL of a database that mirrors the search, or None. It may hold a password.
        mlflow: Folder or URI of an MLflow store, or None. It may hold a password.
    """

    jobs: int = 1
    concurrency: int = 16
    timeout: float = 120.0
    cache: Path | None = None
    backend: str | None = None
    scheduler: str | None = None
    address: str | None = None
    storage: str | None = field(default=None, repr=False)
    mlflow: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._check_backend()
        check_range("jobs", self.jobs, 1)
        check_range("concurrency", self.concurrency, 1)
        if not 0 < self.timeout < inf:
            raise ConfigError(
                f"--timeout must be above 0 seconds, but is {self.timeout:g}; give a larger number."
            )
        if self.timeout > LONGEST_TIMEOUT:
            raise ConfigError(
                f"--timeout must be at most a day ({LONGEST_TIMEOUT} seconds), but is "
                f"{self.timeout:g}; give a smaller number."
            )
        if self.cache is not None and "\0" in str(self.cache):
            raise ConfigError(
                f"--cache must be a folder, but {str(self.cache)[:SHOWN]!r} has a sign that no "
                "name may have; name another."
            )

    def _check_backend(self) -> None:
        if self.backend is not None and self.backend not in BACKENDS:
            raise ConfigError(
                f"--backend must be one of {', '.join(BACKENDS)}, but is {self.backend!r}; name "
                "one of these."
            )
        for backend, option in (("dask", "scheduler"), ("ray", "address")):
            if (getattr(self, option) is None) == (self.backend == backend):
                there = "missing" if self.backend == backend else "given"
                raise ConfigError(
                    f"--{option} says where --backend {backend} is, but it is {there} and "
                    f"--backend is {self.backend or 'left out'}; give both or none."
                )


def make_means(given: Mapping[str, Any]) -> Means:
    """The means of options by name, whatever else stands among them; all cores by default.

    Raises:
        ConfigError: A value lies outside its range.
    """
    kept = {"jobs": os.cpu_count() or 1, **known_fields(Means, given)}
    if kept.get("cache") is not None:
        kept["cache"] = Path(kept["cache"])
    return Means(**kept)
