"""A run's limits as probe definitions of a ChaosEngine, for `spec.experiments[].spec.probe`. Pure.

A cmdProbe runs `brownout litmus probe`, a promProbe asks Prometheus for what the run shows there.
Litmus compares by `>= <=` and a number in text; a ratio stays a ratio, a latency of a promProbe is
in seconds as its metric is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.judge.slo import Limit
from brownout.litmus.names import probe_name
from brownout.measure.measures import AT_LEAST
from brownout.observe.metrics import metric_of

__all__ = ["Source", "cmd_probe", "criteria", "definitions", "number", "prom_probe", "query"]

Probe = dict[str, Any]
#: One attempt: what was measured does not change by asking again.
_RUNS = {"probeTimeout": "60s", "interval": "2s", "attempt": 1}


@dataclass(frozen=True, slots=True)
class Source:
    """The pod that a cmdProbe runs in: `claim` is the volume claim with the runs, if any."""

    image: str
    claim: str = ""
    runs: str = "/runs"


def definitions(
    limits: Iterable[Limit], kind: str, source: Source | None, prometheus: str, experiment: str
) -> list[Probe]:
    """Return a definition of each limit, of the `kind` cmdProbe or promProbe.

    Raises `ConfigurationError` for limits that have no metric, with all of them.
    """
    if kind == "cmdProbe":
        return [cmd_probe(limit, source) for limit in limits]
    chosen = list(limits)
    bare = [limit.measure for limit in chosen if metric_of(limit.measure) is None]
    if bare:
        raise ConfigurationError(
            [f"{measure}: no metric shows it" for measure in bare],
            "give these as cmdProbe; docs/metrics.md has the measures that are shown",
        )
    return [prom_probe(limit, prometheus, experiment) for limit in chosen]


def cmd_probe(limit: Limit, source: Source | None) -> Probe:
    """Return the cmdProbe of a limit; without a `source` it runs where the experiment does."""
    scope = "" if limit.scope == "total" else f" --scope {limit.scope}"
    inputs: Probe = {
        "command": f"brownout litmus probe latest {limit.measure}{scope}",
        "comparator": _comparator(limit, 1.0),
    }
    if source is not None:
        inputs["source"] = _pod(source)
    return _probe(limit, "cmdProbe", inputs)


def prom_probe(limit: Limit, prometheus: str, experiment: str) -> Probe:
    """Return the promProbe of a limit on the last run of `experiment`."""
    metric = metric_of(limit.measure)
    per = metric.per if metric else 1.0
    inputs = {
        "endpoint": prometheus,
        "query": query(limit, experiment),
        "comparator": _comparator(limit, per),
    }
    return _probe(limit, "promProbe", inputs)


def query(limit: Limit, experiment: str) -> str:
    """Return PromQL for the worst figure of runs judged in the last 15 minutes.

    litmus-go puts it between double quotes of a shell, so its own quotes are single ones.
    """
    metric = metric_of(limit.measure)
    if metric is None:
        raise ConfigurationError(f"{limit.measure}: no metric shows it")
    labels: Mapping[str, str] = {"experiment": experiment, **metric.labels(limit.scope)}
    chosen = ",".join(f"{name}='{value}'" for name, value in labels.items())
    worst = "min" if limit.direction == AT_LEAST else "max"
    return f"{worst}(last_over_time({metric.name}{{{chosen}}}[15m]))"


def criteria(limit: Limit) -> str:
    """Return Litmus's sign for which side of the limit is good."""
    return ">=" if limit.direction == AT_LEAST else "<="


def number(value: float) -> str:
    """Return a figure as Litmus reads it: `10`, `0.95`."""
    return f"{value:.12g}"


def _comparator(limit: Limit, per: float) -> dict[str, str]:
    return {"type": "float", "criteria": criteria(limit), "value": number(limit.limit / per)}


def _probe(limit: Limit, kind: str, inputs: Probe) -> Probe:
    name = probe_name(limit.measure, limit.scope)
    return {
        "name": name,
        "type": kind,
        "mode": "EOT",
        f"{kind}/inputs": inputs,
        "runProperties": dict(_RUNS),
    }


def _pod(source: Source) -> Probe:
    pod: Probe = {"image": source.image}
    if source.claim:
        pod["env"] = [{"name": "BROWNOUT_RUNS", "value": source.runs}]
        claim = {"claimName": source.claim, "readOnly": True}
        pod["volumes"] = [{"name": "runs", "persistentVolumeClaim": claim}]
        pod["volumeMount"] = [{"name": "runs", "mountPath": source.runs, "readOnly": True}]
    return pod
