"""A run as a trace: one span for the run, each phase, each fault and each dip of it.

    node-kill on staging ─┬─ phase: baseline
                          ├─ phase: method
                          ├─ fault: kill_node n1 ──┬─ dip
                          │                        └─ dip
                          └─ phase: hold

`spans_of` makes them of what the run found; `export` hands them to OpenTelemetry's SDK, which the
standard OTEL_* variables configure. A trace that is named by TRACEPARENT is continued.
"""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.extras import how_to_install
from brownout.base.redact import redact
from brownout.measure.impact import NEVER, Fault, Impact
from brownout.measure.measures import measures
from brownout.run.directory import RunDirectory
from brownout.run.events import Event, read_events
from brownout.run.metadata import read_json

__all__ = ["Span", "export", "is_wanted", "run_spans", "spans_of"]

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
#: What a run does from each of these moments on.
_PHASES = {
    "load_started": "baseline",
    "baseline_accepted": "before the fault",
    "method_started": "method",
    "method_ended": "hold",
    "load_stopped": "put back",
}

Attributes = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Span:
    """One span; `start` and `end` are seconds of the run, `parent` is a place in the list.

    `moments` are its events: when, name, attributes. `error` says why it failed; empty if not.
    """

    name: str
    start: float
    end: float
    attributes: Attributes
    parent: int | None = None
    moments: tuple[tuple[float, str, Attributes], ...] = ()
    error: str = ""


def is_wanted() -> bool:
    """Whether the environment names a receiver of traces."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporters = os.environ.get("OTEL_TRACES_EXPORTER", "otlp").replace(" ", "").split(",")
    return not disabled and "otlp" in exporters and any(map(os.environ.get, _ENDPOINTS))


def run_spans(directory: RunDirectory, impact: Impact) -> tuple[list[Span], int]:
    """Return the spans of a run that is over, and when its second 0 was in Unix nanoseconds."""
    generator = read_json(directory.generator) if directory.generator.exists() else {}
    origin = generator.get("t0_unix_ns")
    if not isinstance(origin, int):
        raise ConfigurationError(f"{directory.path}: when the load began is not known: no spans")
    events = read_events(directory.events) if directory.events.exists() else []
    return spans_of(impact, events), origin


def spans_of(impact: Impact, events: Sequence[Event]) -> list[Span]:
    """Return the spans of a run, the run's own first."""
    phases = list(_phases(events))
    faults = [fault for fault in impact.faults if fault.effective is not None]
    ends = [impact.load.duration_s or 0.0, *(end for _, _, end in phases)]
    ends += [_end_of(fault) for fault in faults]
    failed = "; ".join(impact.reasons) if impact.verdict == "fail" else ""
    title = f"{impact.scenario or 'run'} on {impact.cluster_name or 'unknown'}"
    spans = [Span(title, 0.0, max(ends), _of_run(impact), error=failed)]
    spans += [Span(f"phase: {name}", start, end, {"brownout.phase": name}, 0)
              for name, start, end in phases]  # fmt: skip
    for fault in faults:
        place = len(spans)
        spans.append(_of_fault(fault))
        dips = fault.total.course.dips if fault.total else ()
        spans += [Span("dip", dip.start, dip.end, {"brownout.dip.length_s": round(dip.length, 3)},
                       place) for dip in dips]  # fmt: skip
    return spans


def export(spans: Sequence[Span], origin: int) -> None:
    """Send spans by OTLP over HTTP; `origin` is second 0 in Unix nanoseconds.

    Raises `ConfigurationError` where the environment wants what cannot be done, `ClusterError`
    where the receiver did not take them.
    """
    variable = next(filter(os.environ.get, _PROTOCOLS), "")
    if variable and (protocol := os.environ[variable]) != _PROTOCOL:
        raise ConfigurationError(f"no spans: {variable}: found {protocol!r}, wanted {_PROTOCOL!r}")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from opentelemetry.trace import Status, StatusCode, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError as error:
        raise ConfigurationError(
            "no spans: OpenTelemetry is not installed", how_to_install("otel")
        ) from error

    own = {} if _names_its_service() else {"service.name": "brownout"}
    provider = TracerProvider(resource=Resource.create(own), shutdown_on_exit=False)
    kept = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("brownout")
    carrier = {name.lower(): os.environ.get(name, "") for name in ("TRACEPARENT", "TRACESTATE")}
    outside = TraceContextTextMapPropagator().extract(carrier)
    begun: list[Any] = []
    for span in spans:
        context = outside if span.parent is None else set_span_in_context(begun[span.parent])
        one = tracer.start_span(
            span.name, context, attributes=dict(span.attributes), start_time=_at(span.start, origin)
        )
        for t, name, attributes in span.moments:
            one.add_event(name, dict(attributes), _at(t, origin))
        if span.error:
            one.set_status(Status(StatusCode.ERROR, span.error))
        begun.append(one)
    for one, span in zip(reversed(begun), reversed(spans), strict=True):
        one.end(_at(span.end, origin))
    exporter = OTLPSpanExporter()
    # The SDK logs each attempt that fails; one warning of ours says it once.
    quiet = logging.getLogger("opentelemetry")
    level = quiet.level
    quiet.setLevel(logging.CRITICAL)
    try:
        result = exporter.export(kept.get_finished_spans())
    finally:
        quiet.setLevel(level)
        exporter.shutdown()  # type: ignore[no-untyped-call]
        provider.shutdown()
    if result is not SpanExportResult.SUCCESS:
        endpoint = next(value for name in reversed(_ENDPOINTS) if (value := os.environ.get(name)))
        raise ClusterError(
            f"the receiver of traces at {redact(endpoint)} did not take the run's spans"
        )


def _names_its_service() -> bool:
    named = os.environ.get("OTEL_SERVICE_NAME")
    return bool(named) or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")


def _at(t: float, origin: int) -> int:
    return origin + round(t * 1e9)


def _phases(events: Sequence[Event]) -> Iterator[tuple[str, float, float]]:
    """Yield each phase with its begin and end."""
    moments = [(e.name, e.requested) for e in events if e.type == "phase"]
    reached = [(name, t) for name, t in moments if t is not None]
    for (name, start), (_, end) in pairwise(reached):
        if name in _PHASES:
            yield _PHASES[name], start, max(start, end)


def _end_of(fault: Fault) -> float:
    start = fault.requested if fault.effective is None else fault.effective
    return max(start, fault.until if fault.end is None else fault.end)


def _of_run(impact: Impact) -> Attributes:
    attributes = {
        "brownout.run.id": impact.run_id,
        "brownout.verdict": impact.verdict,
        "brownout.reasons": "; ".join(impact.reasons),
        "brownout.experiment": impact.scenario,
        "brownout.target": impact.target,
        "brownout.cluster": impact.cluster_name,
        "brownout.stand_in": impact.stand_in,
        "brownout.release": impact.versions.get("release"),
        "brownout.load.rate": impact.load.rate,
        "db.system.name": impact.database,
        "brownout.server": impact.server,
        "deployment.environment.name": impact.environment,
        **{f"brownout.{name}": impact.value(name) for name in _main_measures()},
    }
    return _plain(attributes)


def _of_fault(fault: Fault) -> Span:
    start = fault.requested if fault.effective is None else fault.effective
    node = next((act.node for act in fault.events if act.type == "break"), None)
    attributes = {
        "brownout.fault": fault.name,
        "brownout.node": node,
        **{f"brownout.{name}": fault.value(name) for name in _main_measures()},
    }
    moments = [
        (act.effective, f"{act.name} {act.node or ''}".strip(),
         _plain({"brownout.act": act.type, "brownout.uncertainty_s": act.uncertainty,
                 "brownout.by": act.evidence.get("by")}))
        for act in fault.events if act.effective is not None
    ]  # fmt: skip
    moments += [
        (milestone.first_yes, milestone.name, {"brownout.act": "milestone"})
        for milestone in fault.milestones if milestone.first_yes is not None
    ]  # fmt: skip
    name = f"fault: {fault.name}{f' {node}' if node else ''}"
    order = sorted(moments, key=lambda moment: moment[0])
    return Span(name, start, _end_of(fault), _plain(attributes), 0, tuple(order))


def _main_measures() -> list[str]:
    return [measure.name for measure in measures().values() if measure.main]


def _plain(attributes: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """Leave out what is not known; a wait that never ended is the text `never`."""
    return {
        name: "never" if value == NEVER else value
        for name, value in attributes.items()
        if value not in (None, "")
    }
