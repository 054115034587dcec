"""A switch that would end its fault before the undo is refused by the plan, which names both."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.wording import mentions, naming

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.docker.spec import DockerSpec
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.ssh.spec import SshSpec
from brownout.session.plan_file import plan_of
from brownout.session.switches import switch_problems

SSH = SshSpec.model_validate({"service": "db"})
SHORT = SshSpec.model_validate({"service": "db", "undo_after_s": 30})
PROXIED = ProcessSpec.model_validate({
    "pid_file": "/run/n1.pid", "command": ["db"],
    "proxy": {"name": "n1", "control": "http://127.0.0.1:8474", "upstream": "127.0.0.1:2"},
})  # fmt: skip
DOCKER = DockerSpec.model_validate({"container": "n1"})
POD = KubernetesSpec.model_validate({"pod": "db-0", "container": "db", "program": "mongod"})


def cluster(*hosts: Any) -> Cluster:
    nodes = tuple(
        Node(name=f"n{number}", address=f"db{number}:1", host=host)
        for number, host in enumerate(hosts, 1)
    )
    return Cluster(name="c", database="mongodb", environment="test", nodes=nodes)


def problems(name: str, where: Cluster, **variables: Any) -> list[str]:
    experiment = chaos.load(name)
    values = {**experiment["configuration"], **variables}
    return list(switch_problems(experiment, values, where))


@pytest.mark.parametrize("host", [SSH, DOCKER, POD, PROXIED, None])
def test_a_hang_longer_than_the_default_switch_of_its_host_is_refused(host: Any) -> None:
    (problem,) = problems("node-pause", cluster(host), hang_s=600)
    assert problem == (
        "pause-the-node: resume_node comes 600 s later at the earliest (600 s after pause-the-node "
        "(hang_s)), but the node ends the fault by itself after 120 s (the default of the host of "
        "node `n1`); set `undo_after_s` to more than 600"
    )
    assert problems("node-pause", cluster(host), hang_s=600, undo_after_s=700) == []
    assert problems("node-pause", cluster(host), hang_s=8) == []


def test_of_several_nodes_the_one_with_the_shortest_switch_counts() -> None:
    (problem,) = problems("node-pause", cluster(SSH, SHORT), hang_s=40)
    assert "after 30 s (the default of the host of node `n2`)" in problem


@pytest.mark.parametrize(
    ("name", "variables", "words"),
    [
        ("partition", {"partition_s": 90}, "90 s before heal-the-partition (partition_s)"),
        ("partition", {"partition_s": 12, "undo_after_s": 3}, "after 3 s (its `undo_after_s`)"),
        ("slow-node", {"slow_s": 90}, "90 s after slow-the-node (slow_s)"),
        ("leader-paused-past-ttl", {"resume_after_s": 200}, "after 180 s (its `undo_after_s`)"),
    ],
)
def test_a_switch_that_the_experiment_gives_counts_before_the_hosts(
    name: str, variables: Mapping[str, Any], words: str
) -> None:
    (problem,) = problems(name, cluster(SSH), **variables)
    assert words in problem
    assert problems(name, cluster(SSH)) == []


def test_a_delay_by_a_proxy_has_no_switch() -> None:
    assert problems("slow-node", cluster(PROXIED), slow_s=600, undo_after_s=0) == []
    assert problems("slow-node", cluster(SSH), slow_s=600, undo_after_s=0) != []


def test_every_wait_on_the_way_counts_and_those_after_the_undo_do_not() -> None:
    experiment = chaos.load("node-pause")
    pause, resume, wait = experiment["method"]
    sleep = {"type": "process", "path": "/bin/sleep", "arguments": "${nap_s}"}
    nap = {"type": "action", "name": "nap", "provider": sleep, "pauses": {"before": 30}}
    resume["pauses"] = {"before": 20, "after": 1000}
    experiment["method"] = [pause, nap, resume, wait]
    values = {**experiment["configuration"], "nap_s": 70}
    (problem,) = switch_problems(experiment, values, cluster(SSH))
    assert mentions(problem, "resume_node", "128 s")
    listed = "8 s after pause-the-node (hang_s) and 30 s before nap and 70 s by nap (nap_s)"
    assert listed in problem


def test_a_plan_and_a_check_refuse_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=naming("90 s", "60 s", "undo_after_s")):
        plan_of("partition", ["partition_s=90"])
    experiment = chaos.load("partition")
    experiment["extensions"][0]["may_end_early"] = True
    path = tmp_path / "early.json"
    path.write_text(json.dumps(experiment))
    assert plan_of(str(path), ["partition_s=90"])[0].may_end_early
