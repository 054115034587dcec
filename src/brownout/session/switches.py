"""A fault's own switch that would end it before its undo: said by the plan, not found in the run.

Pure: the method of an experiment with its variables resolved, and the hosts of the inventory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from chaoslib import substitute

from brownout.faults.fault import Action, Fault
from brownout.inventory.model import DEFAULT_UNDO_AFTER_S, Cluster, Node
from brownout.session.activity import fault_of, function_at
from brownout.session.targets import TARGET

__all__ = ["switch_problems"]

Activity = Mapping[str, Any]

#: The argument by which a fault is told when it ends by itself; 0 is the host's own default.
_SWITCH = "undo_after_s"


@dataclass(frozen=True, slots=True)
class _Wait:
    """A wait of `seconds`, and the words by which the experiment calls it."""

    seconds: float
    words: str


def switch_problems(
    experiment: Mapping[str, Any], values: Mapping[str, Any], cluster: Cluster
) -> Iterator[str]:
    """Name each fault of the method whose switch ends it before its undo can begin.

    Only waits that are certain count: pauses, and `sleep`. How long a probe waits for a state is
    not known before.
    """
    method = [step for step in experiment.get("method") or () if isinstance(step, Mapping)]
    for number, step in enumerate(method):
        fault = _fault_of(step)
        if not isinstance(fault, Fault) or not _has_switch(fault):
            continue
        arguments = _arguments(step, values)
        switch = _switch_of(fault.act, arguments, cluster)
        waits = list(_waits(fault, arguments, method[number:], values))
        total_s = sum(wait.seconds for wait in waits)
        if switch is not None and total_s >= switch.seconds:
            listed = " and ".join(wait.words for wait in waits)
            yield (
                f"{step.get('name')}: {fault.undo_name} comes {total_s:g} s later at the earliest "
                f"({listed}), but the node ends the fault by itself after {switch.seconds:g} s "
                f"({switch.words}); set `{_SWITCH}` to more than {total_s:g}"
            )


def _fault_of(step: Activity) -> Action | None:
    """Return the fault or the undo of a step; None for a step of another provider."""
    provider = step.get("provider") or {}
    return fault_of(function_at(f"{provider.get('module')}.{provider.get('func')}"))


def _has_switch(fault: Fault) -> bool:
    return any(parameter.name == _SWITCH for parameter in fault.parameters())


def _switch_of(act: str, arguments: Mapping[str, Any], cluster: Cluster) -> _Wait | None:
    """Return the shortest switch of the nodes that may be meant; None where none has one."""
    name, given = arguments.get("node", TARGET), float(arguments[_SWITCH])
    named = [node for node in cluster.every if node.name == name]
    switches = [_on(node, act, given) for node in named or cluster.nodes]
    return min((one for one in switches if one), key=lambda one: one.seconds, default=None)


def _on(node: Node, act: str, given: float) -> _Wait | None:
    """Return the switch of `act` on one node; None where it has none, or the host is not known."""
    if given > 0:
        return _Wait(given, f"its `{_SWITCH}`")
    own_s = DEFAULT_UNDO_AFTER_S if act != "delay" else None  # of a lab that is down
    if node.host is not None:
        own_s = node.host.undoes_after_s(act)
    if own_s is None:
        return None
    return _Wait(own_s, f"the default of the host of node `{node.name}`")


def _waits(
    fault: Fault, arguments: Mapping[str, Any], steps: Sequence[Activity], values: Mapping[str, Any]
) -> Iterator[_Wait]:
    """Yield each wait from the end of the first step, which breaks, to the step that undoes it."""
    first, *rest = steps
    yield from _pause(first, "after", values)
    for step in rest:
        yield from _pause(step, "before", values)
        undo = _fault_of(step)
        same = _arguments(step, values).get("node", TARGET) == arguments.get("node", TARGET)
        if undo is not None and undo.name == fault.undo_name and same:
            return
        yield from _sleep(step, values)
        yield from _pause(step, "after", values)


def _pause(step: Activity, side: str, values: Mapping[str, Any]) -> Iterator[_Wait]:
    written = (step.get("pauses") or {}).get(side)
    if (seconds := _seconds(written, values)) > 0:
        yield _Wait(seconds, f"{seconds:g} s {side} {step.get('name')}{_variable(written)}")


def _sleep(step: Activity, values: Mapping[str, Any]) -> Iterator[_Wait]:
    """A process action that only sleeps."""
    provider = step.get("provider") or {}
    if provider.get("type") != "process" or PurePath(str(provider.get("path"))).name != "sleep":
        return
    given = provider.get("arguments")
    words = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
    if len(words) == 1 and (seconds := _seconds(words[0], values)) > 0:
        yield _Wait(seconds, f"{seconds:g} s by {step.get('name')}{_variable(words[0])}")


def _arguments(step: Activity, values: Mapping[str, Any]) -> dict[str, Any]:
    given = (step.get("provider") or {}).get("arguments")
    arguments = substitute(given, dict(values), None) if isinstance(given, Mapping) else {}
    switch = arguments.get(_SWITCH)
    return {**arguments, _SWITCH: _seconds(switch, values)}


def _seconds(value: Any, values: Mapping[str, Any]) -> float:
    """Return a number as it is written or by its variable; 0 for anything else."""
    try:
        return float(substitute(str(value), dict(values), None))
    except (TypeError, ValueError):
        return 0.0


def _variable(written: Any) -> str:
    """Return ` (hang_s)` of `${hang_s}`."""
    text = str(written)
    return f" ({text[2:-1]})" if text.startswith("${") and text.endswith("}") else ""
