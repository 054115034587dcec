"""The guards of every step, asked in order before a run begins."""

from pathlib import Path
from typing import Any, cast

import pytest

from brownout.databases.adapter import Adapter
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.session.step_guards import deeds_of, first_act, guards_of_steps, hosts

NODES = tuple(
    Node(
        name=f"n{n}",
        address=f"db{n}:1",
        host=ProcessSpec(command=("db",), pid_file=Path(f"/nowhere/n{n}.pid")),
    )
    for n in (1, 2, 3)
)


class TwoCopies:
    """Each record has two copies, so the data of any two nodes are too much to lose."""

    def would_lose(self, nodes: list[Node]) -> list[str]:
        return ["some records"] if len(nodes) > 1 else []

    def data_directories(self, node: Node) -> list[str]:
        return []

    def targets(self, select: str, seed: int) -> list[Node]:
        assert select == "secondary"
        return [NODES[1]]


def step(name: str, function: str, module: str = "node", **arguments: Any) -> dict[str, Any]:
    provider = {
        "type": "python",
        "module": f"brownout.actions.{module}",
        "func": function,
        "arguments": arguments,
    }
    return {"type": "action", "name": name, "provider": provider}


def refused(*method: dict[str, Any], targets: int = 1, **settings: Any) -> list[str]:
    """The refusals of a method, each as `guard: detail`; only those of the directory are spared."""
    known: dict[str, Any] = {"allow_data_loss": True, **settings}
    cluster = Cluster(
        name="c", database="mongodb", environment="test", nodes=NODES, connection=Connection(),
        **known,
    )  # fmt: skip
    found = guards_of_steps(
        deeds_of(method, {"victim": "n2"}), cluster, cast(Adapter, TwoCopies()), NODES[:targets]
    )
    return [f"{g.name}: {g.detail}" for g in found if not g.ok and g.name != "the directory"]


KILL, START = step("kill-it", "kill_node"), step("start-it", "start_node")
KILL_RACK = step("kill-them", "kill_rack", "rack")
START_RACK = step("start-them", "start_rack", "rack")


def test_one_node_at_a_time_is_refused_nothing() -> None:
    assert refused(KILL, START, step("kill-n2", "kill_node", node="n2")) == []


def test_a_second_node_down_is_refused_with_its_step_before_anything_begins() -> None:
    (why,) = refused(KILL, step("kill-another", "kill_node", node="n2"), START)
    assert why.startswith("nodes down: kill-another: broken now: n1; at most 1 may be")
    assert refused(KILL, step("n2", "kill_node", node="n2"), guards={"max_nodes_down": 2}) == []


def test_a_reboot_belongs_to_the_node_that_is_down_and_to_no_other() -> None:
    reboot = step("reboot-it", "reboot_node")
    assert refused(KILL, reboot, START) == []
    (why,) = refused(KILL, START, step("another", "reboot_node", node="n2"))
    assert why.startswith("node is down: another: ")
    (why,) = refused(KILL, step("another", "reboot_node", node="n2"), START)
    assert why.startswith("node is down: another: ")


def test_a_role_is_the_node_that_has_it_and_its_undo_means_that_one() -> None:
    by_role = step("by-role", "kill_node", node="secondary")
    back = step("back", "start_node", node="secondary")
    (why,) = refused(KILL, by_role)
    assert why.startswith("nodes down: by-role: broken now: n1")
    assert refused(by_role, back, KILL, START) == []
    (why,) = refused(by_role, step("other", "start_node", node="n3"), KILL)
    assert why.startswith("nodes down: kill-it: broken now: n2")


def test_the_broken_node_may_be_broken_again_and_no_other() -> None:
    again = step("again", "pause_node", node="broken")
    assert refused(KILL, again) == []
    assert refused(KILL, again, step("back", "start_node", node="broken"), KILL) == []


def test_a_denied_node_is_named_with_its_step_however_it_is_meant() -> None:
    denies = {"guards": {"deny_nodes": ["n2"], "max_nodes_down": 2}}
    for method in (
        [step("third", "pause_node", node="n2")],
        [step("third", "pause_node", node="${victim}")],
        [{**KILL_RACK, "name": "third"}],
        [step("third", "restart_each_node", "rolling")],
    ):
        (why,) = refused(KILL, START, *method, targets=2, **denies)
        assert why == "denied nodes: third: the inventory denies node `n2`"


def test_a_denied_act_is_named_with_its_step() -> None:
    (why,) = refused(
        KILL, START, step("cut", "partition_node"), guards={"deny_acts": ["partition"]}
    )
    assert why == "deny list: cut: the inventory denies partition"


@pytest.mark.parametrize("act", ["kill_node", "stop_node", "oom_kill_node"])
def test_a_node_that_could_not_be_started_again_is_not_brought_down(act: str) -> None:
    cluster = Cluster(
        name="c", database="mongodb", environment="test", nodes=NODES, connection=Connection()
    )
    found = hosts(deeds_of([step("down", act, node="n1")], {}), cluster)
    assert [guard.ok for guard in found] == [False]
    assert "`db` cannot be started" in found[0].detail


def test_wipes_of_a_whole_rack_are_judged_together() -> None:
    wipes = [step("wipe-1", "wipe_node"), step("wipe-2", "wipe_node", node="n2")]
    two = {"guards": {"max_nodes_down": 2}}
    found = refused(KILL_RACK, *wipes, START_RACK, targets=2, **two)
    assert [why.split(":")[:2] for why in found] == [
        ["copies", " wipe-1"],
        ["copies", " wipe-2"],
    ]


def test_wipes_one_after_the_other_each_with_the_others_back_are_not_refused() -> None:
    first = [KILL, step("wipe-1", "wipe_node"), START]
    acts = {"kill-2": "kill_node", "wipe-2": "wipe_node", "start-2": "start_node"}
    second = [step(name, act, node="n2") for name, act in acts.items()]
    assert refused(*first, *second) == []


@pytest.mark.parametrize(
    ("method", "act"),
    [
        ([step("s", "stop_node")], "stop"),
        ([step("s", "stop_node", mode="clean")], "stop"),
        ([step("s", "stop_node", mode="kill")], "kill"),
        ([START, KILL], "kill"),
        ([KILL_RACK], "kill"),
        ([{"type": "action", "name": "x", "provider": {"type": "process", "path": "x"}}], ""),
    ],
)
def test_a_run_is_titled_by_what_its_method_does_first(method: list[Any], act: str) -> None:
    assert first_act(deeds_of(method, {})) == act
