"""When each game day is due next, kept for the server of schedules after this one.

APScheduler's store on SQLite, with what it does not have: a scheduler whose store cannot be written
ends its thread without a word, and begins a day twice if its time is still there.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from apscheduler.job import Job
from apscheduler.jobstores.base import JobLookupError
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from sqlalchemy.exc import SQLAlchemyError

from brownout.base.errors import RunDirectoryError

__all__ = ["JobStore"]


class JobStore(SQLAlchemyJobStore):  # type: ignore[misc]  # APScheduler has no types
    """Keeps in memory what the disk does not take, until it does; `say` gets why, once."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        super().__init__(url=f"sqlite:///{path}")
        self._path, self._say = path, say
        #: Jobs as they are now, None for one that was removed.
        self._unwritten: dict[str, Job | None] = {}

    def add_job(self, job: Job) -> None:
        """Add one; raises `RunDirectoryError` where it cannot be written."""
        try:
            super().add_job(job)
        except SQLAlchemyError as error:
            raise RunDirectoryError(self._why(error), "free some space") from error

    def update_job(self, job: Job) -> None:
        """Replace one, here if not on the disk."""
        self._keep(job.id, job)

    def remove_job(self, job_id: str) -> None:
        """Remove one, here if not on the disk."""
        self._keep(job_id, None)

    def lookup_job(self, job_id: str) -> Job | None:
        """Return one as it is now."""
        if job_id in self._unwritten:
            return self._unwritten[job_id]
        return super().lookup_job(job_id)

    def get_all_jobs(self) -> list[Job]:
        """Return all as they are now."""
        stored = super().get_all_jobs()
        jobs = [self._unwritten.get(job.id, job) for job in stored]
        return [job for job in jobs if job is not None]

    def get_due_jobs(self, now: datetime) -> list[Job]:
        """Return those that are due, the earliest first; before that write what is not written."""
        for job_id, job in list(self._unwritten.items()):
            self._keep(job_id, job)
        return [job for job in self._timed() if job.next_run_time <= now]

    def get_next_run_time(self) -> datetime | None:
        """Return when the next one is due."""
        return next((job.next_run_time for job in self._timed()), None)

    def _timed(self) -> list[Job]:
        timed = [job for job in self.get_all_jobs() if job.next_run_time is not None]
        return sorted(timed, key=lambda job: job.next_run_time)

    def _keep(self, job_id: str, job: Job | None) -> None:
        try:
            if job is not None:
                super().update_job(job)
            else:
                super().remove_job(job_id)
        except SQLAlchemyError as error:
            if not self._unwritten:
                self._say(f"{self._why(error)}; schedules are kept in memory until it can be")
            self._unwritten[job_id] = job
        except JobLookupError:
            if job_id not in self._unwritten:
                raise
            del self._unwritten[job_id]
        else:
            self._unwritten.pop(job_id, None)

    def _why(self, error: SQLAlchemyError) -> str:
        return f"{self._path}: cannot be written: {getattr(error, 'orig', error)}"
