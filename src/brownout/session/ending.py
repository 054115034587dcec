"""End a run: wait for redundancy and hold, stop the load, read the ledger back."""

import time
from collections.abc import Callable

from brownout.cluster.adapter import Adapter
from brownout.errors import BrownoutError
from brownout.impact import recovery
from brownout.impact.baseline import Baseline
from brownout.impact.settings import MeasureSettings
from brownout.load.group import AnyGenerator
from brownout.session.milestones import MilestoneWatcher

__all__ = ["await_hold", "await_redundancy", "read_ledger_back"]

Say = Callable[[str], None]
Stopped = Callable[[], bool]


def await_redundancy(watcher: MilestoneWatcher, limit_s: float, stopped: Stopped) -> bool:
    """Wait until redundancy is back, at most `limit_s` seconds; say whether it is."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and not stopped():
        crossing = watcher.wait("redundant", 0.5)
        if crossing.first_yes is not None or not watcher.watching:
            return crossing.first_yes is not None
    return False


def await_hold(
    generator: AnyGenerator,
    baseline: Baseline,
    settings: MeasureSettings,
    limit_s: float,
    stopped: Stopped,
) -> bool:
    """Wait until the load has held for `hold_s` seconds, at most `limit_s`; say whether it has."""
    since = generator.now() or 0.0
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and generator.alive and not stopped():
        if recovery.held(generator.live.snapshot(), since, baseline, settings):
            return True
        time.sleep(0.25)
    return False


def read_ledger_back(generator: AnyGenerator, adapter: Adapter, say: Say) -> str | None:
    """Read every verified key back from the whole cluster; return why it could not be, if so."""
    if not adapter.stable("redundant").reached:
        return "the cluster is not whole, so the ledger was not read back"
    try:
        generator.verify(lambda done, total: say(f"reading the ledger back {done}/{total}"))
    except BrownoutError as error:
        return f"the ledger could not be read back: {error}"
    return None
