"""What an inventory says of a node that is a pod: which one, and of which cluster.

    host:
      kind: kubernetes
      context: staging
      namespace: databases
      pod: db-0
      container: stone
      program: stoned

`docs/kubernetes.md` explains every setting.
"""

from typing import Annotated, Literal

from pydantic import Field

from brownout.inventory.model import HostSpec, ServerDirectory
from brownout.kubernetes.access import Access, Label
from brownout.machine.deadman import DEFAULT_UNDO_AFTER_S

__all__ = ["KubernetesSpec", "ObjectName"]

_Seconds = Annotated[float, Field(gt=0, le=86_400)]
#: What the API calls a subdomain of the DNS (RFC 1123), as most objects are named.
ObjectName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")]


class KubernetesSpec(HostSpec, Access):
    """A node that is a pod of a StatefulSet."""

    kind: Literal["kubernetes"] = "kubernetes"
    pod: ObjectName
    container: Annotated[Label, Field(description="the pod's container that the database is in")]
    program: Annotated[
        str, Field(min_length=1, pattern=r"^[^/\s]+$", description="what runs there")
    ]
    server_directory: ServerDirectory = None
    claims: Annotated[
        tuple[ObjectName, ...],
        Field(description="its volume claims that a wipe has replaced, besides emptying them"),
    ] = ()
    over_budget: Annotated[
        bool, Field(description="may be broken where a PodDisruptionBudget allows nothing")
    ] = False
    kill_by_deletion: Annotated[
        bool, Field(description="kill a PID 1 by deleting its pod, which it may survive in order")
    ] = False
    network_image: Annotated[
        str, Field(description="the image of a privileged pod that changes its network")
    ] = ""
    undo_after_s: Annotated[
        _Seconds, Field(description="a paused node resumes by itself after this")
    ] = DEFAULT_UNDO_AFTER_S
    start_timeout_s: Annotated[
        _Seconds, Field(description="until the controller's new pod runs the database")
    ] = 300.0
    wipe_timeout_s: Annotated[_Seconds, Field(description="for emptying what is wiped")] = 3600.0

    def process(self, node_address: str) -> str:
        """Return the pod, its namespace and the cluster as the inventory names it."""
        cluster = self.context or self.kubeconfig or "the default cluster"
        return f"pod {self.namespace}/{self.pod} of {cluster}"
