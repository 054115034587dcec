"""The volume of a real mongod is slow on a machine reached by ssh, and itself after a crash too."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.sshd import WHY_NOT
from tests.uml_mongod import LOAD, inventories_of

from brownout.base.wait import wait_until
from brownout.inventory import inventory as inventories
from brownout.inventory.model import Cluster, Node
from brownout.machine import volume_slow
from brownout.machine.commands import script
from brownout.machine.host import host_for

pytestmark = [
    pytest.mark.quiet,
    pytest.mark.matrix,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: slow volumes over ssh: {WHY_NOT}"),
]

WRITE_MS = 80
#: Of 512 B, of each of two segments.
_SECTORS = 1 << 19
_TABLE = f"0 {_SECTORS} linear 98:0 0\n{_SECTORS} {_SECTORS} linear 98:0 {_SECTORS}\n"
#: Makes a volume of two segments of the disk, and mounts it where the data will be.
_VOLUME = f"""
import glob, subprocess
os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
def sh(*words, text=None):
    subprocess.run(words, input=text, text=True, check=True)
for name in ("dm-mod", "dm-delay"):
    (module,) = glob.glob(f"{{sys.argv[3]}}/usr/lib/uml/modules/*/kernel/drivers/md/{{name}}.ko")
    sh(f"{{sys.argv[3]}}/bin/busybox", "insmod", module)
sh("dmsetup", "create", "db", text={_TABLE!r})
sh("mount", "-t", "ext4", "/dev/dm-0", "/run/db")
"""


@pytest.fixture
def inventory(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Write the inventory of a set of one member, whose data lie on a volume of their own."""
    disk = tmp_path / "disk.img"
    with disk.open("wb") as file:
        file.truncate(2 * _SECTORS * 512)
    subprocess.run(["mkfs.ext4", "-qF", str(disk)], check=True)
    with inventories_of(tmp_path, _VOLUME, disk) as write:
        yield write


def experiment() -> dict[str, Any]:
    """`disk-slow` with the volume slowed instead of the calls."""
    made = chaos.quick(chaos.load("disk-slow"))
    made["extensions"][0]["needs"] = ["volume_slow"]
    slow, fast = (step["provider"] for step in made["method"][:2])
    slow["func"], fast["func"] = "slow_volume", "unslow_volume"
    del slow["arguments"]["latency_ms"], slow["arguments"]["calls"]
    del made["configuration"]["latency_ms"], made["configuration"]["calls"]
    slow["arguments"] |= {"read_ms": 0, "write_ms": WRITE_MS}
    return made


def table(node: Node) -> str:
    """The table of its volume, as its machine has it now."""
    done = host_for(node).shell().runner.run(script("dmsetup table db; ls /run"))
    assert "brownout-n1" not in done.output
    return "".join(line + "\n" for line in done.output.splitlines() if " linear " in line)


def words_for(path: Path, **variables: str) -> list[str]:
    given = {"cluster": str(path), "workload": "lab", "load": LOAD, **variables}
    return [word for name, value in given.items() for word in ("--var", f"{name}={value}")]


def test_a_run_slows_the_volume_and_gives_it_its_own_table(
    inventory: Callable[..., Path], tmp_path: Path
) -> None:
    path = inventory()
    node = inventories.load(path).nodes[0]
    assert volume_slow.why_not(node, host_for(node)) == ""
    words = words_for(path, slow_s="10", undo_after_s="120")
    ran = chaos.finish(chaos.start(experiment(), tmp_path, *words), tmp_path, 600)
    print(ran.output)
    assert ran.deeds == [("slow_volume", "n1"), ("unslow_volume", "n1")], ran.output
    assert ran.directory is not None
    slowed, freed = (e for e in ran.events if e["stage"] == "effective")
    print(slowed["evidence"], freed["evidence"])
    assert slowed["evidence"]["by"] == "dm-delay"
    assert min(slowed["evidence"]["flush_took_ms"]) >= WRITE_MS - 10
    assert table(node) == _TABLE
    assert ran.impact["ledger"]["state"] == "clean"
    print("verdict:", ran.impact["verdict"], ran.impact["ledger"])
    ran.check_proven()


def test_a_run_killed_while_the_volume_is_slow_is_healed(
    inventory: Callable[..., Path], tmp_path: Path
) -> None:
    path = inventory()
    cluster: Cluster = inventories.load(path)
    (node,) = cluster.nodes
    where = tmp_path / "run"
    where.mkdir()
    settings = {"BROWNOUT_STATE": str(where / "state")}
    words = words_for(path, slow_s="200", undo_after_s="400")
    process = chaos.start(experiment(), where, *words, env=settings)

    def is_slow() -> bool:
        return "80 ms" in volume_slow.left_on(node, host_for(node))

    assert wait_until(is_slow, 300, stopped=lambda: process.poll() is not None)
    kill_harness.kill_tree(process.pid)
    process.communicate()
    assert is_slow()
    healed = kill_harness.heal(cluster, where, settings)
    assert "unslow_volume" in healed.mended
    assert table(node) == _TABLE
