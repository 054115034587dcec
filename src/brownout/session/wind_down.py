"""End a run: wait for redundancy and hold, stop the load, read the ledger back."""

import math
import threading
from collections.abc import Callable
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter
from brownout.load.group import AnyGenerator
from brownout.measure import recovery
from brownout.measure.baseline import Baseline
from brownout.measure.settings import MeasureSettings
from brownout.run.events import EventLog
from brownout.run.table import BUCKETS_PER_S

__all__ = ["await_hold", "read_ledger_back"]

Say = Callable[[str], None]
Stopped = Callable[[], bool]


def await_hold(
    generator: AnyGenerator,
    baseline: Baseline,
    settings: MeasureSettings,
    limit_s: float,
    stopped: Stopped,
    log: EventLog,
) -> bool:
    """Wait until the load has held for `hold_s` seconds, at most `limit_s`; say whether it has.

    That is written down, unless the wait was cut short. Where the load did not hold, `ours` says
    whether it would have if the generator had missed nothing, and `failed` counts what of the
    last `hold_s` seconds did not succeed in time.
    """
    since = generator.now() or 0.0
    held = wait_until(
        lambda: recovery.held(generator.live.snapshot(), since, baseline, settings),
        limit_s,
        0.25,
        stopped=lambda: stopped() or not generator.alive,
    )
    if held or not (stopped() or not generator.alive):
        series = generator.live.snapshot()
        outcome: dict[str, Any] = {"ok": held, "hold_s": settings.hold_s}
        if not held:
            last = round(settings.hold_s * BUCKETS_PER_S)
            failed = series.completion.total("total", "late", "failed", "in_doubt", "shed")
            ours = recovery.held(series, since, baseline, settings, "best")
            outcome |= {"waited_s": limit_s, "failed": int(failed[-last:].sum()), "ours": ours}
        log.point("check", "load_held", **outcome)
    return held


def read_ledger_back(
    generator: AnyGenerator,
    adapter: Adapter,
    log: EventLog,
    say: Say,
    limit_s: float | None = None,
    told_to_end: Stopped = lambda: False,
) -> str | None:
    """Read every verified key back from whatever of the cluster answers; return why not, if so.

    Whether every node is there is written down: what is missing may lie on one that is not. Where
    redundancy is back, the copies are compared first: then all of them have everything, or soon.
    After `limit_s`, or when the run is told to end, the reading and its generator are given up.
    """
    copies = adapter.stable("redundant").reached
    log.point("note", "ledger_read", all_nodes=copies or adapter.stable("rejoined").reached)
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
        generator.verify(lambda done, total: say(f"reading the ledger back {done}/{total}"), copies)
    except BrownoutError as error:
        return f"the ledger could not be read back: {given_up[0] if given_up else error}"
    finally:
        read.set()
        watcher.join()
    return None
