"""What all that Atlas does in a run has in common: refused, requested and watched the same way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from brownout.atlas import rehearsal
from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter
from brownout.faults.atlas.cluster_state import asking
from brownout.faults.atlas.request import FIND_S, Limits, Request
from brownout.faults.fault import Action, Arguments
from brownout.inventory.model import Cluster, Node

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient
    from brownout.faults.faults import Faults

__all__ = ["UNHURRIED", "ByAtlas", "await_whole"]

#: The limits of putting back: Atlas may need minutes for each member.
UNHURRIED = (3600.0, 3600.0)


class ByAtlas(Action):
    """What Atlas does when its Administration API is asked to: it is about the cluster."""

    module, node, takes_node = "atlas", None, False

    def plan(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return the requests it would make."""
        spec = cluster.atlas or rehearsal.somewhere(cluster.name)
        return list(rehearsal.rehearsed(self.name, arguments, spec))

    def refuse(self, faults: "Faults", objections: Sequence[str]) -> None:
        """Raise `Refused` where the inventory, the database or Atlas forbid it now."""
        faults.check_change(self.act, None, objections)

    @contextmanager
    def requesting(
        self, faults: "Faults", begins_within_s: float, done_within_s: float
    ) -> "Iterator[tuple[AtlasClient, Request]]":
        """Yield the API, and a request to it that a driver watches from now on."""
        from brownout.databases.mongodb.discovery import SetWatch  # needs the extra `mongodb`

        limits = Limits(begins_within_s, done_within_s)
        with asking(faults.cluster) as client, SetWatch(faults.cluster) as watch:
            if faults.cluster.atlas is None:  # there is no client then
                raise ConfigurationError(f"cluster `{faults.cluster.name}` has no `atlas`")
            yield client, Request(faults.cluster.atlas, client, watch, limits, faults.stopped)


def await_whole(faults: "Faults", request: Request) -> None:
    """Wait until the driver knows every member, so that it misses one that goes."""
    request.watch.await_serving(len(faults.cluster.nodes), FIND_S, faults.stopped)
