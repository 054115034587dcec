"""What Atlas is asked to do is done to a real replica set by lab-atlas, and put back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.wording import mentions, naming

from brownout.atlas.client import AtlasClient
from brownout.atlas.sizes import sizes
from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults import heal, undos
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster, Guards
from brownout.machine.host import host_for
from brownout.run.events import Event, EventLog, read_events

SOON = {"begins_within_s": 60.0, "done_within_s": 90.0}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A lab-atlas that begins soon after it was asked."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", str(tmp_path_factory.mktemp("managed")))
        declared = inventory.declared("lab-atlas")
        assert declared.lab is not None
        spec = declared.lab.model_copy(update={"begins_after_s": 0.5})
        try:
            yield lab.up(declared.model_copy(update={"lab": spec}))
        finally:
            lab.down("lab-atlas")


@pytest.fixture
def client(cluster: Cluster) -> Iterator[AtlasClient]:
    assert cluster.atlas is not None
    with AtlasClient(cluster.atlas) as made:
        yield made


def only(log: Path, name: str) -> list[Event]:
    return [event for event in read_events(log) if event.name == name]


def died(cluster: Cluster, adapter: Adapter, log: Path) -> Faults:
    """What `brownout heal` makes of the record of a run that died."""
    pending = undos.left(read_events(log))
    return Faults(cluster, adapter, EventLog(log), lambda t: t, pending)


def test_a_resize_restarts_every_member_and_is_put_back(
    client: AtlasClient, cluster: Cluster, faults: Faults, log: Path
) -> None:
    evidence = faults.run("resize_cluster", tier="M40", disk_gb=80.0, **SOON)

    assert set(evidence["lost"]) == {node.address for node in cluster.nodes}
    assert evidence["primaries"]  # one was elected on the way
    assert evidence["evidence"]["began_after_s"] > 0.4
    assert sizes(client.cluster().replication_specs) == [("M40", 80.0)]
    (event,) = only(log, "resize_cluster")
    assert event.arguments == {"to": "M40 with 80 GB"}
    assert event.evidence["finished_after_s"] == evidence["finished_after_s"]
    with pytest.raises(ConfigurationError, match="has M40 with 80 GB already"):
        faults.run("resize_cluster", tier="M40", **SOON)

    assert faults.put_back() == []

    assert sizes(client.cluster().replication_specs) == [("M30", 40.0)]
    assert undos.left(read_events(log)) == faults.pending == ()


def test_an_outage_cuts_the_primarys_region_off_until_a_run_that_died_is_healed(
    cluster: Cluster, adapter: Adapter, client: AtlasClient, faults: Faults,
    log: Path,
) -> None:  # fmt: skip
    (primary,) = adapter.targets("primary", 1)

    evidence = faults.run("start_outage", regions="primary", **SOON)

    assert evidence["evidence"]["member"] == primary.address
    assert evidence["evidence"]["noticed_after_s"] > 0.5  # it fell silent
    (successor,) = evidence["primaries"]
    assert successor in {node.address for node in cluster.nodes if node != primary}
    assert host_for(primary).running().paused
    assert not faults.settled
    with pytest.raises(Refused, match="SIMULATING"):
        faults.run("start_outage", regions="LAB_R2", **SOON)
    assert [each.action for each in heal.also_broken(cluster, ())] == ["end_outage"]
    assert heal.also_broken(cluster, faults.pending) == ()

    assert died(cluster, adapter, log).put_back() == []

    assert client.outage() is None
    assert not host_for(primary).running().paused
    assert undos.left(read_events(log)) == ()
    with pytest.raises(Refused, match="Atlas wants 5 min between two"):
        faults.run("start_outage", regions="LAB_R2", **SOON)


def test_what_would_leave_no_majority_or_is_nowhere_is_refused(faults: Faults, log: Path) -> None:
    with pytest.raises(Refused, match=naming("LAB_R1", "1 of 3")) as caught:
        faults.run("start_outage", regions="LAB_R1, LAB_R2, MOON", **SOON)

    assert mentions(str(caught.value), "MOON", "LAB_R1, LAB_R2, LAB_R3")
    assert not log.exists()


def test_a_paused_cluster_is_resumed_by_the_rollback(
    cluster: Cluster, client: AtlasClient, faults: Faults, log: Path
) -> None:
    evidence = faults.run("pause_cluster", **SOON)

    assert set(evidence["lost"]) == {node.address for node in cluster.nodes}
    assert client.cluster().paused
    assert not any(host_for(node).running().running for node in cluster.nodes)
    with pytest.raises(Refused, match="paused"):
        faults.run("resize_cluster", tier="M40", **SOON)

    assert faults.put_back() == []

    assert not client.cluster().paused
    (event,) = only(log, "resume_cluster")
    assert event.evidence["members"] == 3
    with pytest.raises(Refused, match="60 min"):
        faults.run("pause_cluster", **SOON)


@pytest.mark.matrix  # its mechanism is that of a resize
def test_maintenance_restarts_the_members_and_its_window_goes_back(
    client: AtlasClient, cluster: Cluster, faults: Faults
) -> None:
    with pytest.raises(Refused, match="the project has no maintenance window"):
        faults.run("start_maintenance", **SOON)

    faults.run("set_maintenance_window", day_of_week=3, hour_of_day=4)
    assert (client.maintenance().day_of_week, client.maintenance().hour_of_day) == (3, 4)
    evidence = faults.run("start_maintenance", **SOON)

    assert set(evidence["lost"]) == {node.address for node in cluster.nodes}
    assert faults.put_back() == []
    assert client.maintenance().day_of_week == 0


def test_the_inventory_may_deny_what_atlas_would_do(
    cluster: Cluster, adapter: Adapter, log: Path
) -> None:
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("outage",))})
    with pytest.raises(Refused, match="the inventory denies outage"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run(
            "start_outage", regions="LAB_R1", **SOON
        )
    assert not log.exists()
