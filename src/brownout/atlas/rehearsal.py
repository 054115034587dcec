"""What an action would send to Atlas, in order, without sending any of it: the dry run. Pure.

What is known only from an answer stands in words: `{"replicationSpecs": "as they are, with M40"}`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brownout.atlas import calls
from brownout.atlas.calls import Call, shown
from brownout.atlas.sizes import Size
from brownout.inventory.atlas import AtlasSpec

__all__ = ["ACTIONS", "rehearsed", "somewhere"]

Arguments = Mapping[str, Any]
Question = Callable[[AtlasSpec], Call]
Order = Callable[[AtlasSpec, Arguments], Call]
#: What is asked before anything is.
_STATE: tuple[Question, ...] = (calls.read_cluster, calls.read_status, calls.read_outage)


def somewhere(cluster: str) -> AtlasSpec:
    """Return settings of a lab that is down, to show its calls with what it will have."""
    return AtlasSpec.model_construct(
        base_url="http://127.0.0.1:{port}", project="{groupId}", cluster=cluster
    )


def rehearsed(action: str, arguments: Arguments, spec: AtlasSpec) -> Iterator[str]:
    """Yield in lines what `action` of `ACTIONS` asks first, sends, asks meanwhile, and undoes."""
    rehearsal = ACTIONS[action]
    for ask in rehearsal.asks:
        yield f"asks {_line(ask(spec), spec)}"
    call = rehearsal.sends(spec, arguments)
    yield from shown(call, spec).splitlines()
    yield f"  by a login with the role {call.role}"
    for ask in rehearsal.awaits:
        yield f"asks {_line(ask(spec), spec)} until it is done"
    if rehearsal.undoes is not None:
        undo = rehearsal.undoes(spec, arguments)
        body = "" if undo.body is None else f" {dict(undo.body)}"
        yield f"put back by {_line(undo, spec)}{body}"


def _line(call: Call, spec: AtlasSpec) -> str:
    return shown(call, spec).splitlines()[0]


def _resize(spec: AtlasSpec, given: Arguments) -> Call:
    disk_gb = float(given.get("disk_gb") or 0.0) or None
    numbers = (int(given.get(name) or 0) for name in ("nodes", "shards"))
    size = Size(str(given.get("tier", "")), disk_gb, *numbers)
    return calls.change_cluster(spec, {"replicationSpecs": f"as they are, with {size.words()}"})


def _resize_back(spec: AtlasSpec, given: Arguments) -> Call:
    return calls.change_cluster(spec, {"replicationSpecs": "as they were"})


def _outage(spec: AtlasSpec, given: Arguments) -> Call:
    regions = str(given.get("regions", "primary"))
    if regions == "primary":
        return calls.start_outage(spec, [("{its provider}", "{the primary's region}")])
    names = [name.strip() for name in regions.split(",")]
    return calls.start_outage(spec, [("{its provider}", name) for name in names])


def _end_outage(spec: AtlasSpec, given: Arguments) -> Call:
    return calls.end_outage(spec)


def _pause(spec: AtlasSpec, given: Arguments) -> Call:
    return calls.change_cluster(spec, {"paused": True})


def _resume(spec: AtlasSpec, given: Arguments) -> Call:
    return calls.change_cluster(spec, {"paused": False})


def _window(spec: AtlasSpec, given: Arguments) -> Call:
    names = {"day_of_week": "dayOfWeek", "hour_of_day": "hourOfDay"}
    return calls.change_maintenance(spec, {names[key]: given.get(key) for key in names})


def _window_back(spec: AtlasSpec, given: Arguments) -> Call:
    return calls.change_maintenance(spec, {"dayOfWeek": "as it was", "hourOfDay": "as it was"})


def _maintain(spec: AtlasSpec, given: Arguments) -> Call:
    window = {"dayOfWeek": "as it is", "hourOfDay": "as it is"}
    return calls.change_maintenance(spec, {**window, "startASAP": True})


def _failover(spec: AtlasSpec, given: Arguments) -> Call:
    return calls.restart_primaries(spec)


def _oplog(spec: AtlasSpec) -> Call:
    return calls.read_measurements(spec, "HOST:PORT", ["OPLOG_MASTER_TIME"])


def _recent(spec: AtlasSpec) -> Call:
    return calls.list_events(spec, "an-hour-ago")


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One action: what it asks first, what it sends, asks until that is done, what undoes it."""

    asks: tuple[Question, ...]
    sends: Order
    awaits: tuple[Question, ...] = (calls.read_status, calls.read_cluster)
    undoes: Order | None = None


ACTIONS = {
    "test_failover": Rehearsal((calls.list_processes, *_STATE, _oplog), _failover),
    "resize_cluster": Rehearsal(_STATE, _resize, undoes=_resize_back),
    "start_outage": Rehearsal((*_STATE, _recent), _outage, (calls.read_outage,), _end_outage),
    "end_outage": Rehearsal((calls.read_outage,), _end_outage, (calls.read_outage,)),
    "pause_cluster": Rehearsal((*_STATE, _recent), _pause, undoes=_resume),
    "resume_cluster": Rehearsal((calls.read_status, calls.read_cluster), _resume),
    "set_maintenance_window": Rehearsal((calls.read_maintenance,), _window, (), _window_back),
    "start_maintenance": Rehearsal((calls.read_maintenance, *_STATE), _maintain),
}
