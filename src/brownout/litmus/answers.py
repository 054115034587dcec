"""The figure that a probe of Litmus asks for: of a finished run, or so far of a running one.

A running one has only figures that never shrink, and only those of the whole load.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path

from brownout.base.errors import ConfigurationError, Inconclusive, RunDirectoryError
from brownout.base.wait import wait_until
from brownout.measure.document import read_impact
from brownout.measure.measures import find, limit_names
from brownout.run.directory import RunDirectory
from brownout.show.live.files import RunFiles
from brownout.show.live.outlook import CLOCKS, limits_of
from brownout.show.live.outlook import measure as so_far

__all__ = ["figure"]

_POLL_S = 0.5


def figure(
    run: Path, measure: str, scope: str, wait_s: float, sleep: Callable[[float], None] = time.sleep
) -> float:
    """Return a measure in its own unit; infinite where what it waits for never came.

    Waits up to `wait_s` seconds for the run's verdict. Raises `Inconclusive` where nothing is
    known: no data is never within a limit.
    """
    if find(measure) is None:
        raise ConfigurationError(
            f"MEASURE: found {measure!r}, wanted one of {', '.join(limit_names())}"
        )
    directory = RunDirectory.find(run)
    over = wait_until(directory.impact.is_file, wait_s, _POLL_S, pause=sleep)
    value = _judged(directory, measure, scope) if over else _growing(directory, measure, scope)
    if value is None:
        when = "there is no data" if over else "it is known only once the run is judged"
        raise Inconclusive(f"{directory.run_id}: {measure} of {scope}: {when}")
    return value


def _judged(directory: RunDirectory, measure: str, scope: str) -> float | None:
    """Of a run that cannot be judged no figure counts."""
    impact = read_impact(directory)
    if impact.verdict not in ("pass", "fail"):
        reason = "; ".join(impact.reasons)
        raise Inconclusive(f"{directory.run_id}: the run is {impact.verdict}: {reason}")
    return impact.value(measure, scope)


def _growing(directory: RunDirectory, measure: str, scope: str) -> float | None:
    from brownout.measure.settings import MeasureSettings

    files = RunFiles(directory.path)
    series, record = files.series(), files.record()
    if series is None or scope != "total":
        return None
    settings = MeasureSettings.from_mapping(record.get("settings") or {})
    try:
        course = so_far(series, files.events(), settings, limits_of(record))
    except RunDirectoryError:
        return None
    values = dict(course.values or {})
    values |= {name: clock.seconds for name, clock in zip(CLOCKS, course.clocks, strict=False)}
    value = values.get(measure)
    return value if value is None or math.isfinite(value) else None
