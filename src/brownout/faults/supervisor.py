"""Kill what supervises a node's server, and nothing else: the server keeps running."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Supervised, Support
from brownout.faults.act import PROCESS, Act, Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine import supervisor
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["KillSupervisor", "StartSupervisor"]

#: A server that is on another timeline is rewound, or copied anew, before it is a member.
_MEMBER_WITHIN_S = 240.0
_POLL_S = 0.2


class KillSupervisor(NodeFault):
    """Kill the supervisor of `node` alone (SIGKILL): its server keeps running.

    Another member is promoted once the supervisor's lease ends, while the old primary keeps
    serving its connections. Refused where no other member could be promoted, and on a node that is
    not the primary unless `of_a_replica`. Undone by `start_supervisor`.
    """

    name, act, words = "kill_supervisor", "supervisor", "left without its supervisor"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {}
    undo_name = "start_supervisor"

    def supports(self, cluster: Cluster, adapter: Adapter) -> Support | None:
        """A database without supervisors has none to lose."""
        if not isinstance(adapter, Supervised):
            return Support(False, f"{cluster.database} has no supervisor beside its server")
        return super().supports(cluster, adapter)

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why its own process cannot be killed alone; empty if it can."""
        if node.host is not None and not hasattr(node.host, "server_directory"):
            return f"node `{node.name}`: a host of kind {node.host.kind} knows it only as a whole"
        return supervisor.why_not(host.shell())

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which process would be killed."""
        return supervisor.plan(host.shell())

    def why_not_now(self, faults: "Faults", node: Node, of_a_replica: bool = False) -> list[str]:
        """Return why it would do something else than asked, or harm more."""
        if not isinstance(faults.adapter, Supervised):
            raise faults.unsupported(self.act)
        objections = faults.adapter.objections_to_orphan(node, of_a_replica)
        if not supervisor.servers(faults.host(node).shell()):
            objections.append(f"`{node.name}` supervises no server that runs and would stay")
        return objections

    def do(self, faults: "Faults", node: Node, of_a_replica: bool = False) -> Proof:
        """Kill its supervisor; proven when that is gone and its server still runs."""
        return supervisor.kill(faults.host(node).shell())


class StartSupervisor(NodeUndo):
    """Start the supervisor of `node` again, and wait until the node is a member once more.

    Does nothing to a supervisor that runs.
    """

    name, act, words = "start_supervisor", "start", "given its supervisor back"
    command, rank = "start", PROCESS

    def run(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Start it; then see what the supervisor makes of the server that ran on without it."""
        faults.check_here(self, node)
        act = Act("mend", self.name, node.name)
        return faults.perform(
            act, lambda: self.do(faults, node), lambda: self._await_member(faults, node)
        )

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The supervisor does not run."""
        return not host.running().running

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Start its process; proven when it exists and did not end at once."""
        return faults.host(node).start()

    def _await_member(self, faults: "Faults", node: Node) -> dict[str, Any]:
        """Wait until it is a secondary, or the only primary: before, it may still be an orphan."""

        def state_as_member() -> str:
            members = {member.node: member for member in faults.adapter.members()}
            own, others = members.pop(node.name), members.values()
            alone = all(other.role != "primary" for other in others)
            joined = own.role == "secondary" or (own.role == "primary" and alone)
            return own.state if joined and own.healthy else ""

        state = wait_until(state_as_member, _MEMBER_WITHIN_S, _POLL_S)
        if not state:
            raise ClusterError(
                f"node `{node.name}` is not a member of its cluster {_MEMBER_WITHIN_S:.0f} s after "
                "its supervisor was started",
                "look at the supervisor's log",
            )
        return {"member": state}
