"""When an orderly stop takes effect: as soon as the node is told, whenever its process is gone."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.waiting import await_true

from brownout.faults.stop import StopNode
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


def test_an_orderly_stop_is_effective_when_it_is_requested(
    slow_to_end: tuple[Node, Host],
) -> None:
    node, host = slow_to_end
    faults = cast(Any, SimpleNamespace(host=lambda _: host))
    before = time.monotonic()
    proof = StopNode().do(faults, node)
    assert not host.running().running
    assert before <= proof.effective_monotonic
    assert time.monotonic() - proof.effective_monotonic >= TAKES_S
    assert proof.uncertainty_s == 0.0
    assert proof.evidence["gone_after_s"] >= TAKES_S
    assert StopNode().do(faults, node).already
