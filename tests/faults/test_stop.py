"""An orderly stop takes effect once the node is told, and is undone once its process is gone."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.waiting import await_true

from brownout.base.errors import HostError
from brownout.faults.act import PendingUndo
from brownout.faults.stop import StartNode, StopNode
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine.host import Host, host_for

#: A server that, told to end, serves nobody and takes its time.
TAKES_S = 0.7
SLOW = f"""
import signal, sys, time, pathlib
signal.signal(signal.SIGTERM, lambda *_: (time.sleep({TAKES_S}), sys.exit()))
pathlib.Path("ready").touch()
while True: time.sleep(60)
"""


@pytest.fixture
def slow_to_end(tmp_path: Path) -> Iterator[tuple[Node, Host]]:
    """A running node whose process ends 0.7 s after it was told, and its host."""
    spec = ProcessSpec(
        config_file=tmp_path / "none.conf",
        pid_file=tmp_path / "pid",
        log_file=tmp_path / "log",
        working_directory=tmp_path,
        command=(sys.executable, "-c", SLOW, str(tmp_path / "none.conf")),
    )
    node = Node(name="n1", address="127.0.0.1:1", host=spec)
    host = host_for(node)
    host.start()
    await_true(lambda: (tmp_path / "ready").exists())
    yield node, host
    host.stop("kill")


def faults_of(host: Host, *pending: PendingUndo) -> Any:
    return SimpleNamespace(
        host=lambda _: host, pending=pending, told_to_end=set(), adapter=None,
        has_begun=lambda *_: False,
    )  # fmt: skip


def test_an_orderly_stop_is_effective_when_it_is_requested(
    slow_to_end: tuple[Node, Host],
) -> None:
    node, host = slow_to_end
    faults = faults_of(host)
    before = time.monotonic()
    proof = StopNode().do(faults, node)
    assert not host.running().running
    assert before <= proof.effective_monotonic
    assert time.monotonic() - proof.effective_monotonic >= TAKES_S
    assert proof.uncertainty_s == 0.0
    assert proof.evidence["gone_after_s"] >= TAKES_S
    assert StopNode().do(faults, node).already


def cut_short(node: Node, host: Host, limit_s: float = 60.0) -> Any:
    """Return the faults of a run whose clean stop was cut short right after it was asked for."""
    spec = node.host.model_copy(update={"stop_timeout_s": limit_s})  # type: ignore[union-attr]
    node = node.model_copy(update={"host": spec})
    value = StopNode().undo_value(faults_of(host), node)
    faults = faults_of(host, PendingUndo("start_node", node.name, value=value))
    with pytest.raises(HostError):
        StopNode().do(faults_of(host_for(impatient(node)), *faults.pending), node)
    faults.told_to_end.add(node.name)
    return faults


def impatient(node: Node) -> Node:
    spec = node.host.model_copy(update={"stop_timeout_s": 0.1})  # type: ignore[union-attr]
    return node.model_copy(update={"host": spec})


def test_a_node_that_is_still_stopping_is_started_once_its_process_is_gone(
    slow_to_end: tuple[Node, Host],
) -> None:
    node, host = slow_to_end
    faults = cut_short(node, host)
    before = host.running().pid
    proof = StartNode().do(faults, node)
    assert not proof.already
    assert host.running().pid not in (None, before)
    time.sleep(2 * TAKES_S)
    assert host.running().running


def test_a_process_that_does_not_end_for_as_long_as_it_may_take_is_no_proof_that_it_runs(
    slow_to_end: tuple[Node, Host],
) -> None:
    node, host = slow_to_end
    faults = cut_short(node, host, limit_s=0.1)
    with pytest.raises(HostError, match="still runs"):
        StartNode().do(faults, node)


def test_one_that_a_dead_run_may_never_have_told_runs_on_once_it_had_its_time(
    slow_to_end: tuple[Node, Host],
) -> None:
    node, host = slow_to_end
    value = StopNode().undo_value(faults_of(host), impatient(node))
    faults = faults_of(host, PendingUndo("start_node", node.name, value=value))
    assert StartNode().do(faults, node).already


def test_a_node_that_was_started_again_meanwhile_is_not_waited_for(
    slow_to_end: tuple[Node, Host],
) -> None:
    node, host = slow_to_end
    value = StopNode().undo_value(faults_of(host), node)
    host.stop("kill")
    host.start()
    began = time.monotonic()
    assert (
        StartNode().do(faults_of(host, PendingUndo("start_node", "n1", value=value)), node).already
    )
    assert time.monotonic() - began < 5
