"""The history on a real SQLite and a real PostgreSQL: what was put in comes out again."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.run_builder import RunScript, build_run
from tests.runs.history.postgres import PASSWORD, WHY_NOT, postgres

from brownout.base.errors import ConfigurationError
from brownout.measure.document import document_of
from brownout.run.directory import RunDirectory
from brownout.runs.database import Database, Place
from brownout.runs.gameday.leases import Leases
from brownout.runs.history.place import find
from brownout.runs.history.record import record
from brownout.runs.history.store import HistoryError, Store

BY_SQLALCHEMY = Path(__file__).parent / "by_sqlalchemy"
LIMITS = ({"measure": "blackout", "limit": 0.5, "scope": "total", "why": "users leave"},)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    # Another user has to reach it, and sockets have short paths: not below pytest's own folder.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with postgres(Path(folder) / "pg") as port:
            yield port


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty history."""
    if request.param == "sqlite":
        found = find(str(tmp_path / "history.sqlite"))
    else:
        port = request.getfixturevalue("port")
        found = find(f"postgresql://brownout:{quote(PASSWORD, '')}@127.0.0.1:{port}/postgres")
        assert found is not None
        ask(found, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    assert found is not None
    return found


def ask(place: Place, *statements: str) -> list[tuple[Any, ...]]:
    """Have a driver carry out people's own statements; return the rows of the last."""
    if place.file is not None:
        connection: Any = sqlite3.connect(place.file)
    else:
        connection = pytest.importorskip("psycopg").connect(**place.options)
    with closing(connection):
        for statement in statements:
            cursor = connection.execute(statement)
        rows = cursor.fetchall() if cursor.description else []
        connection.commit()
    return list(rows)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    root = tmp_path_factory.mktemp("run")
    never = {"rejoined_at": None, "redundant_at": None}
    return RunDirectory.open(build_run(root, RunScript(duration_s=45, limits=LIMITS, **never)))  # type: ignore[arg-type]


def test_a_run_comes_out_as_it_went_in(place: Place, run: RunDirectory) -> None:
    record(run, place, "game day 7")
    impact = json.loads(run.impact.read_text())
    with Store(place) as store:
        (kept,) = store.runs()
    assert document_of(kept.impact) == impact
    fault = impact["faults"][0]
    assert (kept.scenario, kept.cluster, kept.verdict) == ("node-kill", "lab-mongodb", "fail")
    assert kept.began.isoformat() == "2026-11-22T10:15:00+00:00"
    assert kept.value("recovery_time") == fault["recovery_time"]
    assert kept.value("redundancy_time") == float("inf")
    assert (kept.occasion, kept.path) == ("game day 7", run.path.absolute())
    rows = ask(place, "SELECT scope, measure, value, never FROM brownout_measures")
    measured = {(scope, name): (value, bool(never)) for scope, name, value, never in rows}
    limits = ask(place, "SELECT scope, measure, bound, met FROM brownout_limits")
    assert [(*row[:3], bool(row[3])) for row in limits] == [("total", "blackout", 0.5, False)]
    server = "SELECT version FROM brownout_versions WHERE name = 'server'"
    assert ask(place, server) == [("mongod 6.0.5",)]
    assert measured["write", "blackout"] == (fault["scopes"]["write"]["blackout"], False)
    assert measured["total", "redundancy_time"] == (None, True)
    assert ("total", "rebalance_time") not in measured


def test_a_run_that_is_put_in_again_takes_its_own_place(place: Place, run: RunDirectory) -> None:
    for _ in range(2):
        record(run, place)
    with Store(place) as store:
        assert len(store.runs()) == 1


def test_many_may_write_the_first_run_at_once(place: Place, tmp_path: Path) -> None:
    names = [f"20261122T10{n:02}00Z-node-kill-{n}" for n in range(4)]
    runs = [RunDirectory.open(build_run(tmp_path, RunScript(name=n, duration_s=45, rate=100)))
            for n in names]  # fmt: skip
    with ThreadPoolExecutor(4) as several:
        list(several.map(lambda each: record(each, place), runs))
    with Store(place) as store:
        assert [kept.run_id for kept in store.runs()] == names
        assert [kept.run_id for kept in store.runs(last=2)] == names[2:]
        assert store.runs(scenario="node-wipe") == store.runs(cluster="staging") == ()


def test_a_run_that_cannot_be_read_is_left_out_and_named(
    place: Place, run: RunDirectory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = RunDirectory.open(build_run(tmp_path, RunScript(name="other", duration_s=45, rate=100)))
    record(run, place)
    record(other, place)
    damaged = json.dumps(
        {**json.loads(run.impact.read_text()), "faults": [{"rejoin_time": "soon"}]}
    )
    text = damaged.replace("'", "''")
    ask(place, f"UPDATE brownout_impacts SET impact = '{text}' WHERE run_id = '{run.run_id}'")
    with Store(place) as store:
        assert [kept.run_id for kept in store.runs()] == ["other"]
    assert f"left out: run {run.run_id}: not an impact" in caplog.text


def test_a_run_that_is_not_even_json_is_left_out_too(
    run: RunDirectory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = find(str(tmp_path / "history.sqlite"))
    assert place is not None
    record(run, place)
    ask(place, "UPDATE brownout_impacts SET impact = '{\"verd'")
    with Store(place) as store:
        assert store.runs() == ()
    assert f"left out: run {run.run_id}: not an impact" in caplog.text


def test_a_later_layout_is_left_alone(place: Place, run: RunDirectory) -> None:
    record(run, place)
    ask(place, "UPDATE brownout_layout SET schema = 9")
    with pytest.raises(HistoryError, match="layout 9, this brownout knows 1"):
        record(run, place)


def put_in_by_sqlalchemy(place: Place) -> None:
    if place.file is None:
        ask(place, (BY_SQLALCHEMY / "postgresql.sql").read_text())
        return
    with closing(sqlite3.connect(place.file)) as connection:
        connection.executescript((BY_SQLALCHEMY / "sqlite.sql").read_text())


def test_what_sqlalchemy_wrote_is_read_and_added_to(
    place: Place, run: RunDirectory, tmp_path: Path
) -> None:
    put_in_by_sqlalchemy(place)
    with Store(place) as store:
        (kept,) = store.runs(scenario="node-kill", cluster="lab-mongodb")
    assert (kept.run_id, kept.verdict, kept.occasion) == (run.run_id, "fail", "game day 7")
    assert (kept.began, kept.path) == (datetime(2026, 11, 22, 10, 15, tzinfo=UTC), Path("/a/run"))
    assert (kept.value("recovery_time"), kept.value("redundancy_time")) == (2.948, float("inf"))

    other = RunDirectory.open(build_run(tmp_path, RunScript(name="other", duration_s=45, rate=100)))
    whole = "SELECT * FROM brownout_runs ORDER BY run_id"
    part = f"SELECT run_id, began, stand_in, seed, verdict, occasion FROM ({whole}) AS runs"
    (before_whole,), (before,) = ask(place, whole), ask(place, part)
    record(run, place, "game day 7")
    record(other, place, "game day 8")
    assert ask(place, part)[0] == before
    for row in ask(place, whole):
        assert [type(value) for value in row] == [type(value) for value in before_whole]
    with Store(place) as store:
        assert [kept.run_id for kept in store.runs()] == [run.run_id, "other"]


def test_leases_that_sqlalchemy_wrote_are_read_and_taken_over(place: Place) -> None:
    put_in_by_sqlalchemy(place)
    with Leases(place) as leases:
        (held,) = leases.held()
        assert (held.cluster, held.host, held.expires) == ("shop", "db9", 1795342500.25)
        assert leases.renew(held)
        ask(place, "UPDATE gameday_leases SET expires = 815.5")
        lease, dead = leases.take("shop", Path("/runs/gamedays/day"))
        assert dead is not None
        assert (dead.token, leases.held()) == (held.token, [lease])


def described(place: Place) -> dict[str, list[tuple[Any, ...]]]:
    """Return the columns, keys and indexes of every table, however they were written down."""
    if place.file is None:
        found = {
            "columns": "table_name, column_name, ordinal_position, data_type, is_nullable, "
                       "character_maximum_length, column_default "
                       "FROM information_schema.columns WHERE table_schema = 'public'",
            "keys": "conrelid::regclass::text, conname, pg_get_constraintdef(oid) "
                    "FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
            "indexes": "tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        }  # fmt: skip
    else:
        found = {
            f"{what} of {table}": f"* FROM pragma_{what}('{table}')"
            for (table,) in ask(place, "SELECT name FROM sqlite_master")
            for what in ("table_info", "foreign_key_list", "index_info")
        }
    return {name: ask(place, f"SELECT {what} ORDER BY 1, 2") for name, what in found.items()}


def test_tables_are_those_that_sqlalchemy_made(place: Place) -> None:
    put_in_by_sqlalchemy(place)
    by_sqlalchemy = described(place)
    if place.file is None:
        ask(place, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    else:
        place.file.unlink()
    with Store(place), Leases(place):
        assert described(place) == by_sqlalchemy


def _fail(database: Database) -> None:
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE half (a INTEGER)")
        lacks_most = "INSERT INTO gameday_leases (cluster) VALUES (:name)"
        transaction.execute(lacks_most, {"name": "shop"})


def test_an_error_undoes_a_transaction_and_the_next_one_goes_on(place: Place) -> None:
    with Leases(place):
        pass
    with closing(Database(place, "leases", HistoryError, "")) as database:
        with pytest.raises(HistoryError, match="cannot be used"):
            _fail(database)
        with database.transaction() as whole:
            whole.execute("CREATE TABLE half (a INTEGER)")


def test_threads_share_a_database(place: Place, run: RunDirectory) -> None:
    record(run, place)
    with Store(place) as store, ThreadPoolExecutor(4) as several:
        found = list(several.map(lambda _: len(store.runs()), range(40)))
    assert found == [1] * 40


def test_a_connection_that_the_server_dropped_is_made_anew(port: int) -> None:
    place = find(f"postgresql://brownout:{quote(PASSWORD, '')}@127.0.0.1:{port}/postgres")
    assert place is not None
    with Leases(place) as leases:
        leases.held()
        others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
        dropped = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}"
        assert ask(place, dropped) == [(True,)]
        leases.held()


def test_a_wrong_password_is_said_and_not_shown(port: int, run: RunDirectory) -> None:
    place = find(f"postgresql://brownout:hunter22@127.0.0.1:{port}/postgres")
    assert place is not None
    with pytest.raises(HistoryError) as raised:
        record(run, place)
    assert "password authentication failed" in str(raised.value)
    assert "hunter22" not in f"{raised.value}{raised.value.__cause__}{place.words}{place!r}"


def test_a_server_that_is_not_there_is_said(run: RunDirectory) -> None:
    place = find("postgresql://brownout:hunter22@127.0.0.1:1/postgres?sslpassword=hunter23")
    assert place is not None
    with pytest.raises(HistoryError) as raised:
        record(run, place)
    assert "hunter2" not in f"{raised.value}{place.words}"


def test_a_file_that_is_no_database_is_said(tmp_path: Path, run: RunDirectory) -> None:
    (tmp_path / "history.sqlite").write_text("not a database, " * 100)
    place = find(str(tmp_path / "history.sqlite"))
    assert place is not None
    with pytest.raises(HistoryError, match="file is not a database"):
        record(run, place)


@pytest.mark.parametrize(
    "wrong", ["mysql://u:hunter2@h/d", "postgresql://u:hunter2@h:port/d", "sqlite://"]
)
def test_a_url_that_is_none_is_refused_without_being_repeated(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="BROWNOUT_HISTORY: wanted a file") as raised:
        find(wrong)
    assert "hunter2" not in str(raised.value)


def test_it_can_be_switched_off_and_is_in_the_state_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path))
    monkeypatch.delenv("BROWNOUT_HISTORY", raising=False)
    found = find()
    assert found is not None
    assert found.file == tmp_path / "history.sqlite"
    monkeypatch.setenv("BROWNOUT_HISTORY", "off")
    assert find() is None
