"""Control groups: those made for a lab's nodes, and what a kernel does that has version 2.

The control groups of the machine may be of version 1, so user-mode Linux is booted for the other.
"""

import os
from typing import Any

import pytest
from tests import uml
from tests.machine.test_cpu import BUSY
from tests.machine.test_memory import HUNGRY

from brownout.machine import control_groups

_MIB = 2**20


def test_every_group_of_a_lab_is_removed_and_no_other() -> None:
    if reason := control_groups.why_not_here():
        pytest.skip(f"NOT TESTED: control groups: {reason}")
    prefix = f"brownout-test-{os.getpid()}-"
    ours = [control_groups.own(f"{prefix}a-{node}") for node in ("n1", "n2")]
    other = control_groups.own(f"{prefix}b-n1")
    assert other is not None
    control_groups.remove(f"{prefix}a-")
    assert [place.exists() for place in ours if place] == [False, False]
    assert other.exists()
    control_groups.remove(prefix)
    assert not other.exists()
    assert control_groups.own("") is None


#: Limits CPU and memory of nodes, ends one of them, and prints what came of it.
_IN_VERSION_2 = f"""
import json, os, subprocess, sys, time
from pathlib import Path
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import cpu, memory
from brownout.machine.host import host_for

root = Path("/sys/fs/cgroup")
(root / "cgroup.subtree_control").write_text("+memory +cpu")

def started(name, program, group):
    group.mkdir(exist_ok=True)
    enter = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    command, pid_file = (sys.executable, "-c", program, "/run/data"), Path("/run") / name
    process = subprocess.Popen(command, preexec_fn=enter)
    pid_file.write_text(str(process.pid))
    spec = ProcessSpec(pid_file=pid_file, command=command)
    node = Node(name=name, address="127.0.0.1:1", host=spec)
    return node, host_for(node), process

def usage(group):
    lines = (group / "cpu.stat").read_text().splitlines()
    return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6

def share(group):
    used, began = usage(group), time.monotonic()
    time.sleep(3)
    return (usage(group) - used) / (time.monotonic() - began)

def where(process):
    return Path(f"/proc/{{process.pid}}/cgroup").read_text().strip()

seen = {{}}
for name, shared in (("alone", False), ("sharing", True)):
    group = root / name
    node, host, process = started(name, {BUSY!r}, group)
    if shared:
        _, _, other = started("other", "import time; time.sleep(999)", group)
    at = {{"why_not": cpu.why_not(node, host), "before": where(process), "free": share(group)}}
    proof = cpu.limit(node, host, 0.2, 60).evidence
    at |= {{"by": proof["by"], "within": where(process), "limited": share(Path(proof["group"]))}}
    at |= {{"left": cpu.left_on(node, host), "undone": cpu.undo_on(node, host).evidence}}
    at |= {{"after": where(process), "max": (group / "cpu.max").read_text()}}
    at["freed"], seen[name] = share(group), at
    for line in (group / "cgroup.procs").read_text().split():
        os.kill(int(line), 9)

group = root / "hungry"
node, host, process = started("hungry", {HUNGRY!r}, group)
used = lambda: int((group / "memory.current").read_text())
while used() < 90 * {_MIB}:
    time.sleep(0.2)
at = {{"why_not": memory.why_not(node, host)}}
at["by"] = memory.squeeze(node, host, 64, 0, 60).evidence["by"]
time.sleep(3)
at |= {{"squeezed": used(), "left": memory.left_on(node, host)}}
at |= {{"undone": memory.undo_on(node, host).evidence, "high": (group / "memory.high").read_text()}}
while used() < 90 * {_MIB}:
    time.sleep(0.2)
memory.squeeze(node, host, 1000, 0, 60)
time.sleep(1)
at |= {{"roomy": memory.undo_on(node, host).evidence}}
at["why_no_kill"] = memory.why_no_kill(node, host)
at["killed"] = memory.kill(node, host).evidence
at |= {{"runs": host.running().running, "max": (group / "memory.max").read_text()}}
at["swap.max"] = [file.read_text() for file in group.glob("memory.swap.max")]
seen["hungry"] = at
seen["records"] = [str(path) for path in Path("/run").glob("brownout-*")]
print("\\n" + json.dumps(seen))
"""


@pytest.fixture(scope="module")
def in_version_2(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What happened on a machine whose control groups are of version 2."""
    directory = tmp_path_factory.mktemp("uml")
    return uml.run_alone("control groups of version 2", directory, _IN_VERSION_2, 256)


@pytest.mark.matrix
@pytest.mark.timeout(600)
class TestOnAKernelWithVersion2:
    @pytest.mark.parametrize(("name", "moves"), [("alone", False), ("sharing", True)])
    def test_a_node_uses_no_more_cpu_than_its_limit_and_all_of_it_again(
        self, in_version_2: dict[str, Any], name: str, moves: bool
    ) -> None:
        seen = in_version_2[name]
        assert (seen["why_not"], seen["by"]) == ("", "cgroup v2")
        assert seen["limited"] < 0.3 < 0.7 < seen["free"]
        assert seen["left"].startswith("0.2 CPUs")
        assert (seen["within"] != seen["before"]) is moves
        assert seen["after"] == seen["before"] == f"0::/{name}"
        assert seen["undone"]["periods_held_back"] > 5
        assert seen["max"].startswith("max ")
        assert seen["freed"] > 0.7

    def test_a_node_uses_no_more_memory_than_its_limit_and_all_of_it_again(
        self, in_version_2: dict[str, Any]
    ) -> None:
        seen = in_version_2["hungry"]
        assert (seen["why_not"], seen["by"]) == ("", "cgroup v2")
        assert seen["squeezed"] <= 70 * _MIB
        assert seen["left"].startswith("64.0 MiB")
        assert seen["undone"]["limit_reached"] > 0
        assert seen["roomy"]["limit_reached"] == 0
        assert seen["high"].strip() == "max"

    def test_the_kernel_kills_a_node_and_no_limit_is_left(
        self, in_version_2: dict[str, Any]
    ) -> None:
        seen = in_version_2["hungry"]
        assert (seen["why_no_kill"], seen["killed"]["by"]) == ("", "cgroup v2")
        assert seen["killed"]["oom_kills"] >= 1
        assert not seen["runs"]
        assert {seen["max"].strip(), *map(str.strip, seen["swap.max"])} == {"max"}
        assert in_version_2["records"] == []
