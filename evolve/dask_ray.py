"""Clusters of Dask and of Ray: reached, asked, left; no other module knows the two libraries."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, TypeVar
from uuid import uuid4

from evolve.interrupt import SIGNALS
from policies.errors import ConfigError, LostProcessError

Result = TypeVar("Result")

AGAIN = 3  # times that a task is run again whose process died
PATIENCE = 30  # seconds for a cluster to answer and to have a worker


class DaskCluster:
    """A cluster of Dask.

    Args:
        address: Of its scheduler.

    Raises:
        ConfigError: Dask is not installed, or there is no scheduler with a worker.
    """

    def __init__(self, address: str) -> None:
        distributed = _module("distributed", "dask")
        try:
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError, ImportError) as error:
            raise ConfigError(
                "--scheduler must be the address of a Dask scheduler, such as "
                f"tcp://127.0.0.1:8786, but {address} does not answer as one ({_first(error)}); "
                "start it, or mend the address."
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            self._client.close()
            raise ConfigError(
                f"A run needs a worker, but the Dask scheduler at {address} had none for "
                f"{PATIENCE} s; start one with: python -m distributed.cli.dask_worker {address}"
            ) from error
        if sys.version_info[:2] == (3, 11):
            self._client.register_plugin(_without_profiler(distributed))
        self._begun: dict[Any, Future[Any]] = {}

    def size(self) -> tuple[int, int]:
        """Workers, and the threads of all of them."""
        threads = self._client.nthreads()
        return len(threads), sum(threads.values())

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Begin a call; the scheduler itself runs it again where a worker dies."""
        done: Future[Any] = Future()
        try:
            begun = self._client.submit(
                _do, call, key=f"mnemotune-{uuid4().hex}", pure=False, retries=AGAIN
            )
        except Exception as error:  # whatever a client raises whose scheduler is gone
            done.set_exception(_lost("Dask", error))
            return done
        self._begun[begun] = done
        begun.add_done_callback(self._end)
        return done

    def _end(self, begun: Any) -> None:
        done = self._begun.pop(begun, None)
        if done is None:
            return  # dropped
        try:
            result = begun.result()
        except (Exception, CancelledError) as error:
            done.set_exception(_lost("Dask", error))
        else:
            done.set_result(result)

    def drop(self) -> None:
        """Cancel what is not done; what runs in a thread there runs to its end, for nobody."""
        begun = list(self._begun)
        self._begun.clear()
        if begun:
            with suppress(Exception):  # the scheduler may be gone, and the calls with it
                self._client.cancel(begun)

    def close(self) -> None:
        """Leave it."""
        self._client.close()


def _without_profiler(distributed: Any) -> Any:
    """A plugin that ends the profiler of workers, those that come later included.

    It looks at the frames of all threads, and Python 3.11 may collect garbage meanwhile, which
    stops a process of several threads for good (python/cpython#106883). Dask starts its other
    profiler, that of event loops, under no Python 3.11.
    """

    class WithoutProfiler(distributed.WorkerPlugin):  # type: ignore[misc]
        name = "mnemotune-without-profiler"

        def setup(self, worker: Any) -> None:
            profiler = worker.periodic_callbacks.pop("profile", None)
            if profiler is not None:
                profiler.stop()

    return WithoutProfiler()


class RayCluster:
    """A cluster of Ray.

    Args:
        address: Of its head, ``auto`` for that of this machine, or ``local`` for one of its own.

    Raises:
        ConfigError: Ray is not installed, or no cluster answers.
    """

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers
        with _own_signals():
            self._ray = _module("ray", "ray")
            try:
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            except (OSError, ValueError, RuntimeError) as error:
                raise ConfigError(
                    "--address must be that of a Ray cluster, such as 127.0.0.1:6379, but "
                    f"{address} does not answer as one ({_first(error)}); start it, or mend the "
                    "address."
                ) from error
        self._do = self._ray.remote(num_cpus=1, max_retries=AGAIN)(_do)
        self._begun: dict[Any, Future[Any]] = {}

    def size(self) -> tuple[int, int]:
        """One process for every CPU that it lends."""
        count = int(self._ray.cluster_resources().get("CPU", 0))
        return count, count

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Begin a call; Ray runs it again where its process dies."""
        done: Future[Any] = Future()
        begun = self._do.remote(call)
        self._begun[begun] = done
        begun.future().add_done_callback(lambda future: self._end(begun, future))
        return done

    def _end(self, begun: Any, future: Future[Any]) -> None:
        done = self._begun.pop(begun, None)
        if done is None:
            return  # dropped
        error = future.exception()
        if error is not None:
            done.set_exception(_lost("Ray", error))
        else:
            done.set_result(future.result())

    def drop(self) -> None:
        """End what is not done, and the processes that do it."""
        begun = list(self._begun)
        self._begun.clear()
        for one in begun:
            self._ray.cancel(one, force=True)

    def close(self) -> None:
        """Leave it; one of its own ends."""
        self._ray.shutdown()


def _do(call: Callable[[], Result]) -> Result:
    return call()


def _module(name: str, extra: str) -> Any:
    """A library that an extra brings.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"--backend {extra} needs {name}, but {_first(error)}; install it with make "
            "extras, in the project's folder."
        ) from error


def _lost(what: str, error: BaseException) -> LostProcessError:
    return LostProcessError(
        f"{what} runs a rollout again when a worker of it dies, but there was no result after "
        f"{AGAIN} more ({type(error).__name__}: {_first(error)}); see to the workers and their "
        "memory, then resume the run."
    )


def _first(error: BaseException) -> str:
    """The first line of what an error says."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


@contextmanager
def _own_signals() -> Iterator[None]:
    """Give Ctrl-C and SIGTERM back to those who had them, whatever happens to them inside."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
