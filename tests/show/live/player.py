"""A process that looks like a run that goes on: it holds a cluster and plays a run back.

python -m tests.show.live.player SOURCE TARGET SECONDS_A_SECOND [--die]
"""

import sys
import time
from pathlib import Path

from tests.show.live.replay import Replay

from brownout.faults import open_runs

STEP_S = 0.25


def main() -> None:
    source, target, speed = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    replay = Replay(source, target)
    open_runs.claim("played", target, "played", brought_up=False)
    print("playing", flush=True)
    t, last = 0.0, _length(source)
    while t < last:
        t += STEP_S * speed
        replay.until(t)
        time.sleep(STEP_S)
    if "--die" in sys.argv:
        return  # without letting go of the cluster, as a killed run
    open_runs.release("played")
    replay.end()


def _length(source: Path) -> float:
    return float((source / "series.csv").read_text().splitlines()[-1].split(",")[0])


if __name__ == "__main__":
    main()
