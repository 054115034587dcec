"""How long an outage has to last to be seen: a limit that is shorter says nothing."""

import math
from collections.abc import Mapping, Sequence

from brownout.measure.data import RunData
from brownout.measure.lanes import rate_of
from brownout.measure.level import Level
from brownout.run.table import BUCKETS_PER_S

__all__ = ["resolutions"]


def resolutions(data: RunData, level: Level) -> Mapping[tuple[str, str], float]:
    """Return the shortest limit that can be judged, in seconds, by measure and scope.

    `blackout_operations` have to be expected of the slowest of all that the measure looks at, in
    whole buckets; an outage that begins within a bucket lasts up to one bucket longer than those.
    """
    settings, done = data.settings, data.series.completion
    lanes = [
        rate
        for lane in data.lanes.values()
        if (rate := rate_of(lane["ok"], level.start, level.end)) * (level.end - level.start)
        >= settings.blackout_operations  # a single one that strayed there is no level
    ]

    def apart(rates: Sequence[float], shortest: int) -> float:
        slowest = min((rate for rate in rates if rate), default=math.inf)
        needed = math.ceil(settings.blackout_operations * BUCKETS_PER_S / slowest - 1e-9)
        return (max(needed, shortest) + 1) / BUCKETS_PER_S

    shortest_limits = {("partial_outage", "total"): apart(lanes, 1)}
    for scope in data.series.scopes:
        parts = ("read", "write") if scope == "total" else (scope,)
        rates = [rate_of(done.total(part, "offered"), level.start, level.end) for part in parts]
        rates += lanes if scope == "total" else []
        gap = round(settings.dip_gap_s * BUCKETS_PER_S)
        shortest_limits["client_recovered_time", scope] = apart(rates, gap)
    return shortest_limits
