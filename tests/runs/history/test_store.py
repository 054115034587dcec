"""The history on a real SQLite and a real PostgreSQL: what was put in comes out again."""

import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import create_engine, text
from tests.run_builder import RunScript, build_run
from tests.runs.history.postgres import PASSWORD, WHY_NOT, postgres

from brownout.base.errors import ConfigurationError
from brownout.measure.document import document_of
from brownout.run.directory import RunDirectory
from brownout.runs.database import Place
from brownout.runs.history.place import find
from brownout.runs.history.recording import record
from brownout.runs.history.store import HistoryError, Store

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
        engine = create_engine(found.url)
        with engine.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        engine.dispose()
    assert found is not None
    return found


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
    engine = create_engine(place.url)
    with engine.connect() as connection:  # as people's own queries see it
        rows = connection.execute(
            text("SELECT scope, measure, value, never FROM brownout_measures")
        )
        measured = {(scope, name): (value, bool(never)) for scope, name, value, never in rows}
        limits = connection.execute(text("SELECT scope, measure, bound, met FROM brownout_limits"))
        assert [(*row[:3], bool(row[3])) for row in limits] == [("total", "blackout", 0.5, False)]
        server = "SELECT version FROM brownout_versions WHERE name = 'server'"
        assert connection.execute(text(server)).scalar() == "mongod 6.0.5"
    engine.dispose()
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
    engine = create_engine(place.url)
    with engine.begin() as connection:
        change = text("UPDATE brownout_impacts SET impact = :to WHERE run_id = :of")
        connection.execute(change, {"to": damaged, "of": run.run_id})
    engine.dispose()
    with Store(place) as store:
        assert [kept.run_id for kept in store.runs()] == ["other"]
    assert f"left out: run {run.run_id}: is no impact" in caplog.text


def test_a_later_layout_is_left_alone(place: Place, run: RunDirectory) -> None:
    record(run, place)
    engine = create_engine(place.url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE brownout_layout SET schema = 9"))
    engine.dispose()
    with pytest.raises(HistoryError, match="layout 9, this brownout knows 1"):
        record(run, place)


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
    assert found.url.database == str(tmp_path / "history.sqlite")
    monkeypatch.setenv("BROWNOUT_HISTORY", "off")
    assert find() is None
