"""Set the clock of a node wrong: it is ahead, behind, or runs too fast or too slowly."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import ClusterError, ConfigurationError, HostError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, TellingTime
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.inventory.model import Node
from brownout.machine import clock
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["SetClockRight", "SkewClock"]

_OFFSET_S = 60.0
_POLL_S = 0.05
#: A server that is asked on a busy machine may take so long for its answer.
_SEEN_WITHIN_S = clock.READ_S + 8.0
#: Servers tell the time by the millisecond or better; a busy one is late with it.
_TOLERANCE_S = 0.2


class SkewClock(NodeFault):
    """Set the clock of `node` wrong by `offset_s` seconds, which may be negative. Labs only.

    `drift_ppm` lets it gain so many microseconds a second from then on, or lose them. libfaketime
    does it to the server of a lab that has clocks of its own: the time of day alone is faked, and
    the machine's clock is never set. Undone by `set_clock_right`, and by the node itself after
    `undo_after_s` seconds, even if this run has died: choose it longer than the fault that is
    meant. 0 takes the default, which is 120.
    """

    name, act, words = "skew_clock", "clock", "given a wrong clock"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"offset_s": (-60, 60)}
    undo_name = "set_clock_right"
    variables: ClassVar[Mapping[str, str]] = {
        "offset_s": "seconds by which its clock is ahead; negative is behind",
        "skewed_s": "seconds for which its clock is wrong",
    }

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with the sizes."""
        try:
            clock.check_size(*_sizes(arguments))
        except ConfigurationError as error:
            return [error.message]
        return []

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its clock cannot be set; empty if it can."""
        return clock.why_not(node, host)

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by which file it would be set."""
        return clock.plan(node, host, *_sizes(arguments))

    def why_not_now(self, faults: "Faults", node: Node, **arguments: Any) -> list[str]:
        """Return whether its process reads that file."""
        return clock.why_not_now(node, faults.host(node))

    def do(
        self,
        faults: "Faults",
        node: Node,
        offset_s: float = _OFFSET_S,
        drift_ppm: float = 0.0,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Set it; proven by the server's own time where its database tells it, else by the file."""
        host = faults.host(node)
        proof = clock.skew(node, host, offset_s, drift_ppm, undo_after_s or None)
        return _proven(faults, node, proof, offset_s, drift_ppm)


class SetClockRight(NodeUndo):
    """Set the clock of `node` right. Does nothing to one that is right."""

    name, act, words = "set_clock_right", "clock_right", "given the true time"
    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return by which file it would be set."""
        return clock.plan(node, host, 0.0, 0.0)

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why it has no clock of its own, so that nothing can be wrong with it."""
        return clock.why_not(node, host)

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Set it right; proven as the fault was, of a node that answers."""
        host = faults.host(node)
        proof = clock.undo_on(node, host)
        state = host.running()
        return _proven(faults, node, proof, 0.0, 0.0, state.running and not state.paused)

    def is_due(self, node: Node, host: Host) -> bool:
        """Its clock is set wrong."""
        return bool(clock.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """Its clock is set as it was, and its process still reads the file."""
        wanted = clock.in_words(float(proof["offset_s"]), float(proof["drift_ppm"]))
        if clock.left_on(node, host) != wanted:
            return False
        return not host.running().running or not clock.why_not_now(node, host)


@dataclass(slots=True)
class _Look:
    """How far a server's own clock was ahead of this machine's, and around when it said so."""

    ahead_s: float
    asked: float
    answered: float


def _sizes(arguments: Arguments) -> tuple[float, float]:
    return float(arguments.get("offset_s", _OFFSET_S)), float(arguments.get("drift_ppm", 0.0))


def _proven(
    faults: "Faults",
    node: Node,
    proof: Proof,
    offset_s: float,
    drift_ppm: float,
    answers: bool = True,
) -> Proof:
    """Return `proof` with what the server itself says of the time; it must be what was asked."""
    adapter, began = faults.adapter, time.monotonic()
    if not isinstance(adapter, TellingTime) or not answers:
        return replace(proof, evidence={**proof.evidence, "server_ahead_s": None})
    before = [began]

    def look() -> _Look:
        asked, here = time.monotonic(), time.time()
        there = adapter.time_of(node)
        answered = time.monotonic()
        return _Look(there - here - (answered - asked) / 2, asked, answered)

    def is_so(seen: _Look) -> bool:
        drifted = abs(drift_ppm) * (seen.answered - began + 1.0) / 1e6
        allowed = _TOLERANCE_S + drifted + (seen.answered - seen.asked) / 2
        if abs(seen.ahead_s - offset_s) <= allowed:
            return True
        before[0] = seen.asked
        return False

    try:
        seen = wait_until(look, _SEEN_WITHIN_S, _POLL_S, so=is_so, despite=ClusterError)
    except ClusterError as error:
        raise HostError(f"node `{node.name}` does not tell its time: {error.message}") from error
    if not is_so(seen):
        raise HostError(
            f"node `{node.name}`: its own clock is {seen.ahead_s:+.3f} s off, wanted {offset_s:+g}"
        )
    evidence = {**proof.evidence, "server_ahead_s": round(seen.ahead_s, 3)}
    return replace(
        proof,
        effective_monotonic=seen.answered,
        uncertainty_s=seen.answered - before[0],
        evidence=evidence,
    )
