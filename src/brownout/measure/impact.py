"""What a run found, typed and frozen from the analysis to the last table: all of `impact.json`.

`document` writes and reads it. Times are seconds since the schedule's start. A wait that never
ended is `NEVER`, beyond every number; what is not known is None. The two are never mixed up: the
first is as bad as can be, the second says nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from brownout.measure.baseline import BaselineFigures
from brownout.measure.course import Course
from brownout.measure.driver import Driver
from brownout.measure.drops import Drops
from brownout.measure.failover import Succession
from brownout.measure.latency import Latency
from brownout.measure.losses import Losses
from brownout.measure.measures import find, is_at_least
from brownout.measure.milestones import Milestones
from brownout.measure.rebalance import Rebalance
from brownout.measure.sham import Sham
from brownout.run.ledger import Ledger

__all__ = [
    "NEVER",
    "UNKNOWN",
    "Act",
    "Condition",
    "Fault",
    "Impact",
    "Judged",
    "Load",
    "Milestone",
    "Range",
    "ScopeImpact",
    "as_number",
    "worst_of",
]

NEVER = math.inf
#: [best, worst] of a measure; None is never.
Range = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Act:
    """A break or a mend (`type`); `effective` is None where its effect is not proven."""

    type: str
    name: str
    node: str | None = None
    requested: float | None = None
    effective: float | None = None
    uncertainty: float | None = None
    ended: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Milestone:
    """Between which two looks the cluster reached it; `first_yes` is None where it did not.

    `limit_s` is how long it was awaited. One that was `revoked` had been reached, and the look at
    `last_no` said no.
    """

    name: str
    last_no: float | None = None
    first_yes: float | None = None
    limit_s: float | None = None
    revoked: bool = False
    evidence: Mapping[str, Any] = field(default_factory=dict)


#: The families of a scope in the order of impact.json, and in which one each measure is.
FAMILIES = {"drops": Drops, "course": Course, "losses": Losses, "milestones": Milestones}
_FAMILY_OF = {each.name: name for name, family in FAMILIES.items() for each in fields(family)}
_REBALANCE = tuple(each.name for each in fields(Rebalance))


@dataclass(frozen=True, slots=True)
class ScopeImpact:
    """Every measure of one fault in one scope, by family.

    `added` holds the measures of other packages, and of other versions of brownout. `ranges` has
    each measure whose best and worst case differ.
    """

    drops: Drops
    course: Course
    losses: Losses
    milestones: Milestones
    latency: Latency
    added: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def figure(self, name: str) -> Any:
        """Return a measure by its name as it stands in impact.json: a number, or its parts."""
        family = _FAMILY_OF.get(name)
        if family is not None:
            return getattr(getattr(self, family), name)
        head, dot, rest = name.partition(".")
        if not dot:
            return self.added.get(name)
        if head == "time_above":
            return self.latency.time_above.get(rest)
        phase, _, percentile = rest.partition(".")
        times = self.latency.phases.get(phase)
        if times is None:
            return None
        return (times.all if head == "latency_all" else times.ok).get(percentile)

    def is_beyond_deadline(self, name: str) -> bool:
        """Whether a percentile of all operations is one that was not served in time."""
        head, _, rest = name.partition(".")
        phase, _, percentile = rest.partition(".")
        times = self.latency.phases.get(phase) if head == "latency_all" else None
        if times is None or percentile not in times.all:
            return False
        return times.all[percentile] is None and times.n + times.not_ok > 0


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and what it did: `scopes` has total, read, write and each stream.

    Where nothing is proven to have happened `effective` and `end` are None and there are no
    scopes. Changes of the load from `start` to `until`
    are attributed to it. `partial_outage_in` and `client_recovered_in` are the `lane` and the `op`
    (read, write) that were worst, as far as there is one. `successions` say of each shard who was
    primary and who became it.
    """

    name: str
    events: tuple[Act, ...]
    milestones: tuple[Milestone, ...]
    requested: float
    effective: float | None
    start: float
    end: float | None
    until: float
    scopes: Mapping[str, ScopeImpact] = field(default_factory=dict)
    rebalance: Rebalance = field(default_factory=Rebalance)
    longest_blackout_by_lane: Mapping[str, float] = field(default_factory=dict)
    partial_outage_in: Mapping[str, str] = field(default_factory=dict)
    client_recovered_in: Mapping[str, str] = field(default_factory=dict)
    successions: tuple[Succession, ...] = ()

    @property
    def title(self) -> str:
        """Its name, node and time, as `kill_node n1 at 20.4 s`."""
        node = next((event.node for event in self.events if event.type == "break"), None)
        at = self.requested if self.effective is None else self.effective
        return f"{self.name}{f' {node}' if node else ''} at {at:.1f} s"

    @property
    def total(self) -> ScopeImpact | None:
        """The measures of the whole load."""
        return self.scopes.get("total")

    def figure(self, name: str, scope: str = "total") -> Any:
        """Return a measure as it stands in impact.json: a number, a pair, parts, or None."""
        if name in _REBALANCE:
            return getattr(self.rebalance, name) if scope == "total" else None
        part = self.scopes.get(scope)
        return None if part is None else part.figure(name)

    def number(self, name: str, scope: str = "total") -> float | None:
        """Return a measure as a number: a sum over causes, the later bound of a pair."""
        return as_number(self.figure(name, scope))

    def value(self, name: str, scope: str = "total") -> float | None:
        """Return a measure as a number; `NEVER` where it waited for what did not come."""
        value = self.number(name, scope)
        if value is not None:
            return float(value)
        return NEVER if self.never(name, scope) else None

    def range(self, name: str, scope: str = "total") -> Range | None:
        """Return the best and the worst case of a measure; None where they do not differ."""
        part = self.scopes.get(scope)
        return None if part is None else part.ranges.get(name)

    def missed(self, milestone: str) -> bool:
        """Whether a milestone was not reached in the time it was awaited, or not in the end.

        It may be revoked meanwhile, by further faults or on a busy machine.
        """
        seen = [each for each in self.milestones if each.name == milestone]
        late = any(each.first_yes is None and not each.revoked for each in seen)
        return late or (bool(seen) and seen[-1].first_yes is None)

    def never(self, name: str, scope: str = "total") -> bool:
        """Whether a measure without a value waited for what did not come."""
        part, measure = self.scopes.get(scope), find(name)
        if part is None:
            return False
        if isinstance(figure := part.figure(name), tuple):  # [last no, first yes]
            return figure[-1] is None
        if measure is not None and measure.waits_for == "service":
            return name in _FAMILY_OF or name in part.added
        if measure is not None and measure.waits_for:
            return self.missed(measure.waits_for)
        return part.is_beyond_deadline(name)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of validity; `ok` is None where the run was aborted before it could be told."""

    name: str
    ok: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A limit and what was measured; `met` is None where it is open.

    `best` and `worst` are what it may have been at best and at worst, the same where nothing is
    open about it. None is never, or not known; a run from before there were ranges has None.
    `by_fault` says of each of several faults whether it met the limit by itself.
    """

    name: str
    scope: str
    value: float | None
    best: float | None = None
    worst: float | None = None
    limit: float = 0.0
    direction: str = "at_most"
    limit_from: str = ""
    met: bool | None = None
    detail: str = ""
    why: str = ""
    by_fault: tuple[bool | None, ...] = ()

    @property
    def ends(self) -> Range:
        """What it may have been, at best and at worst."""
        return self.best, self.worst


@dataclass(frozen=True, slots=True)
class Load:
    """What was driven at the cluster, and how well the generator kept to it."""

    loop: str | None = None
    rate: float | None = None
    duration_s: float | None = None
    offered: int | None = None
    ok: int | None = None
    achieved_ratio: float | None = None
    missed: int | None = None
    lag_p99_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a run found; docs/run-directory.md describes every field.

    `started` is the time of day, RFC 3339, at which the schedule started: every `t` counts from it.
    `cluster`, `experiment`, `workload`, `settings` and `versions` are as run.json has them; what
    is asked of them has a property here.
    """

    run_id: str | None = None
    started: str | None = None
    verdict: str
    reasons: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    dropped_limits: tuple[Mapping[str, Any], ...] = ()
    validity: tuple[Condition, ...] = ()
    slos: tuple[Judged, ...] = ()
    stand_in: bool = False
    seed: int | None = None
    cluster: Mapping[str, Any] = field(default_factory=dict)
    experiment: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)
    deadline_s: float | None = None
    deadlines_s: Mapping[str, float] = field(default_factory=dict)
    baseline: BaselineFigures
    faults: tuple[Fault, ...] = ()
    shams: tuple[Sham, ...] = ()
    ledger: Ledger
    load: Load = field(default_factory=Load)
    driver: Driver | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)

    def role_word(self, role: str) -> str:
        """Return the database's own word for `primary` or `secondary`."""
        return str((self.cluster.get("roles") or {}).get(role, role))

    @property
    def scenario(self) -> str | None:
        """The experiment's name."""
        return _word(self.experiment, "name")

    @property
    def mode(self) -> str | None:
        """How the experiment breaks its target."""
        return _word(self.experiment, "mode")

    @property
    def target(self) -> str | None:
        """The node that was broken."""
        return _word(self.experiment, "target")

    @property
    def cluster_name(self) -> str | None:
        """The cluster's name in its inventory."""
        return _word(self.cluster, "name")

    @property
    def database(self) -> str | None:
        """The kind of database."""
        return _word(self.cluster, "database")

    @property
    def engine(self) -> str | None:
        """The database as it names itself, with its version."""
        return _word(self.cluster, "engine")

    @property
    def environment(self) -> str | None:
        """What the inventory calls the surroundings of the cluster."""
        return _word(self.cluster, "environment")

    @property
    def members(self) -> int | None:
        """How many nodes the cluster has."""
        count = self.cluster.get("members")
        return count if isinstance(count, int) else None

    @property
    def workload_name(self) -> str | None:
        """The workload's name."""
        return _word(self.workload, "name")

    @property
    def server(self) -> str:
        """What was tested, with its version."""
        return _word(self.versions, "server") or "unknown"

    @property
    def effective_faults(self) -> tuple[Fault, ...]:
        """The faults that are proven to have taken effect."""
        return tuple(fault for fault in self.faults if fault.effective is not None)

    @property
    def scopes(self) -> list[str]:
        """The names of all scopes but total that were measured."""
        return sorted({name for fault in self.faults for name in fault.scopes} - {"total"})

    @property
    def was_aborted(self) -> bool:
        """Whether a person or a stop condition ended the run, whatever its verdict is for that."""
        return self.verdict == "aborted" or any(r.startswith("aborted: ") for r in self.reasons)

    def value(self, measure: str, scope: str = "total") -> float | None:
        """Return a measure of the run in its own unit: of several faults that in which it is worst.

        Faults that did not take effect count for nothing. What an aborted run did not live to see
        is not known.
        """
        definition = find(measure)
        if definition is not None and definition.of_ledger:
            writes = self.ledger.value(measure)
            return None if writes is None else float(writes)
        values = [fault.value(measure, scope) for fault in self.effective_faults]
        worst = worst_of(measure, values)
        return None if worst == NEVER and self.was_aborted else worst

    def limit(self, measure: str, scope: str = "total") -> Judged | None:
        """Return what became of the limit on a measure; None where none is set."""
        judged = [slo for slo in self.slos if (slo.name, slo.scope) == (measure, scope)]
        return judged[-1] if judged else None

    def unmet(self, names: Sequence[str]) -> list[Condition]:
        """Return which of these conditions of validity do not hold."""
        return [c for c in self.validity if c.name in names and c.ok is not True]


def worst_of(measure: str, values: Sequence[float | None]) -> float | None:
    """Return the worst of several values; None where there is none, or one is not known."""
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    return min(numbers) if is_at_least(measure) else max(numbers)


def as_number(value: Any) -> float | None:
    """Return a figure as a number: a sum over causes, the later bound of a pair."""
    if isinstance(value, Mapping):
        return float(sum(value.values()))
    if isinstance(value, tuple | list) and value:
        value = float(value[-1]) if isinstance(value[-1], int | float) else None
    return value if isinstance(value, int | float) else None


def _word(part: Mapping[str, Any], name: str) -> str | None:
    word = part.get(name)
    return None if word in (None, "") else str(word)


#: Stands for an impact that cannot be read.
UNKNOWN = Impact(
    verdict="inconclusive",
    baseline=BaselineFigures(),
    ledger=Ledger("unknown", "it was not made"),
)
