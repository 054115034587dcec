"""What Litmus's variables mean to an experiment of ours. Pure.

    TOTAL_CHAOS_DURATION    how long what is broken stays so: `downtime_s`, `maintenance_s`, …
    RAMP_TIME               the wait before it is broken: `phase_s`

Everything else goes by the variables that our experiments read themselves, BROWNOUT_….
"""

from collections.abc import Mapping
from typing import Any

from brownout.base.errors import ConfigurationError

__all__ = ["LENGTHS", "variables"]

#: What an experiment calls the time for which it leaves things broken; it has one of them at most.
LENGTHS = ("downtime_s", "maintenance_s", "hang_s", "slow_s", "partition_s", "outage_s", "paused_s")


def variables(environment: Mapping[str, str], declared: Mapping[str, Any]) -> list[str]:
    """Return the `NAME:float=VALUE` that an experiment whose configuration is `declared` gets.

    Raises `ConfigurationError` with every value that is not a number of seconds, and where a length
    is given to an experiment that has none.
    """
    length = next((name for name in LENGTHS if name in declared), None)
    problems: list[str] = []
    settings = []
    for variable, name in (("TOTAL_CHAOS_DURATION", length), ("RAMP_TIME", "phase_s")):
        text = environment.get(variable, "").strip()
        if not text:
            continue
        if name is None:
            problems.append(f"{variable}: found {text!r}, but this experiment has no such length")
        elif not _is_seconds(text):
            problems.append(f"{variable}: found {text!r}, wanted seconds, 0 or more")
        else:
            settings.append(f"{name}:float={text}")  # a pause wants a number
    if problems:
        raise ConfigurationError(problems)
    return settings


def _is_seconds(text: str) -> bool:
    try:
        return 0 <= float(text) < float("inf")
    except ValueError:
        return False
