"""What a calibration scenario is: a fault with known truth, and the load that it happens to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["DEADLINE_S", "Effect", "Scenario", "Setup"]

#: An effect of the scripted server's script; its `at` counts from the start of the fault.
Effect = Mapping[str, Any]

DEADLINE_S = 1.0


@dataclass(frozen=True, slots=True)
class Setup:
    """The load and the server of one run; scenarios of the same setup follow one another in it.

    `rate` is operations per second, on `lanes` servers that answer within `latency_ms`. With
    `ledger_keys` all operations are verified writes on so many keys. Without `baseline` nothing
    but the ledger is looked at, and the fault comes at once. With `client` the operations are done
    by a program that speaks the protocol of docs/client.md; every one of its streams is verified.
    """

    name: str
    rate: float = 1000.0
    arrivals: str = "constant"
    lanes: int = 1
    latency_ms: float = 0.0
    deadline_s: float = DEADLINE_S
    keys: int = 2_000
    ledger_keys: int = 0
    baseline: bool = True
    client: bool = False

    @property
    def noise(self) -> float:
        """What a mean of 1 s scatters by, relative: a standard deviation; 0 for even arrivals."""
        return 1 / math.sqrt(self.rate) if self.arrivals == "poisson" else 0.0

    @property
    def bucket_noise(self) -> float:
        """The same of a bucket of 0.1 s."""
        return self.noise * math.sqrt(10)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One fault: what is scripted, how long it lasts in seconds, and which figures are judged.

    `quick` and `full` say of which calibration it is part. `last` marks one that does not end, so
    that nothing can follow it in its run.
    """

    name: str
    title: str
    setup: Setup
    effects: tuple[Effect, ...]
    length_s: float
    figures: tuple[str, ...]
    quick: bool = False
    full: bool = True
    last: bool = False
