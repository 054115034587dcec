"""The ledger on etcd: it finds what a cluster that was put back has lost, and nothing else."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.inventory.model import Cluster
from brownout.machine.host import host_for

from .conftest import Running

pytestmark = pytest.mark.matrix

GENTLY = "streams.lookups.rate=40,streams.orders.rate=100,streams.orders.ledger_keys=2000"
GENTLY += ",data.keys=500"


def stop(cluster: Cluster) -> None:
    for node in cluster.nodes:
        host_for(node).stop("kill")


def start(load: Running) -> None:
    for node in load.cluster.nodes:
        host_for(node).start()
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
    load.until("the load is well again", load.well)


def data(cluster: Cluster) -> dict[str, Path]:
    found = {}
    for node in cluster.nodes:
        assert node.host is not None
        assert node.host.config_file is not None
        found[node.name] = node.host.config_file.parent / "data"
    return found


@pytest.mark.parametrize("put_back", [True, False])
def test_a_cluster_that_was_put_back_has_lost_what_it_acknowledged_since(
    put_back: bool, running_etcd: Callable[..., Running], tmp_path: Path
) -> None:
    load = running_etcd(GENTLY)
    stop(load.cluster)
    for name, directory in data(load.cluster).items():
        shutil.copytree(directory, tmp_path / "older" / name)
    start(load)
    began = load.lives[-1]["t"]
    load.until("more is acknowledged", lambda: load.lives[-1]["t"] > began + 3)
    stop(load.cluster)
    for name, directory in data(load.cluster).items() if put_back else ():
        shutil.rmtree(directory)
        shutil.copytree(tmp_path / "older" / name, directory)
    start(load)
    load.finish()
    ledger = load.ledger()
    assert ledger.acknowledged > 500
    if put_back:
        assert ledger.state == "lost"
        assert ledger.lost > 100
    else:
        assert ledger.state == "clean"
