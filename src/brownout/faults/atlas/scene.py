"""What Atlas does in a run: refused, requested and watched the same way each time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brownout.atlas import rehearsal
from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter
from brownout.faults.atlas.request import FIND_S, Limits, Request
from brownout.faults.fault import Action, Arguments
from brownout.inventory.model import Cluster, Node

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient
    from brownout.faults.faults import Faults

__all__ = ["UNHURRIED", "ByAtlas", "Scene"]

#: The limits of putting back: Atlas may need minutes for each member.
UNHURRIED = (3600.0, 3600.0)


class ByAtlas(Action):
    """What Atlas does when its Administration API is asked to: it is about the cluster."""

    module, node, takes_node = "atlas", None, False

    def told(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return the requests it would make."""
        spec = cluster.atlas or rehearsal.somewhere(cluster.name)
        return list(rehearsal.rehearsed(self.name, arguments, spec))


@dataclass(frozen=True, slots=True)
class Scene:
    """One cluster that Atlas runs, as one run breaks it."""

    faults: "Faults"

    def refuse(self, act: str, objections: Sequence[str]) -> None:
        """Raise `Refused` where the inventory, the database or Atlas forbid `act` now."""
        self.faults.check_change(act, None, objections)

    @contextmanager
    def request(self, client: "AtlasClient", limits: Limits) -> Iterator[Request]:
        """Yield what is sent by `client`, watched by a driver from now on."""
        from brownout.databases.mongodb.discovery import SetWatch  # needs the extra `mongodb`

        if self.faults.cluster.atlas is None:  # nobody got a client then
            raise ConfigurationError(f"cluster `{self.faults.cluster.name}` has no `atlas`")
        with SetWatch(self.faults.cluster) as watch:
            yield Request(self.faults.cluster.atlas, client, watch, limits, self.faults.stopped)

    def await_whole(self, request: Request) -> None:
        """Wait until the driver knows every member, so that it misses one that goes."""
        request.watch.await_serving(len(self.faults.cluster.nodes), FIND_S, self.faults.stopped)
