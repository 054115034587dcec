"""`brownout inventory from-kubernetes`: inventories of what an API server says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.conftest import Brownout
from tests.control_plane import ControlPlane, awaited
from tests.machine.kubernetes.roles import account
from tests.machine.kubernetes.sets import stateful_set

from brownout.inventory import inventory
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Object, Objects, in_namespace

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_GROUPS = {
    "aerospikeclusters": ("asdb.aerospike.com", "AerospikeCluster"),
    "mongodbcommunity": ("mongodbcommunity.mongodb.com", "MongoDBCommunity"),
    "perconaservermongodbs": ("psmdb.percona.com", "PerconaServerMongoDB"),
}
_MONGOD = ["mongod", "--replSet", "orders", "--dbpath", "/data/db"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "wanted one of KIND/NAME, --selector LABELS"),
        (["statefulset/db", "--selector", "app=db"], "wanted one of KIND/NAME, --selector"),
        (["deployment/db"], "found `deployment/db`, wanted KIND/NAME with one of statefulset"),
        (["db"], "found `db`, wanted KIND/NAME"),
        (["statefulset/db", "--namespace", "A/b"], "namespace: found 'A/b'"),
        (["statefulset/db", "--kubeconfig", "nowhere"], "kubeconfig: "),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is(
    brownout: Brownout, home: Path, arguments: list[str], told: str
) -> None:
    said = brownout("inventory", "from-kubernetes", *arguments)
    assert (said.code, said.out) == (64, "")
    assert told in said.err


@pytest.fixture
def objects(control_plane: ControlPlane) -> Iterator[Objects]:
    with connect(Access(kubeconfig=control_plane.kubeconfig)) as client:
        yield Objects(client)


@pytest.fixture
def asked(control_plane: ControlPlane, objects: Objects) -> tuple[str, Path]:
    """A namespace of pods without processes, and a kubeconfig that may import and nothing else."""
    control_plane.add_kwok_node("kwok-1")
    namespace = control_plane.new_namespace()
    return namespace, account(control_plane, objects, namespace, "import")


@pytest.mark.kubernetes
def test_the_pods_of_a_stateful_set_become_an_inventory_that_loads(
    brownout: Brownout, objects: Objects, asked: tuple[str, Path], home: Path
) -> None:
    namespace, kubeconfig = asked
    _make(objects, namespace, stateful_set("orders", 3, _MONGOD, container="mongod"))
    _make(objects, namespace, stateful_set("others", 1, _MONGOD, container="mongod"))
    options = ("--namespace", namespace, "--kubeconfig", kubeconfig, "-o", "orders.yaml")
    said = brownout("inventory", "from-kubernetes", "statefulset/orders", *options)
    assert said.code == 0, said.err
    cluster = inventory.load("./orders.yaml")
    assert [node.address for node in cluster.nodes] == [
        f"orders-{n}.orders.{namespace}.svc.cluster.local:27017" for n in range(3)
    ]
    assert cluster.connection.replica_set == "orders"
    by_labels = brownout(
        "inventory", "from-kubernetes", "--selector", "app=orders", "--pod-addresses", *options[:4]
    )
    assert by_labels.code == 0, by_labels.err
    nodes = yaml.safe_load(by_labels.out)["nodes"]
    assert [node["name"] for node in nodes] == ["orders-0", "orders-1", "orders-2"]
    missing = brownout("inventory", "from-kubernetes", "statefulset/none", *options[:4])
    assert missing.code == 64
    assert f"statefulset/none: there is none in namespace {namespace}" in missing.err


@pytest.mark.kubernetes
@pytest.mark.parametrize(
    ("kind", "plural", "spec", "known"),
    [
        (
            "aerospikecluster/shop",
            "aerospikeclusters",
            {"aerospikeConfig": {"namespaces": [{"name": "carts"}]}},
            {"options": {"namespace": "carts"}},
        ),
        ("mongodbcommunity/shop", "mongodbcommunity", {"members": 2}, {"replica_set": "shop"}),
        ("psmdb/shop", "perconaservermongodbs", {"replsets": []}, {}),
    ],
)
def test_what_an_operator_made_of_its_resource_is_found_by_its_owner(
    brownout: Brownout,
    objects: Objects,
    asked: tuple[str, Path],
    kind: str,
    plural: str,
    spec: dict[str, Any],
    known: dict[str, Any],
) -> None:
    namespace, kubeconfig = asked
    owner = _resource(objects, namespace, plural, spec)
    program = ["asd"] if plural == "aerospikeclusters" else ["mongod", "-f", "/data/mongod.conf"]
    owned = stateful_set("shop-1", 2, program)
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    owned["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    _make(objects, namespace, owned)
    _make(objects, namespace, stateful_set("shop-by-hand", 1, program))
    said = brownout(
        "inventory", "from-kubernetes", kind, "--namespace", namespace, "--kubeconfig", kubeconfig
    )
    assert said.code == 0, said.err
    found = yaml.safe_load(said.out)
    assert [node["name"] for node in found["nodes"]] == ["shop-1-0", "shop-1-1"]
    assert known.items() <= found["connection"].items()


def _make(objects: Objects, namespace: str, made: dict[str, Any]) -> None:
    name, wanted = made["metadata"]["name"], made["spec"]["replicas"]
    objects.create(in_namespace(namespace, "statefulsets"), made)
    path = in_namespace(namespace, "statefulsets", name)

    def ready() -> bool:
        found = objects.find(path)
        return found is not None and found["status"].get("readyReplicas", 0) == wanted

    awaited(ready, f"the pods of {name}")


def _resource(objects: Objects, namespace: str, plural: str, spec: dict[str, Any]) -> Object:
    """Make a resource of an operator's kind: by a definition of our own, with any content."""
    group, kind = _GROUPS[plural]
    name = f"{plural}.{group}"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "kind": kind}
    definition = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    if objects.find(f"{_CRDS}/{name}") is None:
        objects.create(
            _CRDS,
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": name},
                "spec": definition,
            },
        )

    def established() -> bool:
        status = (objects.find(f"{_CRDS}/{name}") or {}).get("status") or {}
        told = {c["type"]: c["status"] for c in status.get("conditions") or ()}
        return told.get("Established") == "True"

    awaited(established, f"{name} is established")
    made = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "shop"}, "spec": spec}
    return objects.create(in_namespace(namespace, plural, group=f"/apis/{group}/v1"), made)
