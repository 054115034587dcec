"""What a workload promises: its `sla`, and what the command line adds to it."""

import re
from collections.abc import Sequence

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import parse_overrides
from brownout.load import workload as workloads
from brownout.load.workload import Workload
from brownout.measure.unit import MICROSECONDS
from brownout.runs.capacity.judgement import Promise

__all__ = ["promised", "promises_of", "rates_of", "scaled"]

_FORM = re.compile(r"([a-z][a-z0-9-]*)\.([a-z]+)\.(max|p[0-9]{2}\.?[0-9]*)=([0-9.]+)(us|ms|s)")


def promised(name: str, change: str, given: Sequence[str]) -> Workload:
    """Load a workload with the promises `given` as `orders.write.p99.9=20ms` in its SLA.

    Raises `ConfigurationError` where one is of another form, is about a stream or operation that
    there is not, where there is no SLA at all, or where a stream has no rate to be varied.
    """
    problems, own = [], parse_overrides(change)
    for text in given:
        form = _FORM.fullmatch(text.strip())
        if form is None:
            problems.append(f"--sla: found `{text}`, wanted STREAM.read.p99.9=20ms or alike")
            continue
        stream, scope, percentile, value, unit = form.groups()
        # `p99.9`, as people write it, is `p999_ms` in a workload.
        setting = f"sla.{stream}.{scope}.{percentile.replace('.', '')}_ms"
        own[setting] = float(value) * MICROSECONDS.scales[unit] / 1000
    if problems:
        raise ConfigurationError(problems)
    workload = workloads.load(name, own)
    closed = [stream.name for stream in workload.streams if stream.concurrency]
    problems = [f"stream `{name}`: found a closed loop, wanted a rate" for name in closed]
    if not workload.sla:
        problems.append(f"workload `{workload.name}` has no `sla`; wanted what has to hold, "
                        "there or as --sla STREAM.read.p99=20ms")  # fmt: skip
    if problems:
        raise ConfigurationError(problems)
    return workload


def promises_of(workload: Workload) -> list[Promise]:
    """Return every promise of the workload's SLA, streams in order."""
    return [
        Promise(stream.name, scope, _ratio(percentile), round(1000 * limit))
        for stream in workload.streams
        for scope, limits in workload.sla.get(stream.name, {}).items()
        for percentile, limit in limits.items()
    ]


def rates_of(workload: Workload, rate: float) -> dict[str, float]:
    """Return the rate of each stream that has one, where all of them together offer `rate`.

    They keep their proportions. A reader that follows writes follows them here too.
    """
    factor = rate / workload.rate
    return {s.name: round(s.rate * factor, 3) for s in workload.streams if s.rate}


def scaled(workload: Workload, rate: float) -> Workload:
    """Return `workload` offering `rate` operations a second in all."""
    rates = rates_of(workload, rate)
    streams = [s.model_copy(update={"rate": rates.get(s.name, 0.0)}) for s in workload.streams]
    return workload.model_copy(update={"streams": tuple(streams)})


def _ratio(percentile: str) -> float:
    """`p999_ms` is 0.999, `max_ms` is 1."""
    name = percentile.removesuffix("_ms")
    return 1.0 if name == "max" else float(f"0.{name[1:]}")
