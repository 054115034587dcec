"""What limits are called as Litmus's probes: `recovery-time`, `write-blackout`. Pure."""

import re
from collections.abc import Iterable

from brownout.judge.slo import Limit
from brownout.measure.measures import measures

__all__ = ["places", "probe_name"]

_SCOPES = ("total", "read", "write")
Place = tuple[str, str]


def probe_name(measure: str, scope: str) -> str:
    """Return the name: `latency.during.p99_us` of reads is `read-latency-during-p99-us`."""
    text = measure if scope == "total" else f"{scope}.{measure}"
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def places(limits: Iterable[Limit], streams: Iterable[str] = ()) -> dict[str, Place]:
    """Return measure and scope of every name that a probe on a run of ours may have.

    The families without end (`time_above.…`) are there only where `limits` has them.
    """
    names = [measure.name for measure in measures().values() if measure.limitable]
    every = [(name, scope) for name in names for scope in (*_SCOPES, *streams)]
    every += [(limit.measure, limit.scope) for limit in limits]
    return {probe_name(measure, scope): (measure, scope) for measure, scope in every}
