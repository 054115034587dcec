"""A process that looks like a run that goes on: it holds a cluster and plays a run back.

At `HELD_AT_S` it waits for SIGUSR1, so that whoever watches has time to see something. With
`--die` it does not wait, and ends as a killed run does.

python -m tests.show.live.player SOURCE TARGET SECONDS_A_SECOND [--die]
"""

import signal
import sys
import time
from pathlib import Path

from tests.show.live.replay import Replay

from brownout.faults import open_runs

STEP_S = 0.25
#: The cluster is redundant again, and the load goes on.
HELD_AT_S = 40.0


def main() -> None:
    source, target, speed = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    replay = Replay(source, target)
    open_runs.claim("played", target, "played", brought_up=False)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    print("playing", flush=True)
    t, last, dies = 0.0, _length(source), "--die" in sys.argv
    held = dies
    while t < last:
        if t >= HELD_AT_S and not held:
            signal.sigwait({signal.SIGUSR1})
            held = True
        t += STEP_S * speed
        replay.until(t)
        time.sleep(STEP_S)
    if dies:
        return  # without letting go of the cluster, as a killed run
    open_runs.release("played")
    replay.end()


def _length(source: Path) -> float:
    return float((source / "series.csv").read_text().splitlines()[-1].split(",")[0])


if __name__ == "__main__":
    main()
