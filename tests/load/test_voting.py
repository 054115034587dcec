"""Votes on real servers: after the load the total, the choices and the voters' records agree."""

from pathlib import Path

import pytest
from tests.load.conftest import Running

from brownout.inventory.model import Cluster


@pytest.mark.parametrize(
    ("lab", "name", "rate"),
    [
        pytest.param("lab_redis", "voting", 100, marks=pytest.mark.matrix),
        pytest.param("lab_postgresql", "voting", 100, marks=pytest.mark.matrix),
        # Many writers of one counter get in each other's way there (docs/etcd.md).
        pytest.param("lab_etcd", "voting:sharded", 20, marks=pytest.mark.matrix),
    ],
)
def test_every_vote_is_one_record_and_is_counted_in_the_total_and_for_its_choice(
    request: pytest.FixtureRequest, tmp_path: Path, lab: str, name: str, rate: int
) -> None:
    cluster: Cluster = request.getfixturevalue(lab)
    changes = f"streams.votes.rate={rate},streams.votes.deadline_s=10"
    running = Running(cluster, tmp_path / "run", changes, name)
    try:
        running.start()
        running.until("some seconds passed", lambda: running.lives[-1]["t"] > 3)
        stopped = running.generator.stop()
        running.generator.verify()
        running.generator.clean()
        ledger = running.ledger()
    finally:
        running.close()
    assert ledger.state == "clean", ledger.detail
    (balance,) = ledger.balances
    assert stopped["ok"] > 0
    for side in ("total", "choices", "records"):
        counted = balance[side]
        assert counted["found"] >= stopped["ok"]
        assert 0 <= counted["found"] - counted["acked"] <= counted["in_doubt"]
