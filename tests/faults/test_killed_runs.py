"""A run that is killed (SIGKILL) at twenty moments of a fault and its undo is healed each time."""

from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.inventory.model import Cluster
from brownout.machine import leftovers
from brownout.machine.host import host_for

pytestmark = pytest.mark.matrix

#: Each fault with its undo, and its arguments.
FAULTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "squeeze_memory": ("release_memory", "memory_squeeze", {"share": 1.2}),
    "steal_cpu": ("return_cpu", "cpu_steal", {"cpus": 0.5}),
    "hold_connections": ("close_connections", "connections", {"connections": 60}),
}
#: From the fault's intent on, and from its undo's: tenths of a second.
OF_THE_FAULT, OF_THE_UNDO = range(14), range(6)


def experiment_of(fault: str) -> dict[str, Any]:
    """That of a node that is short of CPU, with another fault for two seconds."""
    undo, act, arguments = FAULTS[fault]
    experiment = chaos.load("cpu-starved")
    experiment["extensions"][0]["needs"] = [act]
    for name in ("cpus", "undo_after_s"):
        del experiment["configuration"][name]
    experiment["configuration"]["throttled_s"] = 2
    break_it, mend_it = experiment["method"][:2]
    break_it["provider"] |= {"func": fault, "arguments": arguments}
    mend_it["provider"]["func"] = undo
    return experiment


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("of_the_undo", "tenths"),
    [(False, each) for each in OF_THE_FAULT] + [(True, each) for each in OF_THE_UNDO],
)
def test_it_is_healed_and_nothing_is_left(
    lab_mongodb: Cluster, tmp_path: Path, fault: str, of_the_undo: bool, tenths: int
) -> None:
    undo, _, _ = FAULTS[fault]
    mark = undo if of_the_undo else fault
    healed = kill_harness.kill_and_heal(
        lab_mongodb, tmp_path / "run", f'name": "{mark}', tenths / 10, experiment_of(fault)
    )
    print(f"{fault} {mark}+{tenths / 10:g} s: {healed.phase}; {healed.mended}")
    for node in lab_mongodb.nodes:
        assert leftovers.modules()
        assert [each.left_on(node, host_for(node)) for each in leftovers.modules()] == [
            "" for _ in leftovers.modules()
        ]
