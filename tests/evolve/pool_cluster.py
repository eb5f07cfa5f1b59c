"""A cluster in threads of this process."""

from concurrent.futures import Future, ThreadPoolExecutor

from policies.errors import LostProcessError


class PoolCluster:
    """Runs calls in threads; can be told to lose some."""

    def __init__(self, processes=2, threads=1):
        self.processes, self.slots = processes, processes * threads
        self.begun, self.lose = 0, 0
        self.running = self.peak = 0
        self.dropped = False
        self._pool = ThreadPoolExecutor(64)

    def size(self):
        return self.processes, self.slots

    def submit(self, call):
        self.begun += 1
        if self.lose and self.begun == self.lose:
            future = Future()
            future.set_exception(LostProcessError("lost"))
            return future
        self.running += 1
        self.peak = max(self.peak, self.running)
        future = self._pool.submit(call)
        future.add_done_callback(self._ended)
        return future

    def _ended(self, _):
        self.running -= 1

    def drop(self):
        self.dropped = True

    def close(self):
        self._pool.shutdown()
