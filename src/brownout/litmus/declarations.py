"""What a ChaosEngine declares of probes, as limits of the run. Pure.

Litmus has its engines say what must hold, so a figure that stands there is the run's limit. A probe
of another kind would never be asked here: it is refused, never passed over.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.judge.slo import Limit
from brownout.litmus.definitions import criteria
from brownout.litmus.names import places
from brownout.observe.metrics import metric_of

__all__ = ["declared_limits", "probes_of"]

Document = Mapping[str, Any]


def probes_of(engine: Document, experiment: str) -> list[Document]:
    """Return the probes that an engine declares for one of its experiments.

    Raises `ConfigurationError` if the engine does not have the experiment.
    """
    listed = (engine.get("spec") or {}).get("experiments") or []
    for each in listed:
        if each.get("name") == experiment:
            return list((each.get("spec") or {}).get("probe") or [])
    names = ", ".join(str(each.get("name")) for each in listed) or "none"
    raise ConfigurationError(
        f"ChaosEngine `{(engine.get('metadata') or {}).get('name')}`: has no experiment "
        f"`{experiment}`; it has {names}"
    )


def declared_limits(
    probes: Iterable[Document], limits: Iterable[Limit], streams: Iterable[str]
) -> dict[str, float]:
    """Return `{"write.blackout": 3.0}` for what the probes of an engine want.

    `limits` are those that the run has anyway. Raises `ConfigurationError` with every probe that
    brownout cannot answer, or whose comparator says something else than a limit of ours does.
    """
    allowed = places(limits, streams)
    declared: dict[str, float] = {}
    problems: list[str] = []
    for probe in probes:
        name, kind = str(probe.get("name")), str(probe.get("type"))
        if name not in allowed or kind not in ("cmdProbe", "promProbe"):
            problems.append(
                f"{name} ({kind}): not one of brownout's probes, so it would never be asked"
            )
            continue
        measure, scope = allowed[name]
        value = _value(probe, Limit(measure, 0.0, scope), kind, problems)
        if value is not None:
            declared[measure if scope == "total" else f"{scope}.{measure}"] = value
    if problems:
        raise ConfigurationError(
            [f"probe {problem}" for problem in problems],
            "`brownout litmus probes EXPERIMENT` prints those that it answers",
        )
    return declared


def _value(probe: Document, limit: Limit, kind: str, problems: list[str]) -> float | None:
    """Return what a comparator allows, in the measure's own unit."""
    name = str(probe.get("name"))
    comparator = (probe.get(f"{kind}/inputs") or {}).get("comparator") or {}
    if comparator.get("criteria") != criteria(limit):
        wanted = comparator.get("criteria")
        problems.append(
            f"{name}: comparator.criteria: found {wanted!r}, wanted {criteria(limit)!r}"
        )
        return None
    try:
        value = float(comparator["value"])
    except (KeyError, TypeError, ValueError):
        wanted = comparator.get("value")
        problems.append(f"{name}: comparator.value: found {wanted!r}, wanted a number in text")
        return None
    shown = metric_of(limit.measure) if kind == "promProbe" else None
    return value * shown.per if shown else value
