"""One process at a time has a cluster, while its tests run; the system releases it."""

import os
import re
from collections.abc import Sequence

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

    def take(self, clusters: Sequence[str]) -> str:
        """Take one of `clusters` and return it: one that this worker has, else the first free one.

        Raises `ClusterShared` where other workers have all of them.
        """
        for cluster in clusters:
            if cluster in self._locks:
                return cluster
        holders = []
        for cluster in clusters:
            path = state_home() / "workers" / f"{re.sub(r'[^A-Za-z0-9.-]', '_', cluster)}.lock"
            private_directory(path.parent)
            lock = Lock(path, f"{self._worker} (process {os.getpid()})")
            try:
                self._locks[cluster] = lock.take()
                return cluster
            except Held as error:
                holders.append(f"the cluster `{cluster}` is in the hands of {error.holder}")
        raise ClusterShared(
            f"{', '.join(holders)}, and {self._worker} wants one too: two faults at once would be "
            "measured as one",
            "keep these tests in one file and run with `--dist loadfile`, which leaves a file "
            "to one worker; or name a cluster for each worker, as `--resilience-cluster one,two`",
        )

    def release(self) -> None:
        """Release all."""
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()
