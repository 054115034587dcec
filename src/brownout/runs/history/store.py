"""The history's database: opened, its tables made, runs put in and taken out.

SQLAlchemy does the same on SQLite and on PostgreSQL.
"""

import logging
from datetime import UTC
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Row, delete, insert, select

from brownout.base.errors import BrownoutError, RunDirectoryError
from brownout.measure.document import impact_of
from brownout.runs.database import Database, Place
from brownout.runs.finished import FinishedRun, Runs
from brownout.runs.history import tables
from brownout.runs.history.rows import rows_of

__all__ = ["HistoryError", "Store"]

logger = logging.getLogger("chaostoolkit")

_TABLES = {
    "runs": tables.runs,
    "versions": tables.versions,
    "measures": tables.measures,
    "limits": tables.limits,
    "impacts": tables.impacts,
}


class HistoryError(BrownoutError):
    """The history cannot be opened, written or read."""


class Store:
    """A history that is open; a context."""

    def __init__(self, place: Place) -> None:
        """Open it, and make its tables where there are none."""
        hint = "see BROWNOUT_HISTORY in docs/history.md"
        self._database = Database(place, "history", HistoryError, hint)
        mark = insert(tables.layout).values(schema=tables.SCHEMA)
        self._database.lay_out(tables.metadata, mark)
        try:
            self._check_layout()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def put(self, run: FinishedRun) -> None:
        """Put a run in, in place of what there was of it."""
        rows = rows_of(run)
        with self._database.transaction() as connection:
            connection.execute(delete(tables.runs).where(tables.runs.c.run_id == run.run_id))
            for name, table in _TABLES.items():
                if rows[name]:
                    connection.execute(insert(table), rows[name])

    def runs(
        self, scenario: str | None = None, cluster: str | None = None, last: int | None = None
    ) -> Runs:
        """Return the runs, the oldest first; of many the `last` ones.

        One that cannot be read is left out, and a warning names it.
        """
        table = tables.runs
        wanted = select(table.c.run_id, table.c.path, table.c.began, table.c.occasion,
                        tables.impacts.c.impact)  # fmt: skip
        wanted = wanted.join(tables.impacts).order_by(table.c.began.desc(), table.c.run_id.desc())
        if scenario:
            wanted = wanted.where(table.c.scenario == scenario)
        if cluster:
            wanted = wanted.where(table.c.cluster == cluster)
        if last is not None:
            wanted = wanted.limit(last)
        with self._database.transaction() as connection:
            found = connection.execute(wanted).all()
        return Runs(run for row in reversed(found) if (run := self._run(row)) is not None)

    def _run(self, row: Row[Any]) -> FinishedRun | None:
        """Return a row's run; None, with a warning, where its impact cannot be read."""
        try:
            impact = impact_of(row.impact, f"run {row.run_id}")
        except RunDirectoryError as error:
            logger.warning("history in %s: left out: %s; put it in again with `brownout history "
                           "add`", self._database.place.words, error.message)  # fmt: skip
            return None
        # SQLite keeps no time zone; what was put in is UTC.
        began = row.began if row.began.tzinfo else row.began.replace(tzinfo=UTC)
        return FinishedRun(Path(row.path), impact, began.astimezone(UTC), row.occasion)

    def _check_layout(self) -> None:
        with self._database.transaction() as connection:
            schema = connection.execute(select(tables.layout.c.schema)).scalars().first()
        if schema != tables.SCHEMA:
            raise HistoryError(
                f"{self._database.place.words}: is a history of the layout {schema}, this brownout "
                f"knows {tables.SCHEMA}",
                "use the brownout that made it, or another BROWNOUT_HISTORY",
            )
