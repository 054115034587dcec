"""The history's database: opened, its tables made, runs put in and taken out."""

import contextlib
import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from brownout.base.errors import BrownoutError, RunDirectoryError
from brownout.measure.document import impact_of
from brownout.runs.database import Database, Place
from brownout.runs.history import tables
from brownout.runs.history.rows import rows_of
from brownout.runs.run_set import FinishedRun, Runs

__all__ = ["HistoryError", "Store"]

logger = logging.getLogger("chaostoolkit")

_RUNS = """
    SELECT run_id, path, began, occasion, CAST(impact AS TEXT)
    FROM brownout_runs JOIN brownout_impacts USING (run_id)
    WHERE TRUE
"""


class HistoryError(BrownoutError):
    """The history cannot be opened, written or read."""


class Store:
    """A history that is open; a context."""

    def __init__(self, place: Place) -> None:
        """Open it, and make its tables where there are none."""
        hint = "see BROWNOUT_HISTORY in docs/history.md"
        self._database = Database(place, "history", HistoryError, hint)
        self._database.lay_out(tables.LAYOUT, tables.STATEMENTS)
        self._check_layout()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def put(self, run: FinishedRun) -> None:
        """Put a run in, in place of what there was of it."""
        with self._database.transaction() as transaction:
            of = {"run_id": run.run_id}
            transaction.execute("DELETE FROM brownout_runs WHERE run_id = :run_id", of)
            for name, rows in rows_of(run).items():
                if rows:
                    columns, values = ", ".join(rows[0]), ", ".join(f":{each}" for each in rows[0])
                    into = f"INSERT INTO brownout_{name} ({columns}) VALUES ({values})"
                    transaction.execute_each(into, rows)

    def runs(
        self, scenario: str | None = None, cluster: str | None = None, last: int | None = None
    ) -> Runs:
        """Return the runs, the oldest first; of many the `last` ones.

        One that cannot be read is left out, and a warning names it.
        """
        wanted = _RUNS
        if scenario:
            wanted += " AND scenario = :scenario"
        if cluster:
            wanted += " AND cluster = :cluster"
        wanted += " ORDER BY began DESC, run_id DESC"
        if last is not None:
            wanted += " LIMIT :last"
        values = {"scenario": scenario, "cluster": cluster, "last": last}
        with self._database.transaction() as transaction:
            rows = transaction.execute(wanted, values).fetchall()
        return Runs(run for row in reversed(rows) if (run := self._run(*row)) is not None)

    def _run(
        self, run_id: str, path: str, began: object, occasion: str | None, impact: str
    ) -> FinishedRun | None:
        """Return a row's run; None, with a warning, where its impact cannot be read."""
        document: Any = impact
        with contextlib.suppress(ValueError):  # SQLite takes any text
            document = json.loads(impact)
        try:
            read = impact_of(document, f"run {run_id}")
        except RunDirectoryError as error:
            logger.warning("history in %s: left out: %s; put it in again with `brownout history "
                           "add`", self._database.place.words, error.message)  # fmt: skip
            return None
        # PostgreSQL gives a time with its zone, SQLite the text of one in UTC.
        moment = datetime.fromisoformat(str(began))
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return FinishedRun(Path(path), read, moment, occasion)

    def _check_layout(self) -> None:
        with self._database.transaction() as transaction:
            row = transaction.execute("SELECT schema FROM brownout_layout").fetchone()
            schema = row[0] if row else None
            if schema != tables.SCHEMA:
                raise HistoryError(
                    f"{self._database.place.words}: is a history of the layout {schema}, this "
                    f"brownout knows {tables.SCHEMA}",
                    "use the brownout that made it, or another BROWNOUT_HISTORY",
                )
