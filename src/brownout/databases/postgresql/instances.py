"""The adapter of CloudNativePG: its operator promotes, and each PostgreSQL is asked by itself."""

import time
from datetime import UTC, datetime
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.wait import wait_until
from brownout.databases.adapter import FailureDetection, Support
from brownout.databases.postgresql import cloudnative
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.adapter import PostgresqlMembers
from brownout.databases.postgresql.instance import Instance, Resource, look
from brownout.databases.postgresql.view import View
from brownout.databases.scenarios import act_of
from brownout.inventory.model import Cluster, Node
from brownout.machine.kubernetes.spec import KubernetesSpec

__all__ = ["InstancesAdapter"]

#: The operator's own default for the old primary to end (`switchoverDelay`) is an hour; it needs
#: seconds where nothing is wrong.
_SWITCHOVER_S = 120.0
_POLL_S = 0.1


class InstancesAdapter(PostgresqlMembers[Instance]):
    """Asks each instance's PostgreSQL directly, and the API of Kubernetes for their Cluster."""

    def __init__(self, cluster: Cluster) -> None:
        specs = [n.host for n in cluster.nodes if isinstance(n.host, KubernetesSpec)]
        if len(specs) != len(cluster.nodes):
            raise ConfigurationError(f"cluster `{cluster.name}`: not all of its nodes are pods")
        how, timeout_s = access(cluster), cluster.connection.timeout_s
        self._resource = Resource(specs[0])
        links = {n.name: Instance(n, how, timeout_s, self._resource) for n in cluster.nodes}
        super().__init__(cluster, links, look)

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what a server says of itself, and the role that its operator labelled it with."""
        try:
            label = self._resource.role_of(self._links[node.name].pod)
        except ClusterError as error:
            label = error.message
        return {**super().evidence(node), "role_label": label}

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible; a supervisor alone cannot be killed here."""
        answer = super().supports(scenario)
        if answer.ok and act_of(scenario) == "supervisor":
            return Support(
                False, "CloudNativePG's instance manager is PID 1: its container ends with it"
            )
        return answer

    def failure_detection(self) -> FailureDetection | None:
        """Return how long the operator is told to wait before it promotes another instance."""
        try:
            spec = self._resource.read().get("spec") or {}
        except ClusterError:
            return None
        delay_s = float(spec.get("failoverDelay") or 0)
        return FailureDetection("failoverDelay", delay_s) if delay_s else None

    def _may_switch(self) -> bool:
        return self._resource.may_promote()

    def _switch(self, node: Node, primary: View, target: View) -> None:
        """Write the Cluster's status as `kubectl cnpg promote` does, and wait for the operator.

        It is over when the target itself accepts writes, and Cluster and label say so as well.
        """
        pod = self._links[target.node].pod
        if cloudnative.primary(self._resource.read()) == pod:
            raise ClusterError(
                f"member `{node.name}` cannot hand over: the Cluster has {pod} as its primary "
                "already"
            )
        self._resource.promote(pod, datetime.now(UTC).isoformat().replace("+00:00", "Z"))
        began = time.monotonic()

        def is_over() -> bool:
            view = self._ask(self._cluster.node(target.node))
            return (
                view.role == "primary"
                and cloudnative.primary(self._resource.read()) == pod
                and self._resource.role_of(pod) == "primary"
            )

        if not wait_until(is_over, _SWITCHOVER_S, _POLL_S):
            status = self._resource.read().get("status") or {}
            raise ClusterError(
                f"the operator did not make `{target.node}` the primary within "
                f"{time.monotonic() - began:.0f} s: the Cluster is in phase "
                f"`{status.get('phase')}`, with {status.get('currentPrimary')} as its primary",
                "`kubectl describe` of the Cluster says more",
            )
