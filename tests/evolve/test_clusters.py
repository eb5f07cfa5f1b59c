"""Workers on clusters, the clusters played; tests/evolve/test_elsewhere.py has real ones."""

from contextlib import closing

import pytest

from evolve.away import Terms
from evolve.clusters import ClusterWorkers
from policies.errors import LostProcessError
from tests.evolve.pool_cluster import PoolCluster


def three():
    return 3


def test_a_lost_task_ends_the_run_in_one_sentence():
    with closing(PoolCluster()) as cluster:
        cluster.lose = 4
        with ClusterWorkers(cluster) as workers, pytest.raises(LostProcessError):
            list(workers.run([three] * 9))
        assert cluster.dropped


@pytest.mark.parametrize(("processes", "concurrency", "most"), [(2, 16, 3), (8, 4, 4), (2, 1, 1)])
def test_no_more_tasks_at_once_than_calls_may_be_in_flight(processes, concurrency, most):
    with closing(PoolCluster(processes)) as cluster:
        with ClusterWorkers(cluster, Terms("a run", concurrency)) as workers:
            assert list(workers.run([three] * 20)) == [3] * 20
        assert cluster.peak <= most
