"""A regional outage that Atlas simulates, and its end."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from brownout.atlas.objections import of_outage
from brownout.atlas.objections import regions as regions_of
from brownout.base.errors import ConfigurationError
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.atlas.by_atlas import UNHURRIED, ByAtlas, await_whole
from brownout.faults.atlas.cluster_state import asking, state_of
from brownout.faults.atlas.request import FIND_S, Request, already
from brownout.faults.fault import Fault, Undo
from brownout.inventory.model import Cluster
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient
    from brownout.faults.faults import Faults

__all__ = ["PRIMARYS_REGION", "EndOutage", "StartOutage", "goes_on"]

#: The region in which the primary is now, by the tag that Atlas gives each member.
PRIMARYS_REGION = "primary"
_OVER = (None, "COMPLETE")
_TO_COME = ("START_REQUESTED", "STARTING")


class StartOutage(ByAtlas, Fault):
    """Have Atlas cut `regions` off from everybody: names by commas, or `primary` for its region.

    Refused where no majority would stay, unless `allow_majority`, and within 5 minutes of the last
    outage. Undone by `end_outage`, which the rollback does too.
    """

    name, act, words, undo_name = "start_outage", "outage", "Atlas cut a region off", "end_outage"

    def run(
        self,
        faults: "Faults",
        node: None,
        regions: str = PRIMARYS_REGION,
        allow_majority: bool = False,
        begins_within_s: float = 900.0,
        done_within_s: float = 900.0,
    ) -> Evidence:
        """Have Atlas cut regions off; effective when a driver lost a member of them."""
        names = [name.strip() for name in regions.split(",") if name.strip()]
        if not names:
            raise ConfigurationError(f"regions: found {regions!r}, wanted names, as US_EAST_1")
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):
            state = state_of(client, events=True)
            cut = _meant(names, request, faults.stopped)
            existing = regions_of(state.cluster)
            self.refuse(faults, of_outage(state, cut, allow_majority, datetime.now(UTC)))
            await_whole(faults, request)

            def do() -> Proof:
                request.send(
                    lambda: client.start_outage([(existing[name][0], name) for name in cut])
                )
                return request.member_lost()

            def finish() -> dict[str, Any]:
                request.until(lambda: _state(client) == "SIMULATING", "the outage is not complete")
                return request.seen() if allow_majority else request.seen_with_primary()

            leaves = PendingUndo(self.undo_name, None)
            act = Act("break", self.name, None, leaves, {"regions": list(cut)})
            return faults.perform(act, do, finish)


class EndOutage(ByAtlas, Undo):
    """Have the outage ended; effective when a driver sees every member again.

    Waits until it has wholly begun, since Atlas ends no other. Does nothing where there is none.
    """

    name, act, words = "end_outage", "outage", "Atlas joined the region again"

    def run(
        self,
        faults: "Faults",
        node: None,
        begins_within_s: float = 900.0,
        done_within_s: float = 900.0,
    ) -> Evidence:
        """Have Atlas end its outage."""
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):

            def do() -> Proof:
                # Atlas answers 400 to the end of one that has not wholly begun.
                request.until(lambda: _state(client) not in _TO_COME, "the outage has not begun")
                state = _state(client)
                if state in _OVER:
                    return already("no outage is simulated")
                if state == "SIMULATING":
                    request.send(client.end_outage)
                return request.serving(len(faults.cluster.nodes))

            def finish() -> dict[str, Any]:
                request.until(lambda: not goes_on(client), "the outage is not over")
                return request.seen()

            return faults.perform(Act("mend", self.name, None), do, finish)

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """End it, whatever Atlas is doing now."""
        self.run(faults, None, *UNHURRIED)

    def is_due_for(self, cluster: Cluster) -> bool:
        """Atlas simulates an outage now: a run takes only a whole cluster, so it came later."""
        with asking(cluster) as client:
            return goes_on(client)


def goes_on(client: "AtlasClient") -> bool:
    """Whether Atlas simulates an outage now, or is about to begin or to end one."""
    return _state(client) not in _OVER


def _state(client: "AtlasClient") -> str | None:
    outage = client.outage()
    return outage.state if outage else None


def _meant(names: Sequence[str], request: Request, stopped: Callable[[], bool]) -> list[str]:
    """Return the regions by their names; that of the primary is asked of the driver."""
    if list(names) != [PRIMARYS_REGION]:
        return list(names)
    request.watch.await_primary(FIND_S, stopped)
    region = request.watch.primary_tags.get("region", "")
    if not region:
        raise ConfigurationError(
            "regions: found `primary`, and the primary has no tag `region` that says where it is; "
            "wanted names of regions, as US_EAST_1"
        )
    return [region]
