"""Where Atlas acts in a run: the cluster, who answers for it, and what is changed already."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter
from brownout.databases.lacking import still_lacks
from brownout.faults import guards
from brownout.faults.atlas.request import FIND_S, Limits, Request
from brownout.faults.making import Making
from brownout.inventory.model import Cluster

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient

__all__ = ["Scene"]


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Scene:
    """One cluster that Atlas runs, as one run has it changed; `stopped` says that the run ends."""

    cluster: Cluster
    adapter: Adapter
    making: Making
    stopped: Callable[[], bool] = _never

    def refuse(self, act: str, objections: Sequence[str]) -> None:
        """Raise `Refused` where the inventory, the database or Atlas forbid `act` now."""
        missing = still_lacks(self.adapter, "whole")
        guards.refuse(guards.of_change(self.cluster, None, act, missing, objections))

    @contextmanager
    def request(self, client: "AtlasClient", limits: Limits) -> Iterator[Request]:
        """Yield what is sent by `client`, watched by a driver from now on."""
        from brownout.databases.mongodb.discovery import SetWatch  # needs the extra `mongodb`

        if self.cluster.atlas is None:  # nobody got a client then
            raise ConfigurationError(f"cluster `{self.cluster.name}` has no `atlas`")
        with SetWatch(self.cluster) as watch:
            yield Request(self.cluster.atlas, client, watch, limits, self.stopped)

    def await_whole(self, request: Request) -> None:
        """Wait until the driver knows every member, so that it misses one that goes."""
        request.watch.await_serving(len(self.cluster.nodes), FIND_S, self.stopped)
