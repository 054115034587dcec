"""A replica set of three real mongods in the pods of a StatefulSet: experiments, and a heal."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.control_plane import ControlPlane
from tests.machine.kubernetes.conftest import DATA, await_ready, release
from tests.machine.kubernetes.sets import stateful_set

from brownout.databases.mongodb.lab import replica_set
from brownout.databases.mongodb.lab.mongod import find_mongod
from brownout.databases.mongodb.lab.settings import ReplicaSetLab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.address_proof import served_by

#: A verdict wants a quiet machine.
pytestmark = [pytest.mark.kubernetes, pytest.mark.quiet, pytest.mark.timeout(600)]

_NAME = "db"
_PORT = 27017
_MEMBERS = [f"{_NAME}-{number}" for number in range(3)]


@pytest.fixture(scope="module")
def in_pods(
    control_plane: ControlPlane, _node: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The inventory of a replica set whose members are pods, whole."""
    namespace = control_plane.new_namespace("process")
    with connect(Access(kubeconfig=control_plane.kubeconfig)) as client:
        objects = Objects(client)
        objects.create(in_namespace(namespace, "statefulsets"), _set_of_mongods())
        addresses = [await_ready(objects, namespace, name)["status"]["podIP"] for name in _MEMBERS]
        path = tmp_path_factory.mktemp("pods") / "pods.yaml"
        path.write_text(_inventory(control_plane, namespace, addresses))
        replica_set.form(_cluster(path), ReplicaSetLab(engine="mongodb"), lambda _: None)
        yield path
        release(objects, namespace)


def test_the_process_in_each_pod_is_proven_to_serve_its_address(in_pods: Path) -> None:
    one, two, three = _cluster(in_pods).nodes
    assert [served_by(node, (one, two, three)).by for node in (one, two, three)] == ["own"] * 3
    turned = two.model_copy(update={"host": three.host})
    assert served_by(turned, (one, turned)).by != "own"


def test_a_primary_is_killed_under_load_and_comes_back(in_pods: Path, tmp_path: Path) -> None:
    ran = _run("node-kill", in_pods, tmp_path)
    assert ran.impact["verdict"] in ("pass", "fail"), ran.output
    ran.check_proven()
    assert [name for name, _ in ran.deeds] == ["kill_node", "start_node"]
    killed, started = (event for event in ran.events if event["stage"] == "effective")
    assert killed["evidence"]["how"].startswith("SIGKILL by exec")
    assert started["evidence"]["former_uid"] == killed["evidence"]["uid"]
    assert ran.impact["ledger"]["state"] == "clean"


def test_a_wiped_member_gets_another_volume_and_all_data_again(
    in_pods: Path, tmp_path: Path
) -> None:
    ran = _run("node-wipe", in_pods, tmp_path)
    assert ran.impact["verdict"] in ("pass", "fail"), ran.output
    ran.check_proven()
    assert [name for name, _ in ran.deeds] == ["kill_node", "wipe_node", "start_node"]
    _, wiped, started = (event for event in ran.events if event["stage"] == "effective")
    assert wiped["evidence"]["directories"][0]["files_removed"] > 20
    (before,), (after,) = wiped["evidence"]["claims"], started["evidence"]["claims"]
    assert after["former_uid"] == before["uid"]
    assert after["volume"] != before["volume"]
    assert ran.impact["ledger"]["state"] == "clean"


@pytest.mark.parametrize("mark", ["kill_node", "wipe_node"])
def test_a_run_that_is_killed_in_mid_fault_is_healed(
    in_pods: Path, tmp_path: Path, mark: str
) -> None:
    options = _options(in_pods)
    healed = kill_harness.kill_and_heal(_cluster(in_pods), tmp_path / "run", mark, options=options)
    assert "start_node" in healed.mended


def _run(experiment: str, cluster: Path, where: Path) -> chaos.Ran:
    environment = {"BROWNOUT_STATE": str(where / "state")}
    return chaos.run(
        chaos.quick(chaos.load(experiment), chaos.LEAST_BASELINE_S),
        where,
        *_options(cluster),
        env=environment,
    )


def _options(cluster: Path) -> tuple[str, ...]:
    return ("--var", f"cluster={cluster}", *chaos.GENTLY)


def _cluster(path: Path) -> Cluster:
    return inventory.load(str(path))


def _set_of_mongods() -> dict[str, object]:
    options = {
        "replSet": _NAME,
        "dbpath": DATA,
        "bind_ip": "$(POD_IP)",
        "port": str(_PORT),
        "wiredTigerCacheSizeGB": "0.25",
        "oplogSize": "128",
    }
    command = [str(find_mongod()), "--nounixsocket"]
    for name, value in options.items():
        command += [f"--{name}", value]
    for parameter in (
        "diagnosticDataCollectionEnabled=false",
        "shutdownTimeoutMillisForSignaledShutdown=100",
        "minSnapshotHistoryWindowInSeconds=0",  # as in the lab: a rollback walks all of it
    ):
        command += ["--setParameter", parameter]
    made = stateful_set(
        _NAME, len(_MEMBERS), command, mounts={"data": DATA}, shareProcessNamespace=True
    )
    own_address = {"fieldRef": {"fieldPath": "status.podIP"}}
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "POD_IP", "valueFrom": own_address}]
    return made


def _inventory(control_plane: ControlPlane, namespace: str, addresses: list[str]) -> str:
    nodes = [
        {
            "name": name,
            "address": f"{address}:{_PORT}",
            "host": {
                "kind": "kubernetes",
                "kubeconfig": str(control_plane.kubeconfig),
                "namespace": namespace,
                "pod": name,
                "container": "main",
                "program": "mongod",
                "command": ["mongod", "--dbpath", DATA],
                "claims": [f"data-{name}"],
            },
        }
        for name, address in zip(_MEMBERS, addresses, strict=True)
    ]
    return yaml.safe_dump(
        {
            "name": _NAME,
            "database": "mongodb",
            "environment": "lab",
            "allow_data_loss": True,
            "nodes": nodes,
            "connection": {"replica_set": _NAME},
        }
    )
