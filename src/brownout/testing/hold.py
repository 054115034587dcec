"""One process at a time has a cluster, for as long as its tests go on; the system forgets it."""

import fcntl
import os
import re
from typing import TextIO

from brownout.base.private import private_directory, private_file
from brownout.faults.open_runs import state_home
from brownout.testing.errors import ClusterShared

__all__ = ["Holds"]


class Holds:
    """The clusters that this worker has taken; it keeps them until it ends."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._files: dict[str, TextIO] = {}

    def take(self, cluster: str) -> None:
        """Take `cluster`; raises `ClusterShared` where another worker has it."""
        if cluster in self._files:
            return
        path = state_home() / "workers" / f"{re.sub(r'[^A-Za-z0-9.-]', '_', cluster)}.lock"
        private_directory(path.parent)
        file = private_file(path).open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "another process"
            file.close()
            raise ClusterShared(
                f"the cluster `{cluster}` is in the hands of {owner}, and {self._worker} wants it "
                "too: two faults at once would be measured as one",
                "keep these tests in one file and run with `--dist loadfile`, which leaves a file "
                "to one worker; or give each worker a cluster of its own",
            ) from None
        file.truncate(0)
        file.write(f"{self._worker} (process {os.getpid()})\n")
        file.flush()
        self._files[cluster] = file

    def release(self) -> None:
        """Let go of all."""
        for file in self._files.values():
            file.close()
        self._files.clear()
