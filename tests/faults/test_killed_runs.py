"""A run that is killed (SIGKILL) at twenty moments of a fault and its undo is healed each time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.base.errors import Unsupported
from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.machine import leftovers
from brownout.machine.host import host_for

pytestmark = pytest.mark.matrix

#: Each fault with its undo, the word for it in `needs`, its arguments, and the lab.
FAULTS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "squeeze_memory": ("release_memory", "memory_squeeze", {"share": 1.2}, "lab-mongodb"),
    "steal_cpu": ("return_cpu", "cpu_steal", {"cpus": 0.5}, "lab-mongodb"),
    "hold_connections": ("close_connections", "connections", {"connections": 60}, "lab-mongodb"),
    "limit_disk": ("unlimit_disk", "disk_limit", {"mib_per_s": 1}, "lab-mongodb"),
    "fail_disk": ("mend_disk", "disk_errors", {"percent": 100}, "lab-mongodb"),
    "oom_kill_node": ("start_node", "oom_kill", {}, "lab-mongodb"),
    "limit_bandwidth": (
        "restore_bandwidth", "bandwidth", {"kbit_s": 2000}, "lab-mongodb-partition"
    ),
    "cut_off": ("reconnect_node", "cut_off", {}, "lab-postgresql-partition"),
}  # fmt: skip
#: From the fault's intent on, and from its undo's: tenths of a second.
OF_THE_FAULT, OF_THE_UNDO = range(14), range(6)


def experiment_of(fault: str) -> dict[str, Any]:
    """That of a node that is short of CPU, with another fault for two seconds."""
    undo, act, arguments, _ = FAULTS[fault]
    experiment = chaos.load("cpu-starved")
    experiment["extensions"][0]["needs"] = [act]
    for name in ("cpus", "undo_after_s"):
        del experiment["configuration"][name]
    experiment["configuration"]["throttled_s"] = 2
    break_it, mend_it = experiment["method"][:2]
    break_it["provider"] |= {"func": fault, "arguments": arguments}
    mend_it["provider"]["func"] = undo
    return experiment


@pytest.fixture
def cluster(
    fault: str, homes_of_labs: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Cluster:
    """The lab of a fault, whole."""
    *_, name = FAULTS[fault]
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(homes_of_labs(name)))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    try:
        return lab.up(name)
    except Unsupported as error:
        pytest.skip(f"NOT TESTED: {name}: {error}")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("of_the_undo", "tenths"),
    [(False, each) for each in OF_THE_FAULT] + [(True, each) for each in OF_THE_UNDO],
)
def test_it_is_healed_and_nothing_is_left(
    cluster: Cluster, tmp_path: Path, fault: str, of_the_undo: bool, tenths: int
) -> None:
    undo, *_ = FAULTS[fault]
    mark = undo if of_the_undo else fault
    healed = kill_harness.kill_and_heal(
        cluster,
        tmp_path / "run",
        f'name": "{mark}',
        tenths / 10,
        experiment_of(fault),
        ("--var", f"cluster={cluster.name}"),
    )
    print(f"{fault} {mark}+{tenths / 10:g} s: {healed.phase}; {healed.mended}")
    for node in cluster.nodes:
        assert leftovers.modules()
        assert [each.left_on(node, host_for(node)) for each in leftovers.modules()] == [
            "" for _ in leftovers.modules()
        ]
