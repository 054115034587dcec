"""What was seen of one fault: every 100 ms of the load, and what the nodes said meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Bucket", "Poll", "Trial"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """One tenth of a second of the load, by completion. `t` is seconds from the fault.

    `errors` are by the C client's code: `w-14` a write, `w9d` a write in doubt, `r9` a read.
    """

    t: float
    reads: int
    writes: int
    errors: Mapping[str, int] = field(default_factory=dict)
    worst_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Poll:
    """What one node said at one moment; all but `t` and `node` are empty if it did not answer."""

    t: float
    node: str
    stable: str = ""
    stable_but_migrating: str = ""
    key: str = ""
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault to the node `victim`; `restarted` is when it was started again, from the fault."""

    where: str
    victim: str
    buckets: tuple[Bucket, ...]
    polls: tuple[Poll, ...]
    restarted: float | None = None
    lost: int | None = None
    #: When the log of a survivor says so: `expired`, `key`, `rebalanced`.
    logged: Mapping[str, float] = field(default_factory=dict)
