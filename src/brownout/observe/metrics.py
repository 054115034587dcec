"""A run's own metrics, beside those of its load generator; `docs/metrics.md` has them all.

What is not known yet is left out: a missing sample means no data, and 0 is a measurement.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from brownout.judge.measures import answer
from brownout.measure.impact import Impact
from brownout.measure.measures import Measure, measures
from brownout.observe.labels import LABELS, labels_of
from brownout.observe.state import PHASES, VERDICTS, RunState
from brownout.run.ledger import Ledger

__all__ = ["RunCollector", "Shown", "metric_of"]

_WRITES = (
    "acknowledged",
    "in_doubt",
    "in_doubt_applied",
    "in_doubt_absent",
    "failed",
    "lost",
    "rolled_back",
    "overwritten_by_late",
)
_KEYS = ("ok", "recovered", "lost_keys", "unexpected", "corrupt", "unread")


@dataclass(frozen=True, slots=True)
class Shown:
    """The metric that shows a measure: its value is the measure's divided by `per`.

    `own` is the label and the value by which a metric of several things tells this one.
    """

    name: str
    per: float
    own: tuple[tuple[str, str], ...]
    scoped: bool = True

    def labels(self, scope: str) -> dict[str, str]:
        """Return the labels of the sample for `scope`, beside those of the run."""
        return {**dict(self.own), **({"scope": scope} if self.scoped else {})}


def metric_of(measure: str) -> Shown | None:
    """Return which metric shows `measure` once a run is judged; None where none does."""
    shown = measures().get(measure)
    if shown is not None and (fate := _fate(shown)):
        return Shown("brownout_ledger_writes", 1.0, (("fate", fate),), scoped=False)
    if shown is None or not _is_shown(shown):
        return None
    own = (("measure", measure.removesuffix("_us")),)
    return Shown(f"brownout_impact_{shown.unit.metric}", shown.unit.per, own)


class RunCollector(Collector):
    """Makes the metrics of one run from what `state` says of it."""

    def __init__(self, state: Callable[[], RunState]) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Yield every metric that can be told now."""
        state = self._state()
        family = _Families(labels_of(state.record))
        yield family.info(state.record)
        yield from _course(state, family)
        yield from _faults(state, family)
        yield from _outlook(state, family)
        yield from _judged(state, family)


class _Families:
    """Makes metrics that all carry the run's labels."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._values = [labels[name] for name in LABELS]

    def info(self, record: Mapping[str, Any]) -> Metric:
        experiment, cluster = record["experiment"], record["cluster"]
        own = {
            "title": experiment["title"],
            "mode": experiment["mode"],
            "target": experiment["target"],
            "database": cluster["database"],
            "environment": cluster["environment"],
            "workload": record["workload"]["name"],
            "version": record["versions"]["brownout"],
        }
        return self.gauge(
            "run_info", "What the run is; always 1.", tuple(own), [(tuple(own.values()), 1.0)]
        )

    def gauge(self, name: str, text: str, own: tuple[str, ...], samples: Any) -> Metric:
        """`samples` are pairs of the values of the labels `own` and a figure."""
        metric = GaugeMetricFamily(f"brownout_{name}", text, labels=(*LABELS, *own))
        return self._filled(metric, samples)

    def counter(self, name: str, text: str, own: tuple[str, ...], samples: Any) -> Metric:
        metric = CounterMetricFamily(f"brownout_{name}", text, labels=(*LABELS, *own))
        return self._filled(metric, samples)

    def states(self, name: str, text: str, own: str, names: Any, now: str) -> Metric:
        """1 for what is the case now, 0 for all else that is known."""
        return self.gauge(name, text, (own,), [((one,), float(one == now)) for one in names])

    def _filled(self, metric: Any, samples: Any) -> Metric:
        for values, figure in samples:
            metric.add_metric((*self._values, *map(str, values)), figure)
        filled: Metric = metric
        return filled


def _course(state: RunState, family: _Families) -> Iterator[Metric]:
    yield family.states(
        "run_phase", "1 for the phase that the run is in.", "phase", PHASES, state.phase
    )
    if state.started_at is not None:
        text = "When the schedule of the load began, in Unix time."
        yield family.gauge("run_start_time_seconds", text, (), [((), state.started_at)])
    if state.board.baseline_tps is not None:
        text = "Ok operations per second in the accepted baseline."
        rate = state.board.baseline_tps
        yield family.gauge("run_baseline_operations_per_second", text, (), [((), rate)])
    counts = Counter(
        (event.type, event.name, event.node or "")
        for event in state.events
        if event.type in ("break", "mend", "milestone", "abort")
    )
    text = "Breaks, mends, milestones and aborts so far."
    yield family.counter("run_events_total", text, ("type", "name", "node"), counts.items())


def _faults(state: RunState, family: _Families) -> Iterator[Metric]:
    faults = list(state.faults())
    broken = {(f.name, f.node): float(f.end is None) for f in faults}
    own, began = ("fault", "node"), state.started_at
    text = "1 from a fault's effect until it is undone, 0 from then on."
    yield family.gauge("fault_in_progress", text, own, broken.items())
    if began is None:
        return
    text = "When a fault took effect, in Unix time."
    starts = {(f.name, f.node): began + f.start for f in faults}
    yield family.gauge("fault_start_time_seconds", text, own, starts.items())
    text = "When a fault was undone, in Unix time."
    ends = {(f.name, f.node): began + f.end for f in faults if f.end is not None}
    yield family.gauge("fault_end_time_seconds", text, own, ends.items())
    text = "When the cluster reached a milestone last, in Unix time."
    reached = {(name,): began + t for name, t in state.milestones()}
    yield family.gauge("milestone_time_seconds", text, ("milestone",), reached.items())


def _outlook(state: RunState, family: _Families) -> Iterator[Metric]:
    """The clocks of recovery and the verdict so far."""
    clocks = state.board.clocks
    text = "Seconds since the latest fault, until service, rejoined or redundant."
    times = [((clock.name,), clock.seconds) for clock in clocks]
    yield family.gauge("recovery_clock_seconds", text, ("clock",), times)
    text = "1 where the clock stands because that is reached."
    stands = [((clock.name,), float(clock.stopped)) for clock in clocks]
    yield family.gauge("recovery_clock_stopped", text, ("clock",), stands)
    if state.board.outlook is not None:
        text = "Limits of the run that can be told already: broken for good, or holding."
        outlook = state.board.outlook
        counts = [(("broken",), len(outlook.broken)), (("holding",), outlook.holding)]
        yield family.gauge("limits", text, ("state",), counts)


def _judged(state: RunState, family: _Families) -> Iterator[Metric]:
    text = "1 for the run's verdict; pending until it is judged."
    yield family.states("run_verdict", text, "verdict", VERDICTS, state.verdict)
    impact = state.impact
    if impact is None:
        return
    measured = list(_measured(impact))
    for suffix in dict.fromkeys(one.unit.metric for one in measures().values() if _is_shown(one)):
        text = f"A measure of docs/measures.md in {suffix.replace('_', ' ')}."
        samples = [((name, scope), figure) for unit, name, scope, figure in measured
                   if unit == suffix]  # fmt: skip
        yield family.gauge(f"impact_{suffix}", text, ("measure", "scope"), samples)
    text = "1 where a measure is within its limit, 0 where it is not; none where it is open."
    met = [((slo.name, slo.scope), float(slo.met)) for slo in impact.slos if slo.met is not None]
    yield family.gauge("limit_met", text, ("measure", "scope"), met)
    yield from _ledger(impact.ledger, family)


def _measured(impact: Impact) -> Iterator[tuple[str, str, str, float]]:
    """Yield unit, measure, scope and figure of all that was measured, the worst fault's."""
    scopes = ("total", *impact.scopes)
    for name, measure in measures().items():
        if not _is_shown(measure):
            continue
        for scope in scopes if measure.per_scope else ("total",):
            value = answer(impact, True, name, scope)["value"]
            if value is not None:
                figure = float(value) / measure.unit.per
                yield measure.unit.metric, name.removesuffix("_us"), scope, figure


def _is_shown(measure: Measure) -> bool:
    """Whether a measure has a metric; what took longer than the deadline has no number."""
    return measure.limitable and not _fate(measure) and not measure.name.startswith("latency_all.")


def _fate(measure: Measure) -> str:
    """Return which of the ledger's writes a measure counts; empty for any other measure."""
    fate = measure.name.removesuffix("_writes")
    return fate if measure.of_ledger and fate in _WRITES else ""


def _ledger(ledger: Ledger, family: _Families) -> Iterator[Metric]:
    """What the ledger says; only its state where that is unknown."""
    text = "1 for what the ledger of acknowledged writes came to."
    states = sorted({"clean", "lost", "unknown", ledger.state})
    yield family.states("ledger_state", text, "state", states, ledger.state)
    if ledger.state not in ("clean", "lost"):
        return
    text = "Writes of the ledger, by what became of them."
    counts = {name: getattr(ledger, name) for name in _WRITES}
    writes = [((name,), figure) for name, figure in counts.items() if figure is not None]
    yield family.gauge("ledger_writes", text, ("fate",), writes)
    text = "Keys of the ledger, by what was read back."
    keys = [((name.removesuffix("_keys"),), getattr(ledger, name)) for name in _KEYS]
    yield family.gauge("ledger_keys", text, ("found",), keys)
