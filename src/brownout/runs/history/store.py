"""The history's database: opened, its tables made, runs put in and taken out.

SQLAlchemy does the same on SQLite and on PostgreSQL. Every error of either becomes one of ours,
without a password.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Engine, create_engine, delete, event, insert, select
from sqlalchemy.exc import SQLAlchemyError
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random

from brownout.base.errors import BrownoutError, Unsupported
from brownout.base.files import private_directory, private_file
from brownout.runs.history import tables
from brownout.runs.history.place import Place

__all__ = ["HistoryError", "Kept", "Store"]

_TIMEOUT_S = 10
_TABLES = {
    "runs": tables.runs,
    "versions": tables.versions,
    "measures": tables.measures,
    "limits": tables.limits,
    "impacts": tables.impacts,
}


class HistoryError(BrownoutError):
    """The history cannot be opened, written or read."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One run of the history. `measures` by (scope, measure), infinite where it never came.

    `limits` holds the bound of each (scope, measure) and whether it was met.
    """

    run_id: str
    began: datetime
    scenario: str
    mode: str | None
    cluster: str
    database: str | None
    stand_in: bool
    workload: str | None
    verdict: str
    reasons: tuple[str, ...]
    occasion: str | None
    path: str
    versions: Mapping[str, str]
    measures: Mapping[tuple[str, str], float]
    limits: Mapping[tuple[str, str], tuple[float, bool | None]]


class Store:
    """A history that is open; a context."""

    def __init__(self, place: Place) -> None:
        """Open it, and make its tables where there are none."""
        self._place = place
        with self._errors():
            if place.url.drivername.startswith("sqlite"):
                private_directory(Path(str(place.url.database)).parent)
                private_file(Path(str(place.url.database)))
            self._engine = _engine(place)
            try:
                self._lay_out()
            except BaseException:
                self._engine.dispose()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.dispose()

    def put(self, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Put a run in, in place of what there was of it."""
        run_id = rows["runs"][0]["run_id"]
        with self._errors(), self._engine.begin() as connection:
            connection.execute(delete(tables.runs).where(tables.runs.c.run_id == run_id))
            for name, table in _TABLES.items():
                if rows[name]:
                    connection.execute(insert(table), list(rows[name]))

    def runs(
        self, scenario: str | None = None, cluster: str | None = None, last: int | None = None
    ) -> list[Kept]:
        """Return the runs, the oldest first; of many the `last` ones."""
        with self._errors(), self._engine.connect() as connection:
            return _read(connection, scenario, cluster, last)

    def impact(self, run_id: str) -> dict[str, Any] | None:
        """Return the impact of a run; None where it is not in the history."""
        wanted = select(tables.impacts.c.impact).where(tables.impacts.c.run_id == run_id)
        with self._errors(), self._engine.connect() as connection:
            found = connection.execute(wanted).scalar_one_or_none()
        return None if found is None else dict(found)

    @retry(retry=retry_if_exception_type(SQLAlchemyError), stop=stop_after_attempt(4),
           wait=wait_random(0.05, 0.3), reraise=True)  # fmt: skip
    def _lay_out(self) -> None:
        """Make the tables where there are none; another process may be at it this very moment."""
        with self._engine.begin() as connection:
            known = connection.dialect.has_table(connection, tables.layout.name)
            if not known:
                tables.metadata.create_all(connection)
                connection.execute(insert(tables.layout), [{"schema": tables.SCHEMA}])
            schema = connection.execute(select(tables.layout.c.schema)).scalars().first()
        if schema != tables.SCHEMA:
            raise HistoryError(
                f"{self._place.words}: is a history of the layout {schema}, this brownout knows "
                f"{tables.SCHEMA}",
                "use the brownout that made it, or another BROWNOUT_HISTORY",
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            said = self._place.clean(str(getattr(error, "orig", None) or error))
            raise HistoryError(
                f"history {self._place.words}: {said}",
                "see BROWNOUT_HISTORY in docs/history.md",
            ) from None


def _engine(place: Place) -> Engine:
    try:
        if not place.url.drivername.startswith("sqlite"):
            timeout = {"connect_timeout": _TIMEOUT_S}
            return create_engine(place.url, connect_args=timeout, hide_parameters=True)
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"a history in PostgreSQL needs the package `{error.name}`, which is not installed",
            "pip install 'brownout[postgresql]'",
        ) from None
    engine = create_engine(place.url, connect_args={"timeout": _TIMEOUT_S}, hide_parameters=True)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:
    """SQLite lets rows go with the run that they refer to only if it is told to."""
    connection.isolation_level = None  # transactions begin where `_begin` says
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    """Who may write later takes the lock at once, so that two do not wait for each other."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _read(
    connection: Connection, scenario: str | None, cluster: str | None, last: int | None
) -> list[Kept]:
    table = tables.runs
    wanted = select(table).order_by(table.c.began.desc(), table.c.run_id.desc())
    if scenario:
        wanted = wanted.where(table.c.scenario == scenario)
    if cluster:
        wanted = wanted.where(table.c.cluster == cluster)
    if last is not None:
        wanted = wanted.limit(last)
    found = [dict(row) for row in connection.execute(wanted).mappings()]
    parts = {
        name: _parts(connection, _TABLES[name], [row["run_id"] for row in found])
        for name in ("versions", "measures", "limits")
    }
    return [_kept(row, parts) for row in reversed(found)]


def _parts(
    connection: Connection, table: Any, ids: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """The rows of each run, a few hundred runs at a time."""
    found: dict[str, list[Mapping[str, Any]]] = {run_id: [] for run_id in ids}
    for start in range(0, len(ids), 500):
        some = select(table).where(table.c.run_id.in_(ids[start : start + 500]))
        for row in connection.execute(some).mappings():
            found[row["run_id"]].append(dict(row))
    return found


def _kept(row: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> Kept:
    run_id = row["run_id"]
    began: datetime = row["began"]
    if began.tzinfo is None:  # SQLite keeps none; what was put in is UTC
        began = began.replace(tzinfo=UTC)
    names = ("scenario", "mode", "cluster", "database", "stand_in", "workload", "verdict",
             "occasion", "path")  # fmt: skip
    return Kept(
        run_id=run_id,
        began=began.astimezone(UTC),
        reasons=tuple(row["reasons"]),
        versions={v["name"]: v["version"] for v in parts["versions"][run_id]},
        measures={
            (m["scope"], m["measure"]): float("inf") if m["never"] else m["value"]
            for m in parts["measures"][run_id]
        },
        limits={
            (each["scope"], each["measure"]): (each["bound"], each["met"])
            for each in parts["limits"][run_id]
        },
        **{name: row[name] for name in names},
    )
