"""What a node runs on, and what can be done to it: the protocol of every host.

A host knows no database. Each act proves its effect before it returns, is safe to repeat, and
has its opposite: stop and start, pause and resume.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from brownout.base import plugins
from brownout.base.errors import BrownoutError, ConfigurationError, Unsupported
from brownout.inventory.model import HostSpec, Node
from brownout.machine.commands import Answer, Completed, Runner
from brownout.machine.footprint import Footprint
from brownout.machine.moments import bracket
from brownout.machine.network import Network
from brownout.machine.processes import Process

__all__ = [
    "HOST_ACTS",
    "Connection",
    "Host",
    "ProcessState",
    "Proof",
    "Restricted",
    "Shared",
    "Sharing",
    "Shell",
    "StopMode",
    "already",
    "host_class",
    "host_for",
    "neighbours",
    "proof_of",
    "unavailable_hosts",
]

StopMode = Literal["clean", "kill"]
#: What every kind of host does itself; other faults run scripts on it.
HOST_ACTS = frozenset({"stop", "kill", "pause", "resume", "start", "wipe", "reboot"})


@dataclass(frozen=True, slots=True)
class Proof:
    """That an act had its effect, and when: the cause, never what the cluster made of it.

    The effect came within `uncertainty_s` seconds before `effective_monotonic`, which is on
    `time.monotonic()`. `already` says that nothing had to be done, `skipped` that this host has
    no such thing; `evidence` is what was seen, ready for JSON:

        {"pid": 4711, "signal": "SIGKILL", "state": "gone", "took_s": 0.021}
    """

    effective_monotonic: float
    uncertainty_s: float
    evidence: Mapping[str, Any] = field(default_factory=dict)
    skipped: bool = False
    already: bool = False


def already(evidence: dict[str, Any]) -> Proof:
    """Return the proof that nothing had to be done."""
    return Proof(time.monotonic(), 0.0, evidence, already=True)


def proof_of(
    done: Completed, reply: Answer, evidence: Mapping[str, Any], already: bool = False
) -> Proof:
    """Return the proof of what a script did, which stamped its moments; see `moments`."""
    effective, uncertainty_s = bracket(done, reply)
    return Proof(effective, uncertainty_s, evidence, already=already)


@dataclass(frozen=True, slots=True)
class Connection:
    """A TCP connection that we made: our end and the other one, each as address and port."""

    ours: tuple[str, int]
    theirs: tuple[str, int]


@dataclass(frozen=True, slots=True)
class ProcessState:
    """Whether a node's process exists now; a paused one does."""

    running: bool
    paused: bool = False
    pid: int | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> str:
        """Return it in words, as `paused, pid 4711`."""
        if not self.running:
            return "not running"
        return f"{'paused' if self.paused else 'running'}, pid {self.pid}"


@dataclass(frozen=True, slots=True)
class Shell:
    """Where the scripts run that see a node's process, that process, and a switch's limit.

    `undo_after_s` is how long a switch waits where no limit is given. `process` is None while the
    node does not run. `unit` is the systemd unit that runs it, empty where none is known;
    `server_directory` is where the server of a supervised node works.
    """

    node: str
    runner: Runner
    process: Process | None
    undo_after_s: float
    unit: str = ""
    server_directory: Path | None = None


class Host(Protocol):
    """One node's way to its process and its files.

    Every method raises `HostError` if the host did not do as it was told, and `Refused` where
    doing it could hurt something else; then nothing was touched.
    """

    #: The settings that an inventory gives for this kind of host.
    Spec: ClassVar[type[HostSpec]]

    @property
    def machine(self) -> str:
        """Which machine: nodes with the same one share its directories."""
        ...

    def running(self) -> ProcessState:
        """Return whether the node's process exists, by its identity and not by its id alone."""
        ...

    def serves(self, connection: Connection) -> bool | None:
        """Return whether the node's process has the other end of `connection`.

        False where that of another node has it, None where that cannot be told.
        """
        ...

    def shell(self) -> Shell:
        """Return where scripts run beside the node's process.

        Faults that are not this protocol's own act through it. Raises `Unsupported` where no
        script can act on the process there.
        """
        ...

    def network(self) -> Network:
        """Return the network that the node sees, for what cuts it off or slows it.

        Raises `Unsupported` with what is missing where that cannot be changed for it alone;
        nothing is touched.
        """
        ...

    def stop(self, mode: StopMode) -> Proof:
        """End the process, `clean` (as its own service would) or `kill`; proven when it is gone."""
        ...

    def start(self) -> Proof:
        """Start the process; proven when it exists and did not end at once."""
        ...

    def pause(self, undo_after_s: float | None = None) -> Proof:
        """Freeze every thread of the process; undone by `resume`.

        The node undoes it by itself after `undo_after_s` seconds (a default of the host's where
        none are given), without us and without a connection.
        """
        ...

    def resume(self) -> Proof:
        """Resume a paused process."""
        ...

    def reboot(self) -> Proof:
        """Restart the machine; skipped where the node has none of its own."""
        ...

    def check_wipe(self, directories: Sequence[Path]) -> None:
        """Raise `Refused` where a wipe would be, except that the node may run; touch nothing.

        What the node's own process has open does not count: it is stopped before a wipe.
        """
        ...

    def wipe(
        self,
        directories: Sequence[Path],
        began: Callable[[], None] = lambda: None,
        *,
        finishing: bool = False,
    ) -> Proof:
        """Empty `directories` of a node that is proven stopped; proven when nothing is in them.

        All of them are checked first; `began` is called between the last check and the first
        removal. One that lies in another is emptied with it and stays. `finishing` is that an
        earlier wipe was cut short: one that is gone is empty then. There is no undo but the
        database's own redundancy.
        """
        ...

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return the command or call that `act` would be, for a plan; nothing is touched.

        `act` is one of `HOST_ACTS`; `directories` are a wipe's.
        """
        ...

    def read_text(self, path: Path) -> str:
        """Return the text of a file on the node's machine."""
        ...

    def entries(self, path: Path) -> list[str]:
        """Return the names in a directory on the node's machine."""
        ...

    def resolved(self, paths: Sequence[Path]) -> list[Path]:
        """Return where these absolute paths lead on the node's machine, without links.

        They need not exist.
        """
        ...

    def footprint(self, variables: Sequence[str] = ()) -> Footprint | None:
        """Return what the running node's process shows of itself, with these `variables` of its.

        None where it does not run, or is not to be seen.
        """
        ...


#: What nodes of one machine may have together.
Shared = Literal["machine", "network"]


@runtime_checkable
class Sharing(Protocol):
    """What a host has besides whose machine may have other nodes, reached in the same way."""

    def shared(self, what: Shared) -> str:
        """Return which machine or network that is: the same for all nodes that share it."""
        ...


@runtime_checkable
class Restricted(Protocol):
    """What a host has besides whose login may be allowed some acts and not others."""

    def missing_rights(self, acts: Collection[str]) -> list[str]:
        """Return in words which rights the login misses for `acts`; nothing where it has them all.

        `acts` are the words of faults and undos, as `partition` and `start`.
        """
        ...


def unavailable_hosts() -> dict[str, ConfigurationError]:
    """Return the kinds of hosts whose package is not installed, each with what it needs."""
    return plugins.unavailable(plugins.HOSTS, "host kind")


def host_class(kind: str) -> Any:
    """Return the class that handles hosts of `kind`; `ConfigurationError` with the known ones."""
    return plugins.load(plugins.HOSTS, kind, "host kind")


def host_for(node: Node) -> Host:
    """Return the host of `node`.

    Raises `Unsupported` if the inventory does not say what the node runs on.
    """
    if node.host is None:
        raise Unsupported(
            f"node `{node.name}` has no `host` in the inventory, so nothing can be done to it",
            "add `host:` with how to reach its process (docs/clusters.md)",
        )
    host: Host = host_class(node.host.kind)(node)
    return host


def neighbours(node: Node, nodes: Iterable[Node], what: Shared) -> list[Node]:
    """Return which other `nodes` share the machine of `node`, or the network of it.

    A container, a pod or a lab's node has its own, so it has no neighbours. Raises `HostError`
    where the machine of `node` cannot be asked; others that do not answer are left out.
    """
    own = host_for(node) if node.host is not None else None
    if not isinstance(own, Sharing):
        return []
    others: list[tuple[Node, Sharing]] = []
    for other in nodes:
        with suppress(BrownoutError):
            host = host_for(other)
            if other.name != node.name and isinstance(host, Sharing):
                others.append((other, host))
    if not others:
        return []
    ours, together = own.shared(what), []
    for other, sharing in others:
        with suppress(BrownoutError):
            if sharing.shared(what) == ours:
                together.append(other)
    return together
