"""Kill what supervises a node's server, and nothing else: the server goes on without it."""

from typing import TYPE_CHECKING, Any

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Supervised
from brownout.faults.acts import Act, Evidence
from brownout.faults.fault import NodeFault, NodeUndo
from brownout.faults.undos import PROCESS
from brownout.inventory.model import Node
from brownout.machine.host import Host, Proof, supervising_host

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["KillSupervisor", "StartSupervisor"]

#: A server that is on another timeline is rewound, or copied anew, before it is a member.
_MEMBER_WITHIN_S = 240.0
_POLL_S = 0.2


class KillSupervisor(NodeFault):
    """Kill the supervisor of `node` alone (SIGKILL): its server goes on by itself.

    Another member is promoted once the supervisor's lease ends, while the old primary goes on
    serving its connections. Refused where no other member could be promoted, and on a node that is
    not the primary unless `of_a_replica`. Undone by `start_supervisor`.
    """

    name, act, words = "kill_supervisor", "supervisor", "left without its supervisor"
    undo, command = "start_supervisor", "kill_supervisor"

    def ready(self, node: Node) -> object:
        """Return the node's host; raises `Unsupported` where it cannot kill one without the other.

        Such are hosts that know a node only as a whole.
        """
        return supervising_host(node)

    def objections(self, faults: "Faults", node: Node, of_a_replica: bool = False) -> list[str]:
        """Return why it would do something else than asked, or harm more."""
        if not isinstance(faults.adapter, Supervised):
            raise faults.unsupported(self.act)
        found = faults.adapter.objections_to_orphan(node, of_a_replica)
        if not supervising_host(node).supervised():
            found.append(f"`{node.name}` supervises no server that runs and would go on")
        return found

    def do(self, faults: "Faults", node: Node, of_a_replica: bool = False) -> Proof:
        """Kill its supervisor; proven when that is gone and its server still runs."""
        return supervising_host(node).kill_supervisor()


class StartSupervisor(NodeUndo):
    """Start the supervisor of `node` again, and wait until the node is a member once more.

    Does nothing to a supervisor that runs.
    """

    name, act, words = "start_supervisor", "start", "given its supervisor back"
    command, rank = "start", PROCESS

    def carry_out(self, faults: "Faults", node: Node, **arguments: Any) -> Evidence:
        """Start it; then see what the supervisor makes of the server that went on without it."""
        self.ready(node)
        act = Act("mend", self.name, node.name)
        return faults.carry_out(
            act, lambda: self.do(faults, node), lambda: self._await_member(faults, node)
        )

    def is_in_place(self, host: Host, proof: Evidence) -> bool:
        """The supervisor does not run."""
        return not host.running().running

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Start its process; proven when it exists and did not end at once."""
        return faults.host(node).start()

    def _await_member(self, faults: "Faults", node: Node) -> dict[str, Any]:
        """Wait until it is a secondary, or the only primary: before, it may still be an orphan."""

        def found() -> str:
            members = {member.node: member for member in faults.adapter.members()}
            own, others = members.pop(node.name), members.values()
            alone = all(other.role != "primary" for other in others)
            joined = own.role == "secondary" or (own.role == "primary" and alone)
            return own.state if joined and own.healthy else ""

        state = wait_until(found, _MEMBER_WITHIN_S, _POLL_S)
        if not state:
            raise ClusterError(
                f"node `{node.name}` is no member of its cluster {_MEMBER_WITHIN_S:.0f} s after "
                "its supervisor was started",
                "look at the supervisor's log",
            )
        return {"member": state}
