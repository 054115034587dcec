"""A pod is cut off in its own, real network by a privileged pod beside it."""

import pytest
from tests.control_plane import awaited
from tests.links import Link, partitionable
from tests.machine.kubernetes.conftest import SERVER, Make

from brownout.base.errors import Unsupported
from brownout.inventory.model import Node
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine import bandwidth, one_way, packet_loss, partition
from brownout.machine.kubernetes import KubernetesHost
from brownout.machine.kubernetes.network import PRIVILEGED, manifest
from brownout.machine.kubernetes.pod import read
from brownout.machine.packet_filter import Match

#: The pods of this kubelet share its machine's network; this one leaves it.
OWN_NETWORK = ["/usr/bin/unshare", "--net", "--", *SERVER]


def _link(host: KubernetesHost) -> Link:
    return Link(Node(name="db-0", address="127.0.0.1:27017", host=host._spec), host)


def _ours(objects: Objects, namespace: str) -> list[str]:
    listed = objects.listed(in_namespace(namespace, "pods"), labelSelector=PRIVILEGED)
    return [str(each["metadata"]["name"]) for each in listed]


def test_our_pod_sees_the_machines_processes_and_has_no_token() -> None:
    pod = read(
        {
            "metadata": {"name": "db-0", "namespace": "db", "uid": "u1"},
            "spec": {
                "nodeName": "machine-1",
                "tolerations": [{"key": "db"}],
                "containers": [{"name": "main"}],
            },
        }
    )
    body = manifest(pod, "db-0-x", "tools:1", 60)
    assert body["metadata"]["labels"] == {PRIVILEGED: "u1"}
    spec = body["spec"]
    assert (spec["hostPID"], spec["nodeName"]) == (True, "machine-1")
    assert spec["tolerations"] == [{"key": "db"}]
    assert spec["automountServiceAccountToken"] is False
    assert spec["activeDeadlineSeconds"] == 60
    assert "hostNetwork" not in spec


@pytest.mark.kubernetes
def test_without_an_image_it_says_what_is_missing_and_makes_nothing(
    made: Make, objects: Objects, namespace: str
) -> None:
    with pytest.raises(Unsupported, match="network_image"):
        _link(made()).cut_off()
    assert _ours(objects, namespace) == []


@pytest.mark.kubernetes
def test_it_is_cut_off_and_joined_again_and_our_pod_is_gone(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made({"network_image": "none"}, command=OWN_NETWORK)
    link = partitionable(_link(host).node)
    assert partition.left_on(link.node, host) == ""
    assert _ours(objects, namespace) == []  # nothing is made by looking
    proof = link.partition(["198.18.0.9:1"], 60)
    assert proof.evidence["from"] == ["198.18.0.9"]
    assert link.cut_off() == ["198.18.0.9"]
    assert len(_ours(objects, namespace)) == 1
    assert not link.heal_partition().already
    awaited(lambda: not _ours(objects, namespace), "our pod is gone")


@pytest.mark.kubernetes
def test_a_second_fault_of_the_pod_keeps_its_switch_when_the_first_is_undone(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made({"network_image": "none"}, command=OWN_NETWORK)
    link = partitionable(_link(host).node)
    network = host.network()
    assert packet_loss.FILTER.why_not(network) == ""
    link.partition(["198.18.0.9:1"], 60)
    match = Match("in", "all", share=1000)
    packet_loss.FILTER.drop(network, match, 60)
    one_way.FILTER.drop(network, Match("out", "others", ("198.18.0.9:1",), 27017), 4)
    bandwidth.FILTER.drop(network, Match("in", "all", rate=125_000), 60)
    link.heal_partition()
    bandwidth.FILTER.clear(network)
    assert len(_ours(objects, namespace)) == 1
    assert packet_loss.FILTER.look(network).rules == {"incoming": match.rule}
    awaited(lambda: not one_way.FILTER.look(network), "the node undoes it by itself")
    packet_loss.FILTER.clear(network)
    awaited(lambda: not _ours(objects, namespace), "our pod is gone with the last fault")


@pytest.mark.kubernetes
def test_the_network_of_the_machine_is_never_touched(made: Make, objects: Objects) -> None:
    host = made({"network_image": "none"})
    with pytest.raises(Unsupported, match="that of its machine"):
        _link(host).cut_off()
