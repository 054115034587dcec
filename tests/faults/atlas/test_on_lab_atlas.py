"""What Atlas is asked to do is done to a real replica set by lab-atlas, and put back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from brownout.atlas.client import AtlasClient
from brownout.atlas.sizing import Size, sizes
from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults import debts
from brownout.faults.atlas import maintenance, outage, owed, pause, size
from brownout.faults.atlas.request import Limits
from brownout.faults.atlas.scene import Scene
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster, Guards
from brownout.machine.host import host_for
from brownout.run.events import Event, EventLog, read_events

SOON = Limits(60.0, 90.0)


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


@pytest.fixture
def scene(cluster: Cluster, adapter: Adapter, faults: Faults) -> Scene:
    return Scene(cluster, adapter, faults.changes.making)


def only(log: Path, name: str) -> list[Event]:
    return [event for event in read_events(log) if event.name == name]


def died(cluster: Cluster, adapter: Adapter, log: Path) -> Faults:
    """What `brownout heal` makes of the record of a run that died."""
    owed = debts.left(read_events(log))
    return Faults(cluster, adapter, EventLog(log), lambda t: t, {}, {}, owed)


def test_a_resize_restarts_every_member_and_is_put_back(
    client: AtlasClient, cluster: Cluster, scene: Scene, faults: Faults, log: Path
) -> None:
    evidence = size.resize(scene, Size("M40", 80.0), False, SOON)

    assert set(evidence["lost"]) == {node.address for node in cluster.nodes}
    assert evidence["primaries"]  # one was elected on the way
    assert evidence["evidence"]["began_after_s"] > 0.4
    assert sizes(client.cluster().replication_specs) == [("M40", 80.0)]
    (event,) = only(log, "resize_cluster")
    assert event.arguments == {"to": "M40 with 80 GB"}
    assert event.evidence["finished_after_s"] == evidence["finished_after_s"]
    with pytest.raises(ConfigurationError, match="has M40 with 80 GB already"):
        size.resize(scene, Size("M40"), False, SOON)

    assert faults.put_back() == []

    assert sizes(client.cluster().replication_specs) == [("M30", 40.0)]
    assert debts.left(read_events(log)) == faults.changes.owed == ()


def test_an_outage_cuts_the_primarys_region_off_until_a_run_that_died_is_healed(
    cluster: Cluster, adapter: Adapter, client: AtlasClient, scene: Scene, faults: Faults,
    log: Path,
) -> None:  # fmt: skip
    (primary,) = adapter.targets("primary", 1)

    evidence = outage.start(scene, ["primary"], False, SOON)

    assert evidence["evidence"]["member"] == primary.address
    assert evidence["evidence"]["noticed_after_s"] > 0.5  # it fell silent
    (successor,) = evidence["primaries"]
    assert successor in {node.address for node in cluster.nodes if node != primary}
    assert host_for(primary).running().paused
    assert not faults.settled
    with pytest.raises(Refused, match="an outage is simulated: it is SIMULATING"):
        outage.start(scene, ["LAB_R2"], False, SOON)
    assert [debt.action for debt in owed.found(cluster, ())] == ["end_outage"]
    assert owed.found(cluster, faults.changes.owed) == ()

    assert died(cluster, adapter, log).put_back() == []

    assert client.outage() is None
    assert not host_for(primary).running().paused
    assert debts.left(read_events(log)) == ()
    with pytest.raises(Refused, match="Atlas wants 5 min between two"):
        outage.start(scene, ["LAB_R2"], False, SOON)


def test_what_would_leave_no_majority_or_is_nowhere_is_refused(scene: Scene, log: Path) -> None:
    with pytest.raises(Refused, match=r"1 of 3 members stay: no majority") as caught:
        outage.start(scene, ["LAB_R1", "LAB_R2", "MOON"], False, SOON)

    assert "not in the region MOON; it is in LAB_R1, LAB_R2, LAB_R3" in str(caught.value)
    assert not log.exists()


def test_a_paused_cluster_is_resumed_by_the_rollback(
    cluster: Cluster, client: AtlasClient, scene: Scene, faults: Faults, log: Path
) -> None:
    evidence = pause.pause(scene, SOON)

    assert set(evidence["lost"]) == {node.address for node in cluster.nodes}
    assert client.cluster().paused
    assert not any(host_for(node).running().running for node in cluster.nodes)
    with pytest.raises(Refused, match="the cluster is paused"):
        size.resize(scene, Size("M40"), False, SOON)

    assert faults.put_back() == []

    assert not client.cluster().paused
    (event,) = only(log, "resume_cluster")
    assert event.evidence["members"] == 3
    with pytest.raises(Refused, match="Atlas wants it to run 60 min first"):
        pause.pause(scene, SOON)


@pytest.mark.matrix  # its mechanism is that of a resize
def test_maintenance_restarts_the_members_and_its_window_goes_back(
    client: AtlasClient, cluster: Cluster, scene: Scene, faults: Faults
) -> None:
    with pytest.raises(Refused, match="the project has no maintenance window"):
        maintenance.start(scene, SOON)

    maintenance.set_window(scene, 3, 4)
    assert (client.maintenance().day_of_week, client.maintenance().hour_of_day) == (3, 4)
    evidence = maintenance.start(scene, SOON)

    assert set(evidence["lost"]) == {node.address for node in cluster.nodes}
    assert faults.put_back() == []
    assert client.maintenance().day_of_week == 0


def test_the_inventory_may_deny_what_atlas_would_do(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("outage",))})
    with pytest.raises(Refused, match="the inventory denies outage"):
        outage.start(Scene(denying, adapter, faults.changes.making), ["LAB_R1"], False, SOON)
    assert not log.exists()
