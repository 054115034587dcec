"""`kill -9` of the whole run at random moments, then `brownout heal`: the cluster is whole.

`make soak` runs 100 moments (BROWNOUT_SOAK_KILLS); CI runs a few from tests/session.
"""

import os
import random
from pathlib import Path

import pytest
from tests import kill_harness

from brownout.cluster.model import Cluster

KILLS = int(os.environ.get("BROWNOUT_SOAK_KILLS", "100"))
SEED = int(os.environ.get("BROWNOUT_SOAK_SEED", "4711"))

pytestmark = [pytest.mark.soak, pytest.mark.timeout(KILLS * 120)]


def test_the_cluster_is_whole_after_a_kill_at_any_moment(
    fresh_lab: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = random.Random(SEED)
    healed = []
    for number in range(1, KILLS + 1):
        mark, after_s = drawn.choice(kill_harness.MARKS), drawn.uniform(0, kill_harness.WITHIN_S)
        result = kill_harness.kill_and_heal(fresh_lab, tmp_path / str(number), mark, after_s)
        healed.append(result)
        with capsys.disabled():
            print(
                f"{number:3d}/{KILLS} killed {after_s:.1f} s after {mark} (in `{result.phase}`): "
                f"healed in {result.heal_s:.1f} s, mended {result.mended or 'nothing'}"
            )
    slowest = max(healed, key=lambda one: one.heal_s)
    with capsys.disabled():
        print(
            f"{len(healed)} of {KILLS} healed; the slowest took {slowest.heal_s:.1f} s "
            f"(killed in `{slowest.phase}`)"
        )
