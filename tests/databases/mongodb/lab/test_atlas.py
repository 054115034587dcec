"""lab-atlas: a local Administration API whose work is done to a real replica set."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.atlas.schemas import check_answer
from tests.waiting import await_true

from brownout.atlas.client import AtlasClient
from brownout.atlas.errors import AtlasError
from brownout.atlas.sizes import Size, resized, sizes
from brownout.databases.adapter import adapter_for
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for

LAB = "lab-atlas"
_WITHIN_S = 90.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("atlas")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", str(directory))
        environment.delenv("BROWNOUT_CLUSTERS", raising=False)
        declared = inventory.declared(LAB)
        assert declared.lab is not None
        spec = declared.lab.model_copy(update={"begins_after_s": 1.0})
        try:
            lab.up(declared.model_copy(update={"lab": spec}))
            yield lab.up(LAB)  # as every later command reads it
        finally:
            lab.down(LAB)


@pytest.fixture
def client(cluster: Cluster) -> Iterator[AtlasClient]:
    """A client whose answers are all held against the documentation."""
    assert cluster.atlas is not None
    wrong: list[str] = []

    def check(response: httpx.Response) -> None:
        response.read()
        asked = response.request
        if asked.url.path != "/api/oauth/token":
            body = response.json() if response.content else None
            found = check_answer(asked.method, asked.url.path, response.status_code, body)
            wrong.extend(found)

    with AtlasClient(cluster.atlas) as made:
        made._http.event_hooks = {"response": [check]}
        yield made
    assert wrong == []


def started(cluster: Cluster) -> dict[str, Any]:
    """The process of each member; another one after a restart."""
    return {node.name: host_for(node).running().pid for node in cluster.nodes}


def primary(cluster: Cluster) -> str:
    adapter = adapter_for(cluster)
    try:
        return next((m.node for m in adapter.members() if m.role == "primary"), "")
    finally:
        adapter.close()


def applied(client: AtlasClient) -> bool:
    return client.status().change_status == "APPLIED"


def code_of(ask: Callable[[], object]) -> str:
    with pytest.raises(AtlasError) as caught:
        ask()
    return f"{caught.value.status} {caught.value.code}"


def test_it_says_in_every_answer_that_it_is_not_atlas(cluster: Cluster) -> None:
    assert cluster.atlas is not None
    with urllib.request.urlopen(f"{cluster.atlas.base_url}/idle") as found:
        assert found.headers["X-Brownout"].endswith("not MongoDB Atlas")
        assert json.load(found) == {"idle": True}


def test_its_login_is_only_referred_to_in_the_inventory(cluster: Cluster) -> None:
    node = cluster.nodes[0].host
    assert node is not None
    assert node.config_file is not None
    written = Path(node.config_file).parent.parent / "inventory.yaml"
    assert cluster.atlas is not None
    for secret in cluster.atlas.secrets():
        assert secret not in written.read_text(encoding="utf-8")


@pytest.mark.matrix  # in CI an experiment does it, under load
def test_a_failover_test_restarts_the_real_primary_and_another_one_is_elected(
    cluster: Cluster, client: AtlasClient
) -> None:
    before, was_primary = started(cluster), primary(cluster)

    client.restart_primaries()

    assert started(cluster) == before  # it is answered before it begins
    assert client.status().change_status == "PENDING"
    assert code_of(client.restart_primaries) == "409 CHANGE_IN_PROGRESS"
    await_true(lambda: applied(client))
    after = started(cluster)
    assert [name for name in after if after[name] != before[name]] == [was_primary]
    assert primary(cluster) not in ("", was_primary)
    roles = {process.user_alias: process.type_name for process in client.processes()}
    assert roles[primary(cluster)] == "REPLICA_PRIMARY"
    assert roles[was_primary] == "REPLICA_SECONDARY"
    assert client.events("2026-01-01T00:00:00Z")[0].event_type_name == "PRIMARY_ELECTED"


@pytest.mark.matrix
def test_a_resize_restarts_every_member_and_then_says_the_new_size(
    cluster: Cluster, client: AtlasClient
) -> None:
    before, was_primary = started(cluster), primary(cluster)
    found = client.cluster()
    assert sizes(found.replication_specs) == [("M30", 40.0)]

    client.change(resized(found.replication_specs, Size("M40", 80.0)))

    assert client.cluster().state_name == "UPDATING"
    await_true(lambda: applied(client))
    assert sizes(client.cluster().replication_specs) == [("M40", 80.0)]
    after = started(cluster)
    assert all(after[name] != before[name] for name in before)
    assert primary(cluster) != was_primary


@pytest.mark.matrix  # in CI a run of tests/faults/atlas dies in such an outage
def test_an_outage_freezes_the_members_of_its_region_until_it_is_ended(
    cluster: Cluster, client: AtlasClient
) -> None:
    n1 = host_for(cluster.node("n1"))
    assert client.outage() is None
    assert code_of(lambda: client.start_outage([("AWS", "MOON")])) == "400 VALIDATION_ERROR"
    assert code_of(lambda: client.change({"replicationSpecs": "big"})) == "400 VALIDATION_ERROR"

    assert client.start_outage([("AWS", "LAB_R1")]).state == "START_REQUESTED"
    assert code_of(client.end_outage) == "400 INVALID_CLUSTER_OUTAGE_SIMULATION_STATE"
    await_true(lambda: getattr(client.outage(), "state", "") == "SIMULATING" and applied(client))
    assert n1.running().paused
    assert code_of(client.restart_primaries) == "409 OUTAGE_IN_PROGRESS"
    await_true(lambda: primary(cluster) in ("n2", "n3"))

    assert client.end_outage().state == "RECOVERY_REQUESTED"
    await_true(lambda: client.outage() is None and applied(client))
    assert not n1.running().paused


@pytest.mark.matrix
def test_a_paused_cluster_has_no_process_and_takes_nothing_but_its_resume(
    cluster: Cluster, client: AtlasClient
) -> None:
    client.pause()
    await_true(lambda: client.cluster().paused and applied(client))
    assert not any(host_for(node).running().running for node in cluster.nodes)
    assert code_of(client.restart_primaries) == "400 CANNOT_UPDATE_PAUSED_CLUSTER"

    client.resume()
    await_true(lambda: applied(client) and not client.cluster().paused)
    assert primary(cluster) != ""


def test_a_maintenance_window_is_kept_and_reset(client: AtlasClient) -> None:
    assert client.maintenance().day_of_week == 0
    window = {"dayOfWeek": 3, "hourOfDay": 4}
    assert code_of(lambda: client.change_maintenance({"hourOfDay": 4})) == "400 VALIDATION_ERROR"

    client.change_maintenance(window)
    found = client.maintenance()
    assert (found.day_of_week, found.hour_of_day, found.start_asap) == (3, 4, False)

    client.reset_maintenance()
    assert client.maintenance().day_of_week == 0


def test_lab_up_mends_what_an_outage_left(cluster: Cluster, client: AtlasClient) -> None:
    client.start_outage([("AWS", "LAB_R2")])
    await_true(lambda: getattr(client.outage(), "state", "") == "SIMULATING" and applied(client))

    lab.up(LAB)

    assert client.outage() is None
    assert not host_for(cluster.node("n2")).running().paused


def test_an_unknown_group_or_cluster_is_said_as_such(cluster: Cluster) -> None:
    assert cluster.atlas is not None
    for change, code in (
        ({"project": "0" * 24}, "404 GROUP_NOT_FOUND"),
        ({"cluster": "other"}, "404 CLUSTER_NOT_FOUND"),
    ):
        with AtlasClient(cluster.atlas.model_copy(update=change)) as client:
            assert code_of(client.cluster) == code
