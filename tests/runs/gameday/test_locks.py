"""Leases: one game day per cluster, whatever happens to its holder."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest
from tests.runs.history.postgres import PASSWORD, WHY_NOT, postgres

from brownout.base.errors import ConfigurationError, Refused, RunDirectoryError
from brownout.runs.gameday import locks as module
from brownout.runs.gameday.locks import TTL_S, Held, Keeper, Locks, store_url

DAY = Path("/runs/gamedays/day")
TAKE = """
import sys
from pathlib import Path
from brownout.runs.gameday.locks import Locks
Locks().take("shop", Path("/runs/gamedays/other"))
"""


@pytest.fixture
def locks(home: Path) -> Iterator[Locks]:
    found = Locks()
    yield found
    found.close()


def left_by_the_dead(locks: Locks) -> Held:
    """Have another process take the lease and die without letting it go."""
    subprocess.run([sys.executable, "-c", TAKE], check=True)
    (held,) = locks.held()
    return held


def put(locks: Locks, lease: Held, **other: object) -> Held:
    """Change a lease in the database, as another host would have written it."""
    changed = replace(lease, **other)  # type: ignore[arg-type]
    locks._do(lambda c: c.execute(module._of(lease).values(**module._row(changed))))
    return changed


def test_a_second_one_on_the_cluster_is_refused_and_told_who_has_it(locks: Locks) -> None:
    lease, dead = locks.take("shop", DAY)
    assert dead is None
    with pytest.raises(Refused, match=rf"process {os.getpid()} on host .*{DAY}"):
        locks.take("shop", DAY)
    locks.take("other", DAY)
    locks.release(lease)
    assert locks.take("shop", DAY)[1] is None


def test_a_lease_of_a_dead_process_is_taken_over_at_once(locks: Locks) -> None:
    left = left_by_the_dead(locks)
    assert left.state(locks.now()) == "died"
    lease, dead = locks.take("shop", DAY)
    assert dead == left
    assert locks.held() == [lease]


def test_a_lease_of_another_host_holds_until_it_expires(locks: Locks) -> None:
    left = put(locks, left_by_the_dead(locks), place="elsewhere", host="db9")
    assert left.state(locks.now()) == "goes on"
    with pytest.raises(Refused, match="on host db9"):
        locks.take("shop", DAY)
    put(locks, left, expires=locks.now() - 1)
    assert locks.take("shop", DAY)[1] is not None


def test_a_lease_that_was_lost_is_neither_renewed_nor_let_go(locks: Locks) -> None:
    lease, _ = locks.take("shop", DAY)
    put(locks, lease, token="somebody else's")
    assert not locks.renew(lease)
    locks.release(lease)
    assert len(locks.held()) == 1


def test_the_keeper_renews_and_hears_the_kill_switch(
    locks: Locks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    monkeypatch.setattr(module, "RENEW_S", 0.0)
    lease, _ = locks.take("shop", DAY)
    lease = put(locks, lease, expires=0.0)
    heard, told = threading.Event(), []

    def hear(reason: str) -> None:
        told.append(reason)
        heard.set()

    keeper = Keeper(locks, lease, hear)
    try:
        locks.ask_to_stop(lease, "the pager rang")
        assert heard.wait(20)
    finally:
        keeper.close()
    assert told == ["the pager rang"]
    (held,) = locks.held()
    assert held.expires > locks.now() + TTL_S / 2


def test_the_keeper_says_when_its_lease_is_somebody_elses(
    locks: Locks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    monkeypatch.setattr(module, "RENEW_S", 0.0)
    lease, _ = locks.take("shop", DAY)
    put(locks, lease, token="somebody else's")
    heard = threading.Event()
    keeper = Keeper(locks, lease, lambda reason: heard.set() if "taken over" in reason else None)
    try:
        assert heard.wait(20)
    finally:
        keeper.close()


def test_a_database_that_cannot_be_used_is_said_without_its_password(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="BROWNOUT_GAMEDAYS: no database"):
        Locks("nonsense")
    (home / "file").write_text("no database")
    with pytest.raises(RunDirectoryError, match="cannot be used"):
        Locks(f"sqlite:///{home / 'file'}")


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
        here, there = Locks(url), Locks(url)
        lease, _ = here.take("shop", DAY)
        with pytest.raises(Refused, match="a game day on cluster `shop` goes on"):
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
        Locks(url)
    assert PASSWORD not in str(gone.value)
    assert password not in str(gone.value)


def test_a_history_on_a_server_holds_the_leases_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWNOUT_GAMEDAYS", raising=False)
    monkeypatch.setenv("BROWNOUT_HISTORY", "postgresql://brownout:word@db/brownout")
    assert store_url() == "postgresql+psycopg://brownout:word@db/brownout"
    monkeypatch.setenv("BROWNOUT_HISTORY", "off")
    assert store_url().startswith("sqlite:///")
