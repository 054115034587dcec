"""`kill -9` of the whole run at random moments, then `brownout heal`: the cluster is whole.

`make soak` runs 100 moments of a wipe (BROWNOUT_SOAK_KILLS), and a fifth as many of a node's
replacement on each lab; CI runs a few from tests/session.
"""

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests import kill_harness

from brownout.cluster.host import host_for
from brownout.cluster.model import Cluster

KILLS = int(os.environ.get("BROWNOUT_SOAK_KILLS", "100"))
SEED = int(os.environ.get("BROWNOUT_SOAK_SEED", "4711"))

pytestmark = [pytest.mark.soak, pytest.mark.timeout(KILLS * 120)]


#: What a replacement writes down, the putting back of it too; a word may come twice.
MARKS_OF_A_CHANGE = (
    "load_started",
    "baseline_accepted",
    "remove_node",
    "redundant",
    "add_node",
    "admit_node",
    "load_stopped",
    "empty_spare",
)


def test_the_cluster_is_whole_after_a_kill_at_any_moment(
    fresh_lab: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill_often(KILLS, kill_harness.MARKS, fresh_lab, tmp_path, capsys, "node-wipe")


def test_a_member_is_back_and_the_spare_out_after_a_kill_at_any_moment(
    fresh_lab: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill_often(KILLS // 5, MARKS_OF_A_CHANGE, fresh_lab, tmp_path, capsys, "member-replace")


def test_a_node_is_back_and_the_spare_out_after_a_kill_at_any_moment(
    lab_aerospike: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill_often(KILLS // 5, MARKS_OF_A_CHANGE, lab_aerospike, tmp_path, capsys, "member-replace")


def kill_often(
    times: int,
    marks: Sequence[str],
    cluster: Cluster,
    where: Path,
    capsys: pytest.CaptureFixture[str],
    experiment: str,
) -> None:
    """Kill and heal at `times` moments; each is checked by the harness."""
    drawn = random.Random(SEED)
    options = ("--var", f"cluster={cluster.name}")
    slowest = 0.0
    for number in range(1, times + 1):
        mark, after_s = drawn.choice(marks), drawn.uniform(0, kill_harness.WITHIN_S)
        result = kill_harness.kill_and_heal(
            cluster, where / str(number), mark, after_s, experiment, options
        )
        slowest = max(slowest, result.heal_s)
        for spare in cluster.spares:
            assert not host_for(spare).running().running, spare.name
        with capsys.disabled():
            print(
                f"{number:3d}/{times} killed {after_s:.1f} s after {mark} (in `{result.phase}`): "
                f"healed in {result.heal_s:.1f} s, mended {result.mended or 'nothing'}"
            )
    with capsys.disabled():
        print(f"{times} of {times} healed; the slowest took {slowest:.1f} s")
