"""Leases: one game day per cluster, whatever happens to its holder."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest
from tests.runs.history.postgres import PASSWORD, WHY_NOT, postgres

from brownout.base.errors import ConfigurationError, Refused, RunDirectoryError
from brownout.runs.database import place_of
from brownout.runs.gameday import leases as module
from brownout.runs.gameday.leases import TTL_S, Keeper, Lease, Leases, find

DAY = Path("/runs/gamedays/day")
TAKE = """
import sys
from pathlib import Path
from brownout.runs.gameday.leases import Leases
Leases().take("shop", Path("/runs/gamedays/other"))
"""


@pytest.fixture
def leases(home: Path) -> Iterator[Leases]:
    found = Leases()
    yield found
    found.close()


def left_by_the_dead(leases: Leases) -> Lease:
    """Have another process take the lease and die without letting it go."""
    subprocess.run([sys.executable, "-c", TAKE], check=True)
    (held,) = leases.held()
    return held


def put(leases: Leases, lease: Lease, **other: object) -> Lease:
    """Change a lease in the database, as another host would have written it."""
    changed = replace(lease, **other)  # type: ignore[arg-type]
    changes = ", ".join(f"{name} = :{name}" for name in asdict(changed))
    update = f"UPDATE gameday_leases SET {changes} WHERE token = :before"
    assert leases._change(update, before=lease.token, **asdict(changed))
    return changed


def test_a_second_one_on_the_cluster_is_refused_and_told_who_has_it(leases: Leases) -> None:
    lease, dead = leases.take("shop", DAY)
    assert dead is None
    with pytest.raises(Refused, match=rf"process {os.getpid()} on host .*{DAY}"):
        leases.take("shop", DAY)
    leases.take("other", DAY)
    leases.release(lease)
    assert leases.take("shop", DAY)[1] is None


def test_a_lease_of_a_dead_process_is_taken_over_at_once(leases: Leases) -> None:
    left = left_by_the_dead(leases)
    assert left.state(leases.now()) == "died"
    lease, dead = leases.take("shop", DAY)
    assert dead == left
    assert leases.held() == [lease]


def test_a_lease_of_another_host_holds_until_it_expires(leases: Leases) -> None:
    left = put(leases, left_by_the_dead(leases), place="elsewhere", host="db9")
    assert left.state(leases.now()) == "running"
    with pytest.raises(Refused, match="on host db9"):
        leases.take("shop", DAY)
    put(leases, left, expires=leases.now() - 1)
    assert leases.take("shop", DAY)[1] is not None


def test_a_lease_that_was_lost_is_neither_renewed_nor_let_go(leases: Leases) -> None:
    lease, _ = leases.take("shop", DAY)
    put(leases, lease, token="somebody else's")
    assert not leases.renew(lease)
    leases.release(lease)
    assert len(leases.held()) == 1


def test_the_keeper_renews_and_hears_the_kill_switch(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    monkeypatch.setattr(module, "RENEW_S", 0.0)
    lease, _ = leases.take("shop", DAY)
    lease = put(leases, lease, expires=0.0)
    heard, told = threading.Event(), []

    def hear(reason: str) -> None:
        told.append(reason)
        heard.set()

    keeper = Keeper(leases, lease, hear)
    try:
        leases.ask_to_stop(lease, "the pager rang")
        assert heard.wait(20)
    finally:
        keeper.close()
    assert told == ["the pager rang"]
    (held,) = leases.held()
    assert held.expires > leases.now() + TTL_S / 2


def test_the_keeper_says_when_its_lease_is_somebody_elses(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    monkeypatch.setattr(module, "RENEW_S", 0.0)
    lease, _ = leases.take("shop", DAY)
    put(leases, lease, token="somebody else's")
    heard = threading.Event()
    keeper = Keeper(leases, lease, lambda reason: heard.set() if "taken over" in reason else None)
    try:
        assert heard.wait(20)
    finally:
        keeper.close()


def test_a_database_that_cannot_be_used_is_said_without_its_password(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_GAMEDAYS", "mysql://u:hunter2@h/d")
    with pytest.raises(ConfigurationError, match="BROWNOUT_GAMEDAYS: wanted a file") as raised:
        Leases()
    assert "hunter2" not in str(raised.value)
    (home / "file").write_text("no database")
    with pytest.raises(RunDirectoryError, match="cannot be used"):
        Leases(place_of(str(home / "file"), "BROWNOUT_GAMEDAYS"))


@pytest.mark.parametrize(
    "given", ["off", "db1/brownout", "sqlite:///gamedays.db", "host=db password=hunter2"]
)
def test_what_other_game_days_would_not_find_is_refused(
    given: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWNOUT_GAMEDAYS", given)
    with pytest.raises(ConfigurationError, match="BROWNOUT_GAMEDAYS: wanted a file") as raised:
        Leases()
    assert "hunter2" not in str(raised.value)
    assert list(tmp_path.rglob("*hunter2*")) == list(tmp_path.rglob("brownout")) == []


def test_many_may_make_the_leases_at_once(home: Path) -> None:
    def take(number: int) -> None:
        with Leases() as leases:
            leases.take(f"cluster-{number}", DAY)

    with ThreadPoolExecutor(6) as several:
        list(several.map(take, range(6)))
    with Leases() as leases:
        assert len(leases.held()) == 6


def test_a_lease_that_is_renewed_at_the_last_moment_is_not_taken_over(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease, _ = leases.take("shop", DAY)
    expired = put(leases, lease, place="another machine", expires=leases.now() - 1.0)
    now = leases.now

    def renewed_meanwhile() -> float:
        monkeypatch.setattr(leases, "now", now)
        assert leases.renew(expired)
        return now()

    monkeypatch.setattr(leases, "_mine", partial(mine_of, leases._mine("shop", DAY)))
    monkeypatch.setattr(leases, "now", renewed_meanwhile)
    with pytest.raises(Refused, match="in progress"):
        leases.take("shop", DAY)
    (held,) = leases.held()
    assert held.token == lease.token


def mine_of(lease: Lease, *_: object) -> Lease:
    return lease


def _open_to_all(folder: str) -> Path:
    path = Path(folder)
    path.chmod(0o755)
    return path


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_hosts_that_share_a_postgresql_share_leases_clock_and_kill_switch() -> None:
    # Not below tmp_path, into which only this user may look: the server may be another.
    with TemporaryDirectory() as folder, postgres(_open_to_all(folder) / "server") as port:
        password = quote(PASSWORD, safe="")
        url = f"postgresql+psycopg://brownout:{password}@127.0.0.1:{port}/postgres"
        place = place_of(url, "BROWNOUT_GAMEDAYS")
        here, there = Leases(place), Leases(place)
        lease, _ = here.take("shop", DAY)
        with pytest.raises(Refused, match="a game day is in progress on cluster `shop`"):
            there.take("shop", DAY)
        there.ask_to_stop(lease, "the pager rang")
        assert here.asked_to_stop(lease) == "the pager rang"
        assert here.renew(lease)
        put(here, lease, place="elsewhere", expires=there.now() - 1)
        assert there.take("shop", DAY)[1] is not None
        assert not here.renew(lease)
        here.close()
        there.close()
    with pytest.raises(RunDirectoryError, match="cannot be used") as gone:
        Leases(place)
    assert PASSWORD not in str(gone.value)
    assert password not in str(gone.value)


def test_a_history_on_a_server_holds_the_leases_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWNOUT_GAMEDAYS", raising=False)
    monkeypatch.setenv("BROWNOUT_HISTORY", "postgresql://brownout:word@db/brownout")
    login = {"user": "brownout", "password": "word"}
    assert find().options == {"host": "db", "dbname": "brownout", **login}
    monkeypatch.setenv("BROWNOUT_HISTORY", "off")
    assert not find().is_server
