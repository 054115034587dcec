"""What an application beside the load saw, through the official client with its own policies.

An answer is

    {"canary": "longest_without_success_s", "scope": "total", "value": 2.4, "unit": "s",
     "status": "measured"}

Before the method it is `not_applicable`, as of the impact probes. Where the run has no canary, or
it died, `status` is `no_data`, `value` is null and `missing` says why: no tolerance accepts that.
No canary decides a verdict by itself; a limit on one is this probe with the tolerance `at_most`.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["canary"]


@activity
def canary(
    figure: str = "longest_without_success_s",
    scope: str = "total",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Return a figure of the canary for total, read or write: operations, failed, unfinished,
    longest_without_success_s, slowest_s, or before and during the fault p50_us and p99_us.
    """
    return current().canary(figure, scope)
