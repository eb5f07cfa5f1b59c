"""Clusters of Dask and Ray, the libraries played; tests/evolve/test_elsewhere.py has real ones."""

import signal
import sys
from concurrent.futures import Future
from contextlib import closing
from types import MappingProxyType, SimpleNamespace

import pytest

from evolve.clusters import ClusterWorkers
from evolve.dask_ray import DaskCluster, RayCluster
from policies.errors import ConfigError, LostProcessError


def three():
    return 3


class Begun:
    """A future as both libraries have it."""

    def __init__(self, result=None, error=None):
        self._result, self._error = result, error

    def add_done_callback(self, call):
        call(self)

    def result(self):
        if self._error is not None:
            raise self._error
        return self._result

    def future(self):
        future = Future()
        if self._error is None:
            future.set_result(self._result)
        else:
            future.set_exception(self._error)
        return future


def begun(do, call):
    try:
        return Begun(do(call))
    except MemoryError as error:
        return Begun(error=error)


class Client:
    """Dask's, which answers what it is told to."""

    workers = MappingProxyType({"tcp://a": 2, "tcp://b": 1})
    closed = False
    profilers = ()

    def __init__(self, address, **options):
        if address == "tcp://nowhere:1":
            raise OSError("Timed out trying to connect.\nmore")

    def wait_for_workers(self, count, timeout):
        if not self.workers:
            raise TimeoutError

    def nthreads(self):
        return self.workers

    def submit(self, do, call, **options):
        assert options["retries"]
        return begun(do, call)

    def register_plugin(self, plugin):
        """Its workers have a profiler, as Dask starts them."""
        for profiler in self.profilers:
            plugin.setup(SimpleNamespace(periodic_callbacks=profiler))

    def close(self):
        self.closed = True


@pytest.fixture
def dask(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "distributed", SimpleNamespace(Client=Client, WorkerPlugin=object)
    )


class Profiler:
    runs = True

    def stop(self):
        self.runs = False


@pytest.mark.parametrize("version", [(3, 11, 7), (3, 12, 0)])
def test_workers_of_python_3_11_have_no_profiler(dask, monkeypatch, version):
    started, other = Profiler(), Profiler()
    monkeypatch.setattr(Client, "profilers", ({"profile": started, "tick": other}, {}))
    monkeypatch.setattr(sys, "version_info", version)
    with closing(DaskCluster("tcp://a:1")):
        assert started.runs == (version >= (3, 12))
        assert other.runs


def killed():
    raise MemoryError("KilledWorker: after 4 workers died\nmore")


class TestDask:
    def test_tasks_run_and_what_is_lost_says_what_to_do(self, dask):
        with closing(DaskCluster("tcp://here:1")) as cluster, ClusterWorkers(cluster) as workers:
            assert cluster.size() == (2, 3)
            assert list(workers.run([three] * 5)) == [3] * 5
            with pytest.raises(LostProcessError, match=r"Killed.* died\); see to the workers and"):
                cluster.submit(killed).result()

    def test_nobody_at_the_address(self, dask):
        with pytest.raises(ConfigError, match=r"as one \(Timed out trying to connect\); start it"):
            DaskCluster("tcp://nowhere:1")

    def test_no_worker(self, dask, monkeypatch):
        monkeypatch.setattr(Client, "workers", {})
        with pytest.raises(ConfigError, match=r"start one with: python -m distributed\.cli\.dask_"):
            DaskCluster("tcp://here:1")


class Ray:
    """Ray's module, which takes both signals as the real one does."""

    def init(self, address, **options):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if address == "nowhere:1":
            raise ConnectionError("no cluster")

    def cluster_resources(self):
        return {"CPU": 2.0, "memory": 1e9}

    def remote(self, **options):
        assert options["max_retries"]
        return lambda do: SimpleNamespace(remote=lambda call: begun(do, call))

    def shutdown(self):
        pass


class TestRay:
    @pytest.fixture(autouse=True)
    def ray(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "ray", Ray())

    def test_tasks_run_and_what_is_lost_says_what_to_do(self):
        with closing(RayCluster("here:1")) as cluster, ClusterWorkers(cluster) as workers:
            assert cluster.size() == (2, 2)
            assert list(workers.run([three] * 5)) == [3] * 5
            with pytest.raises(LostProcessError, match="Ray runs a rollout again when a worker"):
                cluster.submit(killed).result()

    def test_nobody_at_the_address(self):
        with pytest.raises(ConfigError, match=r"nowhere:1 does not answer as one \(no cluster\)"):
            RayCluster("nowhere:1")

    def test_ctrl_c_stays_with_the_run(self):
        before = signal.getsignal(signal.SIGTERM)
        RayCluster("here:1").close()
        assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("make", "module"), [(DaskCluster, "distributed"), (RayCluster, "ray")])
def test_a_library_that_is_not_installed(make, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match="install it with make extras"):
        make("here:1")
