"""What was asked for is done here, one job after the other, to the members and to the book."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.databases.mongodb.lab.atlas_api.book import Book
from brownout.databases.mongodb.lab.atlas_api.members import Members

__all__ = ["Job", "Work"]

logger = logging.getLogger("lab-atlas")
Job = Callable[[], None]


class Work:
    """Does jobs in order, each `delay_s` after it was begun; `lock` is held to change the book."""

    def __init__(self, book: Book, members: Members, lock: threading.Lock, delay_s: float) -> None:
        self._book, self._members, self._lock = book, members, lock
        self._delay_s = delay_s
        self._jobs: queue.Queue[Job] = queue.Queue()
        threading.Thread(target=self._labour, daemon=True).start()

    def begin(self, job: Job) -> None:
        """Put a job in line; who asks holds the lock."""
        self._book.state = "UPDATING"
        self._jobs.put(job)

    def failover(self) -> None:
        """Restart the primary."""
        self._tell("PRIMARY_RESTART_STARTED")
        self._members.restart_primary()
        self._tell("PRIMARY_ELECTED")

    def resizing(self, specs: list[dict[str, Any]]) -> Job:
        """Return the job of restarting each member, which has another size then."""

        def job() -> None:
            self._tell("CLUSTER_UPDATE_STARTED")
            self._members.restart_each()
            with self._lock:
                self._book.specs = specs
            self._tell("CLUSTER_UPDATE_COMPLETED")

        return job

    def maintain(self) -> None:
        """Restart each member, as maintenance does."""
        self._tell("MAINTENANCE_STARTED")
        self._members.restart_each()
        with self._lock:
            self._book.window["startASAP"] = False
        self._tell("MAINTENANCE_COMPLETED")

    def pausing(self, pause: bool) -> Job:
        """Return the job of stopping every member, or of starting it again."""

        def job() -> None:
            (self._members.stop if pause else self._members.start)()
            with self._lock:
                self._book.paused = pause
            self._tell("CLUSTER_PAUSED" if pause else "CLUSTER_RESUMED")

        return job

    def cutting(self, regions: set[str]) -> Job:
        """Return the job of cutting `regions` off."""

        def job() -> None:
            self._outage_is("STARTING")
            self._members.cut(regions)
            self._outage_is("SIMULATING")

        return job

    def join(self) -> None:
        """Join all that was cut off again."""
        self._outage_is("RECOVERING")
        self._members.join()
        self._outage_is("COMPLETE")

    def _labour(self) -> None:
        while True:
            job = self._jobs.get()
            time.sleep(self._delay_s)  # Atlas plans for a while before it does anything
            try:
                job()
            except BrownoutError as error:
                logger.error("the work was not done: %s", error)
                self._tell("CLUSTER_UPDATE_FAILED")
            with self._lock:
                self._book.state = "IDLE"

    def _outage_is(self, state: str) -> None:
        with self._lock:
            self._book.outage_is(state)
            self._book.note(f"CLUSTER_OUTAGE_SIMULATION_{state}")

    def _tell(self, event: str) -> None:
        with self._lock:
            self._book.note(event)
