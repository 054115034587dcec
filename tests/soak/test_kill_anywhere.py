"""`kill -9` of the whole run at random moments, then `brownout heal`: the cluster is whole.

BROWNOUT_SOAK_KILLS moments in all (14 of `make matrix`, 200 of `make soak`) are spread over five
faults on four engines, on BROWNOUT_SOAK_LABS labs at once, drawn from BROWNOUT_SOAK_SEED. Each run
is healed from another folder, in which an inventory of the same name means other nodes. What
no run may touch is planted around every node, and compared after every healing.
"""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from tests import kill_harness
from tests.untouched import Untouched

from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for

SEED = int(os.environ.get("BROWNOUT_SOAK_SEED", "4711"))
#: What is put back does not depend on the baseline, which a busy machine would never have.
ANY_BASELINE = Path(__file__).parent / "any_baseline"
LABS = int(os.environ.get("BROWNOUT_SOAK_LABS", "2"))

_BEGINNING = ("cluster_whole", "load_started", "baseline_accepted")
#: What a run writes down in this order; a word may come twice.
MARKS = {
    "node-wipe": kill_harness.MARKS,
    "node-pause": (*_BEGINNING, "pause_node", "pause_node", "resume_node", "redundant",
                   "load_stopped"),
    "partition": (*_BEGINNING, "partition_node", "partition_node", "changed", "heal_partition",
                  "load_stopped"),
    "disk-stall": (*_BEGINNING, "stall_disk", "stall_disk", "stall_disk", "thaw_disk", "redundant",
                   "load_stopped"),
    "member-replace": ("load_started", "baseline_accepted", "remove_node", "redundant", "add_node",
                       "admit_node", "load_stopped", "empty_spare"),
}  # fmt: skip
VARIABLES = {
    "node-pause": ("hang_s:int=4",),
    "partition": ("partition_s:int=4",),
    "disk-stall": ("stalled_s:int=4",),
}
CASES = [
    ("lab-mongodb", "node-wipe"),
    ("lab-mongodb", "node-pause"),
    ("lab-mongodb-partition", "partition"),
    ("lab-mongodb", "member-replace"),
    ("lab-redis", "node-wipe"),
    ("lab-redis", "node-pause"),
    ("lab-redis-partition", "partition"),
    ("lab-etcd", "node-wipe"),
    ("lab-etcd", "node-pause"),
    ("lab-etcd-partition", "partition"),
    ("lab-etcd-disk", "disk-stall"),
    ("lab-aerospike", "node-wipe"),
    ("lab-aerospike", "node-pause"),
    ("lab-aerospike", "member-replace"),
]
KILLS = int(os.environ.get("BROWNOUT_SOAK_KILLS", str(len(CASES))))

pytestmark = [pytest.mark.matrix, pytest.mark.soak, pytest.mark.timeout(600 + KILLS * 60)]


def _times(number: int) -> int:
    """How many of all moments fall to a case."""
    return KILLS // len(CASES) + (number < KILLS % len(CASES))


@pytest.mark.parametrize(
    ("name", "experiment", "times"),
    [(name, experiment, _times(n)) for n, (name, experiment) in enumerate(CASES) if _times(n)],
)
def test_all_is_whole_and_nothing_else_was_touched_after_a_kill_at_any_moment(
    name: str,
    experiment: str,
    times: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BROWNOUT_ASD", "stand-in")
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    seed = f"{SEED} {name} {experiment}"
    drawn = random.Random(seed)
    moments = [
        Moment(number, drawn.choice(MARKS[experiment]), drawn.uniform(0, kill_harness.WITHIN_S))
        for number in range(1, times + 1)
    ]
    homes = [tmp_path / f"lab{number}" for number in range(min(LABS, times))]
    clusters = []
    try:
        for home in homes:
            monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home))
            clusters.append(lab.up(name))
        told: SimpleQueue[str] = SimpleQueue()
        waiting: SimpleQueue[Moment] = SimpleQueue()
        for moment in moments:
            waiting.put(moment)
        began = time.monotonic()
        with ThreadPoolExecutor(len(homes)) as pool:
            doing = [
                pool.submit(_kill_often, cluster, home, experiment, waiting, told)
                for cluster, home in zip(clusters, homes, strict=True)
            ]
            done = 0
            try:
                while done < times and not any(one.done() and one.exception() for one in doing):
                    try:
                        line = told.get(timeout=1.0)
                    except Empty:
                        continue
                    done += 1
                    with capsys.disabled():
                        print(f"{experiment} on {name}: {done:3d}/{times} {line}", flush=True)
            finally:
                while not waiting.empty():  # no lab begins another one
                    waiting.get()
            slowest = max((one.result() for one in doing), default=0.0)
        with capsys.disabled():
            print(
                f"{experiment} on {name}, seed `{seed}`: {done} of {times} whole and nothing else "
                "touched; the "
                f"slowest heal took {slowest:.1f} s; {time.monotonic() - began:.0f} s in all",
                flush=True,
            )
        assert done == times
    finally:
        for home in homes:
            monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home))
            lab.down(name)


@dataclass(frozen=True)
class Moment:
    """When a run is killed: so long after it has written a mark down."""

    number: int
    mark: str
    after_s: float


def _kill_often(
    cluster: Cluster,
    home: Path,
    experiment: str,
    waiting: "SimpleQueue[Moment]",
    told: "SimpleQueue[str]",
) -> float:
    """Kill and heal on one lab while moments are waiting; return how long the slowest heal took."""
    path = os.pathsep.join([str(ANY_BASELINE), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {"BROWNOUT_LAB_DIR": str(home), "PYTHONPATH": path}
    options = (
        *("--var", f"cluster={cluster.name}", "--var", "warmup_max_s=600"),
        *("--var", "load=streams.lookups.rate=20,streams.orders.rate=20"),
        *(word for each in VARIABLES.get(experiment, ()) for word in ("--var", each)),
    )
    untouched = Untouched(cluster, home / "planted")
    slowest, tries = 0.0, 0
    while True:
        try:
            moment = waiting.get_nowait()
        except Empty:
            return slowest
        tries += 1
        where = home / f"run{tries}"
        try:
            result = kill_harness.kill_and_heal(
                cluster, where, moment.mark, moment.after_s, experiment, options, env=env
            )
        except kill_harness.EndedByItself:  # on a machine so busy that the load was not steady
            untouched.check(kill_harness.wiped(where), spares_too=experiment != "member-replace")
            waiting.put(moment)
            continue
        for spare in cluster.spares:
            assert not host_for(spare).running().running, spare.name
        sums = untouched.check(result.wiped, spares_too=experiment != "member-replace")
        slowest = max(slowest, result.heal_s)
        told.put(
            f"{home.name}: killed {moment.after_s:.1f} s "
            f"{'after' if result.in_time else 'without having reached'} {moment.mark} (in "
            f"`{result.phase}`): healed in {result.heal_s:.1f} s, mended "
            f"{result.mended or 'nothing'}; {sums} checksums the same"
        )
