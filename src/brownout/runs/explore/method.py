"""A schedule as an ordinary experiment of Chaos Toolkit. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from brownout.faults import registry
from brownout.runs.explore.schedule import PROMOTED, RECOVERING, REDUNDANT, Schedule, Step
from brownout.session.targets import BROKEN

__all__ = ["SCENARIO", "experiment_of"]

SCENARIO = "explored"
#: How long another primary is awaited.
PROMOTED_LIMIT_S = 60.0
#: What a fault's own switch has beyond the time until its undo.
_SWITCH_MARGIN_S = 60.0


def experiment_of(
    schedule: Schedule,
    *,
    cluster: str | Mapping[str, Any],
    limits: Mapping[str, float],
    title: str,
    description: str,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a schedule as an experiment on `cluster`, judged by `limits`.

    `cluster` is a name or path, or what Chaos Toolkit takes one from. `settings` join its
    configuration, such as a seed and a workload.
    """
    configuration: dict[str, Any] = {
        "cluster": cluster,
        "target": schedule.steps[0].node,
        **settings,
        "limits": dict(limits),
    }
    if schedule.while_degraded:
        configuration["while_degraded"] = True
    return {
        "title": title,
        "description": description,
        "tags": ["explored"],
        "configuration": configuration,
        "extensions": [
            {
                "name": "brownout",
                "scenario": SCENARIO,
                "needs": sorted({step.act for step in schedule.steps}),
            }
        ],
        "controls": [
            {
                "name": "brownout",
                "provider": {"type": "python", "module": "brownout.control"},
            }
        ],
        "runtime": {"rollbacks": {"strategy": "always"}},
        "steady-state-hypothesis": {
            "title": "What was acknowledged is kept, and all copies agree",
            "probes": [
                _activity("probe", "cluster-is-whole", "probes.cluster", "cluster_is_whole")
                | {"tolerance": True},
                _activity("probe", "limits-are-met", "probes.impact", "limits_are_met")
                | {"tolerance": {"type": "jsonpath", "path": "$.met", "expect": True}},
            ],
        },
        "method": list(_method(schedule)),
        "rollbacks": [_activity("action", "put-back", "actions.node", "put_back")],
    }


def _method(schedule: Schedule) -> Iterator[dict[str, Any]]:
    """Yield its activities in order of time.

    The clock is of what is planned: seconds without the waits for the cluster.
    """
    promotions = sum(step.when == PROMOTED for step in schedule.steps)
    switch_s = round(schedule.takes_s + promotions * PROMOTED_LIMIT_S + _SWITCH_MARGIN_S)
    now = 0.0
    lasting: list[tuple[float, int, Step]] = []  # when each is to be undone
    for number, step in enumerate(schedule.steps, 1):
        begins = now + step.gap_s
        if step.when in (REDUNDANT, RECOVERING):
            for ends, of, each in sorted(lasting, key=lambda one: one[0]):
                yield _undo(of, each, ends - now)
                now = max(now, ends)
            lasting, begins = [], now + step.gap_s
        if step.when == REDUNDANT and number > 1:
            yield _activity(
                "probe", f"{number}-wait-until-redundant", "probes.cluster", "wait_until",
                state="redundant", timeout_s="${milestone_limit_s}",
            )  # fmt: skip
        if step.when == PROMOTED:
            yield _activity(
                "probe", f"{number}-wait-until-promoted", "probes.cluster", "wait_until_promoted",
                node=BROKEN, timeout_s=PROMOTED_LIMIT_S,
            )  # fmt: skip
        for ends, of, each in sorted(lasting, key=lambda one: one[0]):
            if ends <= begins:
                yield _undo(of, each, ends - now)
                now = max(now, ends)
                lasting.remove((ends, of, each))
        yield _break(number, step, begins - now, switch_s)
        now = begins
        if step.undo:
            lasting.append((now + step.lasts_s, number, step))
    for ends, of, each in sorted(lasting, key=lambda one: one[0]):
        yield _undo(of, each, ends - now)
        now = max(now, ends)


def _break(number: int, step: Step, after_s: float, switch_s: int) -> dict[str, Any]:
    fault = registry.find(step.fault)
    arguments = {"node": "target" if number == 1 else step.node, **step.arguments}
    if any(each.name == "undo_after_s" for each in fault.parameters()):
        arguments["undo_after_s"] = switch_s
    name = f"{number}-{step.fault.replace('_', '-')}"
    activity = _activity("action", name, f"actions.{fault.module}", step.fault, **arguments)
    return _paused(activity, after_s)


def _undo(number: int, step: Step, after_s: float) -> dict[str, Any]:
    undo = registry.find(step.undo)
    node = "target" if number == 1 else step.node
    name = f"{number}-{step.undo.replace('_', '-')}"
    return _paused(
        _activity("action", name, f"actions.{undo.module}", step.undo, node=node), after_s
    )


def _activity(kind: str, name: str, module: str, func: str, **arguments: Any) -> dict[str, Any]:
    provider = {"type": "python", "module": f"brownout.{module}", "func": func}
    given = {"arguments": arguments} if arguments else {}
    return {"type": kind, "name": name, "provider": {**provider, **given}}


def _paused(activity: dict[str, Any], before_s: float) -> dict[str, Any]:
    pause = round(before_s, 3)
    return {**activity, "pauses": {"before": pause}} if pause > 0 else activity
