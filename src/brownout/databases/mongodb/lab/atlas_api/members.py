"""What the local API does to the lab's replica set: to real processes, with real elections."""

from collections.abc import Callable, Collection

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Milestone
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.lab.atlas_api.book import region_of
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

__all__ = ["Members"]

_WITHIN_S = 120.0
_POLL_S = 0.05
#: A frozen member resumes by itself after this long if the outage is not ended.
_OUTAGE_S = 600.0


class Members:
    """The members of one lab; one job at a time changes them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._adapter = cluster, MongoAdapter(cluster)

    def roles(self) -> dict[str, str]:
        """Return what each member says it is: `{"n1": "primary", …}`."""
        return {member.node: member.role for member in self._adapter.members()}

    def lags_s(self) -> dict[str, float | None]:
        """Return how far each member is behind the primary; None where it cannot be told."""
        return {member.node: member.lag_s for member in self._adapter.members()}

    def version(self) -> str:
        """Return the server's version, as `6.0.5`."""
        return self._adapter.engine().removeprefix("mongod ")

    def restart_primary(self) -> None:
        """Shut the primary down, wait until another one is elected, and start it again."""
        primary = next((name for name, role in self.roles().items() if role == "primary"), None)
        if primary is None:
            raise ClusterError("there is no primary to restart")
        self._restart(self._cluster.node(primary))

    def restart_each(self) -> None:
        """Restart one member after the other, the primary last: at least one election."""
        roles = self.roles()
        for node in sorted(self._cluster.nodes, key=lambda node: roles[node.name] == "primary"):
            self._restart(node)

    def cut(self, regions: Collection[str]) -> None:
        """Freeze the members of `regions`.

        Atlas takes the network away: connections stay open and nothing answers. A stopped process
        would refuse at once, which clients notice sooner; a frozen one keeps silent as they do.
        """
        for node in self._cluster.nodes:
            if region_of(node) in regions:
                host_for(node).pause(_OUTAGE_S)

    def join(self) -> None:
        """Resume every frozen member, and wait until the set is whole."""
        for node in self._cluster.nodes:
            if host_for(node).running().paused:
                host_for(node).resume()
        self._await("whole")

    def stop(self) -> None:
        """Stop every member, the primary last."""
        roles = self.roles()
        for node in sorted(self._cluster.nodes, key=lambda node: roles[node.name] == "primary"):
            host_for(node).stop("clean")

    def start(self) -> None:
        """Start every member and wait until the set is whole."""
        for node in self._cluster.nodes:
            host_for(node).start()
        self._await("whole")

    def _restart(self, node: Node) -> None:
        host_for(node).stop("clean")
        self._until(lambda: "primary" in self.roles().values(), "no primary was elected")
        host_for(node).start()
        self._await("whole")

    def _await(self, milestone: Milestone) -> None:
        self._until(lambda: self._adapter.stable(milestone).reached, f"the set is not {milestone}")

    def _until(self, so: Callable[[], bool], otherwise: str) -> None:
        if not wait_until(so, _WITHIN_S, _POLL_S):
            raise ClusterError(f"{otherwise} within {_WITHIN_S:g} s", "see `brownout lab logs`")
