"""The voting benchmark while a node dies: no vote is lost, and the sums tell which are in doubt."""

from pathlib import Path

import pytest
from tests.load.conftest import Running
from tests.waiting import await_true

from brownout.databases.start import start
from brownout.inventory.model import Cluster

pytestmark = [pytest.mark.matrix, pytest.mark.quiet, pytest.mark.timeout(1200)]

GENTLY = "streams.votes.rate=30"
#: An asynchronous replica that is promoted may lack some votes: its control is in another file.
LABS = ("lab_mongodb", "lab_etcd", "lab_cassandra")


def counted(load: Running) -> int:
    """How many votes succeeded so far."""
    return sum(row[4] for live in load.lives for row in live["series"])


@pytest.mark.parametrize("through", ["http", "driver"])
@pytest.mark.parametrize("lab", LABS)
def test_every_vote_that_counted_is_there_after_a_node_died(
    lab: str, through: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    cluster: Cluster = request.getfixturevalue(lab)
    changes = f"{GENTLY},streams.votes.vote.through={through}"
    load = Running(cluster, tmp_path / "run", changes, "voting")
    try:
        load.start()
        load.until("a hundred votes counted", lambda: counted(load) > 100)
        node, host = load.primary()
        host.stop("kill")
        start(node, host, load.adapter, emptied=False)
        await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole", 600)
        load.until("the load is well again", load.well)
        load.finish()
        (balance,) = load.ledger().balances
        print(load.ledger().detail, balance)  # `pytest -rP` shows it
        assert load.ledger().state == "clean"
        assert balance["records"]["acked"] > 100
        for side in ("total", "choices", "records"):
            found, acked = balance[side]["found"], balance[side]["acked"]
            assert acked <= found <= acked + balance[side]["in_doubt"]
    finally:
        load.close()
