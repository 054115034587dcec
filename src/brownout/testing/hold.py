"""One process at a time has a cluster, while its tests run; the system releases it."""

import os
import re

from brownout.base.files import private_directory
from brownout.base.locks import Held, Lock
from brownout.faults.open_runs import state_home
from brownout.testing.errors import ClusterShared

__all__ = ["Holds"]


class Holds:
    """The clusters that this worker has taken; it keeps them until it ends."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._locks: dict[str, Lock] = {}

    def take(self, cluster: str) -> None:
        """Take `cluster`; raises `ClusterShared` where another worker has it."""
        if cluster in self._locks:
            return
        path = state_home() / "workers" / f"{re.sub(r'[^A-Za-z0-9.-]', '_', cluster)}.lock"
        private_directory(path.parent)
        lock = Lock(path, f"{self._worker} (process {os.getpid()})")
        try:
            self._locks[cluster] = lock.take()
        except Held as error:
            raise ClusterShared(
                f"the cluster `{cluster}` is in the hands of {error.holder}, and {self._worker} "
                "wants it too: two faults at once would be measured as one",
                "keep these tests in one file and run with `--dist loadfile`, which leaves a file "
                "to one worker; or give each worker a cluster of its own",
            ) from None

    def release(self) -> None:
        """Release all."""
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()
