"""Real servers of the other databases in pods: a member is wiped, and one of PostgreSQL paused.

The members are those of a lab, with its configuration and its data; each is a StatefulSet of one
pod, whose claims are mounted where the lab has its data.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.control_plane import ControlPlane
from tests.machine.kubernetes.conftest import await_ready, release
from tests.machine.kubernetes.sets import stateful_set
from tests.waiting import await_whole

from brownout.databases.adapter import Adapter, adapter_for
from brownout.infra import lab
from brownout.inventory.model import Node, ProcessSpec
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine import user_namespace
from brownout.machine.host import host_for
from brownout.machine.kubernetes import KubernetesSpec

pytestmark = [pytest.mark.kubernetes, pytest.mark.quiet, pytest.mark.timeout(900)]

#: Copies what the lab's member had into the pod's empty claims, once: then it is away.
_SEEDED = """
for directory in $SEEDED; do
  if [ -d "$directory.seed" ]; then cp -a "$directory.seed/." "$directory"; fi
  chmod 0700 "$directory"
done
exec "$@"
"""

InPods = Callable[[str], Path]


@pytest.fixture
def in_pods(
    control_plane: ControlPlane,
    objects: Objects,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[InPods]:
    """Bring a lab up, move its members into pods, and return the inventory, whole."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    labs: list[str] = []

    def move(name: str) -> Path:
        labs.append(name)
        cluster = lab.up(name)
        access = {"kubeconfig": control_plane.kubeconfig, "namespace": namespace}
        adapter = adapter_for(cluster)
        nodes = [
            node.model_copy(update={"host": _in_pod(node, adapter, objects, access)})
            for node in cluster.nodes
        ]
        adapter.close()
        for seed in (tmp_path / "lab").rglob("*.seed"):
            seed.rename(seed.with_suffix(".copied"))
        moved = cluster.model_copy(update={"nodes": tuple(nodes)})
        adapter = adapter_for(moved)
        await_whole(adapter)
        adapter.close()
        document = moved.model_dump(mode="json", exclude={"lab", "name"}, exclude_defaults=True)
        for node in document["nodes"]:
            node["host"]["kind"] = "kubernetes"
        path = tmp_path / "pods.yaml"
        path.write_text(yaml.safe_dump(document))
        return path

    yield move
    release(objects, namespace)
    for name in labs:
        lab.down(name)


@pytest.mark.parametrize(
    "name", ["lab-aerospike", "lab-cassandra", "lab-etcd", "lab-postgresql", "lab-redis"]
)
def test_a_wiped_member_gets_other_volumes_and_all_data_again(
    in_pods: InPods, tmp_path: Path, name: str
) -> None:
    ran = _run("node-wipe", in_pods(name), tmp_path)
    assert ran.impact["verdict"] in ("pass", "fail"), ran.output
    ran.check_proven()
    assert [name for name, _ in ran.deeds] == ["kill_node", "wipe_node", "start_node"]
    _, wiped, started = (event for event in ran.events if event["stage"] == "effective")
    before = {claim["volume"] for claim in wiped["evidence"]["claims"]}
    after = {claim["volume"] for claim in started["evidence"]["claims"]}
    assert len(before) == len(after)
    assert before.isdisjoint(after)
    (fault,) = ran.impact["faults"]
    reached = {found["name"] for found in fault["milestones"] if found["first_yes"] is not None}
    assert {"rejoined", "redundant"} <= reached
    assert ran.impact["ledger"]["unread"] == 0


def test_a_paused_member_of_postgresql_is_patroni_and_its_server(
    in_pods: InPods, tmp_path: Path
) -> None:
    ran = _run("node-pause", in_pods("lab-postgresql"), tmp_path)
    assert ran.impact["verdict"] in ("pass", "fail"), ran.output
    ran.check_proven()
    paused, resumed = (event for event in ran.events if event["stage"] == "effective")
    for event in (paused, resumed):
        assert event["evidence"]["processes_in_server_directory"] > 4
    assert ran.impact["faults"][0]["blackout"] > 1


def _run(experiment: str, cluster: Path, where: Path) -> chaos.Ran:
    environment = {"BROWNOUT_CLUSTER": str(cluster), "BROWNOUT_STATE": str(where / "state")}
    return chaos.run(
        chaos.quick(chaos.load(experiment), chaos.LEAST_BASELINE_S), where, env=environment
    )


def _in_pod(
    node: Node, adapter: Adapter, objects: Objects, access: dict[str, Any]
) -> KubernetesSpec:
    """Run the server of a lab's node in a pod, with its data, and return the host of that."""
    local = node.host
    assert isinstance(local, ProcessSpec)
    host_for(node).stop("kill")
    mounts = {f"data{n}": path for n, path in enumerate(adapter.data_directories(node))}
    for path in mounts.values():
        path.rename(path.with_name(f"{path.name}.seed"))
        path.mkdir()
    own_user = user_namespace.enter() if local.unprivileged else ()
    command = ["/bin/sh", "-c", _SEEDED, "sh", *own_user, *map(str, local.command)]
    made = stateful_set(node.name, 1, command, mounts=mounts, shareProcessNamespace=True)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "SEEDED", "value": " ".join(map(str, mounts.values()))}]
    objects.create(in_namespace(access["namespace"], "statefulsets"), made)
    pod = f"{node.name}-0"
    await_ready(objects, access["namespace"], pod)
    return KubernetesSpec(
        **access,
        pod=pod,
        container="main",
        program=Path(local.command[0]).name,
        config_file=local.config_file,
        command=local.command,
        server_directory=local.server_directory,
        claims=tuple(f"{claim}-{pod}" for claim in mounts),
    )
