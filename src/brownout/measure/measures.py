"""MEASURES: every measure in one table, with its unit, its label, and which way is better.

Whatever shows, limits, compares or exports a measure takes these from here. A measure of another
package is one `Measure` with its function, registered under the entry point `brownout.measures`.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from brownout.base import plugins
from brownout.base.errors import ConfigurationError
from brownout.measure.course import longest_stall
from brownout.measure.data import RunData, Seen, TimeAbove
from brownout.measure.failover import client_recovered_time, promoted_time
from brownout.measure.lanes import partial_outage
from brownout.measure.losses import (
    budget_share,
    failed_operations,
    in_doubt_operations,
    own_pool_operations,
    own_pool_time,
)
from brownout.measure.overlap import primary_overlap
from brownout.measure.recovery import return_disturbance, return_recovery_time
from brownout.measure.unit import (
    BYTES,
    BYTES_PER_SECOND,
    DIPS,
    KEYS,
    MICROSECONDS,
    OPERATIONS,
    RATIO,
    READS,
    RECORDS,
    RECORDS_PER_SECOND,
    SECONDS,
    TIMES,
    UNITS,
    WRITES,
    Unit,
)

if TYPE_CHECKING:
    from brownout.measure.view import View

__all__ = [
    "AT_LEAST",
    "AT_MOST",
    "MEASURES",
    "Measure",
    "added",
    "described",
    "find",
    "is_at_least",
    "label",
    "limit_names",
    "main",
    "measures",
    "split",
    "time_above_of",
]

logger = logging.getLogger("chaostoolkit")

AT_MOST = "at_most"
AT_LEAST = "at_least"

_PHASES = ("before", "during", "after")
_PERCENTILES = {"p50": 0.50, "p99": 0.99, "p999": 0.999, "max": 1.0}
_SHOWN = {"p50": "median", "p99": "p99", "p999": "p99.9", "max": "maximum"}
_TIME_ABOVE = re.compile(r"time_above\.((p50|p99|p999|max)_([1-9]\d{0,8})(us|ms|s))")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


_NO_PRIMARY = "no node said before the fault whether it accepts writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure by its name in impact.json; dots lead into it: `latency.during.p99_us`.

    `unit` is one of `brownout.measure.unit`, of another package's own, or the name of one of ours.
    `means` describes it in half a sentence; a measure with it has a probe of the same name.
    `digits` are the significant digits of a percentage. `scope` is `each` (total, read, write and
    each stream) or `cluster`. `anchor` is the section of docs/measures.md that defines it, or the
    address of another package's documentation. `main` measures are in every short table,
    and those `if_any` are where they are not 0.
    `limitable` measures are single numbers, which can have a limit. `waits_for` names what never
    came where the value is null, and `zero` says what 0 means where it is not an amount.
    `of_throughput` measures need a steady throughput before the fault. Only planned changes have
    `planned` measures. Measures `of_ledger` are of the whole run and come from its ledger.
    Measures `by_looks` are what nodes said each time they were asked.
    `missing` says why a measure may be missing from a run. `of` computes it from one scope's view
    of a fault and the run's data, as a number or as [last no, first yes], of `bounds` as [least,
    most]; without any, a family of measures does.
    """

    name: str
    unit: Unit
    label: str
    means: str = ""
    digits: int = 3
    better: Literal["lower", "higher"] = "lower"
    scope: Literal["each", "cluster"] = "each"
    anchor: str = "the-measures"
    main: bool = False
    if_any: bool = False
    limitable: bool = True
    waits_for: Literal["", "service", "rejoined", "redundant"] = ""
    zero: str = ""
    of_throughput: bool = False
    planned: bool = False
    of_ledger: bool = False
    bounds: bool = False
    by_looks: bool = False
    missing: str = ""
    of: "Callable[[View, RunData], float | Seen | None] | None" = None

    def __post_init__(self) -> None:
        if isinstance(self.unit, str):  # as a measure of another package may name it
            object.__setattr__(self, "unit", UNITS.get(self.unit, self.unit))

    @property
    def direction(self) -> str:
        """The side of a limit that is good: `at_most` or `at_least`."""
        return AT_LEAST if self.better == "higher" else AT_MOST

    @property
    def per_scope(self) -> bool:
        """Whether each scope has its own; else it is of the whole cluster."""
        return self.scope == "each"


#: Every measure of ours, in the order in which all tables show them.
MEASURES = (
    Measure(name="tps_drop", unit=RATIO, label="throughput drop",
            means="how deep throughput fell: 1 - lowest 1 s mean ÷ baseline, a ratio",
            main=True, of_throughput=True),
    Measure(name="tps_drop_interval", unit=RATIO, label="throughput drop, 95 % interval",
            limitable=False),
    Measure(name="tps_drop_sham", unit=RATIO, label="throughput drop by noise alone",
            limitable=False),
    Measure(name="tps_drop_100ms", unit=RATIO, label="throughput drop, lowest 0.1 s",
            of_throughput=True),
    Measure(name="tps_drop_at_resolution", unit=RATIO,
            label="throughput drop at the resolution asked for", of_throughput=True),
    Measure(name="mean_drop", unit=RATIO, label="mean drop over the dips", of_throughput=True),
    Measure(name="worst_second", unit=RATIO, label="served in the worst second", digits=4,
            better="higher"),
    Measure(name="time_to_impact", unit=SECONDS, label="time to impact", limitable=False),
    Measure(name="degraded_time", unit=SECONDS, label="degraded time"),
    Measure(name="dips", unit=DIPS, label="dips", limitable=False),
    Measure(name="blackout", unit=SECONDS, label="total outage",
            means="for how many seconds no operation, no read or no write was served in time",
            main=True),
    Measure(name="longest_blackout", unit=SECONDS, label="longest total outage"),
    Measure(name="longest_stall", unit=SECONDS, label="longest stall", anchor="blackouts",
            missing="without intended starts a stall is a total outage", of=longest_stall),
    Measure(name="partial_outage", unit=SECONDS, label="longest outage of one lane",
            scope="cluster", missing="it takes two lanes, one with traffic before the fault",
            of=partial_outage),
    Measure(name="promoted_time", unit=SECONDS, label="new primary", scope="cluster",
            anchor="failover", by_looks=True, missing=_NO_PRIMARY, zero="the primary stayed",
            of=promoted_time),
    Measure(name="primary_overlap", unit=SECONDS, label="more than one primary", scope="cluster",
            anchor="failover", by_looks=True, missing=_NO_PRIMARY, bounds=True,
            of=primary_overlap),
    Measure(name="client_recovered_time", unit=SECONDS, label="client served again",
            anchor="failover", of=client_recovered_time),
    Measure(name="recovery_time", unit=SECONDS, label="service recovered",
            means="the seconds from the fault's effect to the end of the last dip until a mend, "
                  "if the load then held",
            main=True, waits_for="service"),
    Measure(name="return_recovery_time", unit=SECONDS, label="recovered after the return",
            means="the seconds from the first mend's effect to the end of the last dip that began "
                  "after it",
            anchor="recovery", main=True, missing="the fault was not undone during the run",
            of=return_recovery_time),
    Measure(name="settled_time", unit=SECONDS, label="last dip over", main=True,
            waits_for="service"),
    Measure(name="return_disturbance", unit=SECONDS, label="degraded time after a node's return",
            of=return_disturbance),
    Measure(name="rejoin_time", unit=SECONDS, label="rejoined",
            means="the seconds from the fault's effect until every member had rejoined",
            scope="cluster", main=True, waits_for="rejoined"),
    Measure(name="rejoin_time_after_start", unit=SECONDS, label="rejoined, since the node's return",
            means="the seconds from a node's return until every member had rejoined",
            scope="cluster", waits_for="rejoined"),
    Measure(name="redundancy_time", unit=SECONDS, label="redundancy restored",
            means="the seconds from the fault's effect until redundancy was back",
            scope="cluster", main=True, waits_for="redundant"),
    Measure(name="redundancy_time_after_start", unit=SECONDS,
            label="redundancy restored, since the node's return",
            means="the seconds from a node's return until redundancy was back", scope="cluster",
            waits_for="redundant"),
    Measure(name="lost_operations", unit=OPERATIONS, label="operations lost",
            means="how many operations the fault cost",
            main=True),
    Measure(name="lost_seconds", unit=SECONDS, label="seconds of load lost"),
    Measure(name="budget_share", unit=TIMES, label="error budget used", of=budget_share),
    Measure(name="errors", unit=OPERATIONS, label="errors",
            means="how many operations were late, failed, in doubt or shed; `detail` has "
                  "the causes"),
    Measure(name="failed_operations", unit=OPERATIONS, label="operations that failed",
            of=failed_operations),
    Measure(name="in_doubt_operations", unit=OPERATIONS, label="operations in doubt",
            of=in_doubt_operations),
    Measure(name="errors_after_retry", unit=OPERATIONS,
            label="errors that one retry did not cure"),
    Measure(name="own_pool_operations", unit=OPERATIONS, if_any=True,
            label="ended waiting for brownout's own pool", of=own_pool_operations),
    Measure(name="own_pool_time", unit=SECONDS, if_any=True,
            label="time in which operations ended so", of=own_pool_time),
    Measure(name="availability", unit=RATIO, label="availability",
            means="ok ÷ offered by intended start over the fault's episode, a ratio",
            digits=4, better="higher", main=True),
    Measure(name="availability_run", unit=RATIO, label="availability over the whole run",
            digits=4, better="higher"),
    Measure(name="lost_writes", unit=WRITES, label="acknowledged writes lost",
            means="how many acknowledged writes were gone when the ledger was read back",
            scope="cluster",
            anchor="the-ledger-of-acknowledged-writes", main=True, of_ledger=True),
    Measure(name="diverged_copies", unit=KEYS, label="keys whose copies differ",
            means="how many keys were not stored alike on all servers that have a copy, after "
                  "everything was put back",
            scope="cluster", anchor="the-copies", of_ledger=True),
    Measure(name="stale_reads", unit=READS, label="stale reads against the guarantee",
            means="how many reads returned an older state than their guarantee allows",
            scope="cluster", anchor="the-reads", of_ledger=True),
    Measure(name="dirty_reads", unit=READS, label="dirty reads against the guarantee",
            means="how many reads returned a write that was never acknowledged and is gone, "
                  "against their guarantee",
            scope="cluster", anchor="the-reads", of_ledger=True),
    Measure(name="stale_reads_allowed", unit=READS, label="stale reads that the guarantee allows",
            scope="cluster", anchor="the-reads", of_ledger=True),
    Measure(name="dirty_reads_allowed", unit=READS, label="dirty reads that the guarantee allows",
            scope="cluster", anchor="the-reads", of_ledger=True),
    Measure(name="stale_age", unit=SECONDS, label="oldest stale read",
            scope="cluster", anchor="the-reads", of_ledger=True),
    Measure(name="stale_writes", unit=WRITES, label="acknowledged writes that one read missed",
            scope="cluster", anchor="the-reads", of_ledger=True),
    Measure(name="nonlinearizable_registers", unit=KEYS,
            label="registers that are not linearizable",
            means="how many registers were used in a way that no order of their operations "
                  "explains",
            scope="cluster", anchor="linearizability", of_ledger=True),
    Measure(name="in_doubt_applied", unit=WRITES, label="writes in doubt that took effect",
            scope="cluster", anchor="the-ledger-of-acknowledged-writes", of_ledger=True),
    Measure(name="in_doubt_absent", unit=WRITES, label="writes in doubt without effect",
            scope="cluster", anchor="the-ledger-of-acknowledged-writes", of_ledger=True),
    Measure(name="rebalance_time", unit=SECONDS, label="nothing left to move",
            means="the seconds from a planned change's effect until nothing was left to move",
            scope="cluster", planned=True),
    Measure(name="records_moved", unit=RECORDS, label="records moved", scope="cluster",
            planned=True),
    Measure(name="records_moved_per_s", unit=RECORDS_PER_SECOND, label="records moved a second",
            better="higher", scope="cluster", planned=True),
    Measure(name="bytes_moved", unit=BYTES, label="data moved", scope="cluster", planned=True),
    Measure(name="bytes_moved_per_s", unit=BYTES_PER_SECOND, label="data moved a second",
            better="higher", scope="cluster", planned=True),
    Measure(name="throughput_while_moving", unit=TIMES, label="throughput while moving",
            means="mean throughput while data was moved ÷ baseline, a ratio",
            digits=4,
            better="higher", scope="cluster", of_throughput=True, planned=True),
    Measure(name="capacity_ratio", unit=TIMES, label="capacity after, of before",
            means="throughput after ÷ before, a ratio; in closed loop only, where it is "
                  "not offered",
            digits=4,
            better="higher", scope="cluster", of_throughput=True, planned=True),
    Measure(name="decay", unit=RATIO, label="decay over the whole run"),
    *(Measure(name=f"{family}.{phase}.{percentile}_us", unit=MICROSECONDS,
              label=f"response time {_SHOWN[percentile]} {phase}{of}")
      for (family, of), phase, percentile
      in product((("latency", ""), ("latency_all", ", all operations")), _PHASES, _PERCENTILES)),
)  # fmt: skip


@cache
def measures() -> Mapping[str, Measure]:
    """Return every measure by its name: ours, then those of other packages."""
    by_name = {measure.name: measure for measure in MEASURES}
    for name in plugins.known(plugins.MEASURES):
        try:
            measure = _checked(plugins.load(plugins.MEASURES, name, "measure"), name)
        except ConfigurationError as error:
            logger.warning("%s", error)
            continue
        if measure.name in by_name:
            raise ConfigurationError(
                f"the measure `{measure.name}` is defined twice, the second time by the entry "
                f"point `{name}` of {plugins.MEASURES}",
                "uninstall the package that has it, or rename its measure",
            )
        by_name[measure.name] = measure
    return by_name


def described(name: str) -> Measure | None:
    """Return the measure of this name; None if there is none."""
    if _TIME_ABOVE.fullmatch(name):
        percentile, limit = name.removeprefix("time_above.").split("_")
        amount = re.sub(r"(\d)(?=[a-z])", r"\1 ", limit)
        words = f"time with {_SHOWN[percentile]} over {amount}"
        return Measure(name=name, unit=SECONDS, label=words)
    return measures().get(name)


def find(name: str) -> Measure | None:
    """Return the measure of this name that a limit can be set on; None if there is none."""
    measure = described(name)
    return measure if measure is not None and measure.limitable else None


def split(name: str) -> tuple[str, str]:
    """Return scope and measure of `write.blackout`, `latency.during.p99_us`, `tps_drop`."""
    if find(name):
        return "total", name
    scope, dot, measure = name.partition(".")
    return (scope, measure) if dot else ("total", name)


def is_at_least(measure: str) -> bool:
    """Whether more of a measure is better."""
    definition = find(measure)
    return definition is not None and definition.better == "higher"


def label(name: str) -> str:
    """Return the label of a measure; its name where this installation does not have it."""
    measure = described(name)
    return measure.label if measure else name.replace("_", " ")


def main() -> list[Measure]:
    """Return the measures that every short table shows."""
    return [measure for measure in measures().values() if measure.main]


def added() -> list[Measure]:
    """Return the measures that have a function of their own, those of other packages too."""
    return [measure for measure in measures().values() if measure.of is not None]


def limit_names() -> list[str]:
    """Return the names that a limit can have, the families as patterns; for messages and docs."""
    return [
        *(m.name for m in measures().values() if m.limitable and "." not in m.name),
        "latency.<before|during|after>.<p50|p99|p999|max>_us",
        "latency_all.<before|during|after>.<p50|p99|p999|max>_us",
        "time_above.<p50|p99|p999|max>_<limit, e.g. 10ms>",
    ]


def time_above_of(name: str) -> TimeAbove | None:
    """Return what `time_above.p99_10ms` asks for; None for any other measure."""
    match = _TIME_ABOVE.fullmatch(name)
    if match is None:
        return None
    limit_us = int(match[3]) * int(MICROSECONDS.scales[match[4]])
    return TimeAbove(match[1], _PERCENTILES[match[2]], limit_us)


def _checked(measure: Any, entry: str) -> Measure:
    """Return a measure of another package; raises `ConfigurationError` with all that is wrong."""
    where = f"the entry point `{entry}` of {plugins.MEASURES}"
    if not isinstance(measure, Measure):
        kind = type(measure).__name__
        raise ConfigurationError(f"{where}: found a {kind}, wanted a brownout.measure.Measure")
    problems = []
    if not _NAME.fullmatch(measure.name):
        problems.append(f"name: found {measure.name!r}, wanted small letters, digits and _")
    if not isinstance(measure.unit, Unit):
        wanted = f"a brownout.measure.Unit, or one of {', '.join(UNITS)}"
        problems.append(f"unit: found {measure.unit!r}, wanted {wanted}")
    elif not _NAME.fullmatch(measure.unit.metric):
        wanted = "small letters, digits and _, as in the name of a metric"
        problems.append(f"unit.metric: found {measure.unit.metric!r}, wanted {wanted}")
    if measure.of is None:
        problems.append("of: missing; wanted the function that measures it")
    if problems:
        raise ConfigurationError([f"{where}: {problem}" for problem in problems])
    return measure
