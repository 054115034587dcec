"""End a run: wait for redundancy and hold, stop the load, read the ledger back."""

import math
import threading
from collections.abc import Callable

from brownout.base.errors import BrownoutError
from brownout.base.waiting import wait_until
from brownout.databases.adapter import Adapter
from brownout.load.group import AnyGenerator
from brownout.measure import recovery
from brownout.measure.baseline import Baseline
from brownout.measure.settings import MeasureSettings
from brownout.run.events import EventLog

__all__ = ["await_hold", "read_ledger_back"]

Say = Callable[[str], None]
Stopped = Callable[[], bool]


def await_hold(
    generator: AnyGenerator,
    baseline: Baseline,
    settings: MeasureSettings,
    limit_s: float,
    stopped: Stopped,
) -> bool:
    """Wait until the load has held for `hold_s` seconds, at most `limit_s`; say whether it has."""
    since = generator.now() or 0.0
    return wait_until(
        lambda: recovery.held(generator.live.snapshot(), since, baseline, settings),
        limit_s,
        0.25,
        stopped=lambda: stopped() or not generator.alive,
    )


def read_ledger_back(
    generator: AnyGenerator,
    adapter: Adapter,
    log: EventLog,
    say: Say,
    limit_s: float | None = None,
    told_to_end: Stopped = lambda: False,
) -> str | None:
    """Read every verified key back from whatever of the cluster answers; return why not, if so.

    Whether every node is there is written down: what is missing may lie on one that is not.
    After `limit_s`, and where somebody tells it to end, the reading is given up, and its generator.
    """
    log.point("note", "ledger_read", all_nodes=adapter.stable("rejoined").reached)
    given_up: list[str] = []
    read = threading.Event()

    def watch() -> None:
        within_s = math.inf if limit_s is None else limit_s
        wait_until(read.is_set, within_s, 0.1, stopped=told_to_end, pause=read.wait)
        if not read.is_set():
            given_up.append(
                "it was told to end" if told_to_end() else f"it took longer than {within_s:g} s"
            )
            generator.give_up()

    watcher = threading.Thread(target=watch, name="reading back", daemon=True)
    watcher.start()
    try:
        generator.verify(lambda done, total: say(f"reading the ledger back {done}/{total}"))
    except BrownoutError as error:
        return f"the ledger could not be read back: {given_up[0] if given_up else error}"
    finally:
        read.set()
        watcher.join()
    return None
