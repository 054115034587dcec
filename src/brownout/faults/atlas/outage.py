"""A regional outage that Atlas simulates, and its end."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from brownout.atlas.objections import of_outage, regions
from brownout.base.errors import ConfigurationError
from brownout.faults.acts import Evidence
from brownout.faults.atlas.asking import asking, state_of
from brownout.faults.atlas.request import FIND_S, Limits, Request, already
from brownout.faults.atlas.scene import Scene
from brownout.faults.debts import Debt
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient

__all__ = ["OWED", "PRIMARYS_REGION", "end", "goes_on", "start"]

OWED = Debt("end_outage", None)
#: The region in which the primary is now, by the tag that Atlas gives each member.
PRIMARYS_REGION = "primary"
_OVER = (None, "COMPLETE")
_TO_COME = ("START_REQUESTED", "STARTING")


def start(scene: Scene, names: Sequence[str], allow_majority: bool, limits: Limits) -> Evidence:
    """Have Atlas cut regions off; effective when a driver lost a member of them."""
    with asking(scene.cluster) as client, scene.request(client, limits) as request:
        state = state_of(client, events=True)
        cut, known = _meant(scene, names, request), regions(state.cluster)
        scene.refuse("outage", of_outage(state, cut, allow_majority, datetime.now(UTC)))
        scene.await_whole(request)

        def do() -> Proof:
            request.send(lambda: client.start_outage([(known[name][0], name) for name in cut]))
            return request.member_lost()

        def finish() -> dict[str, Any]:
            request.until(lambda: _state(client) == "SIMULATING", "the outage is not complete")
            return request.seen() if allow_majority else request.seen_with_primary()

        told = {"regions": list(cut)}
        return scene.making.make("break", "start_outage", OWED, do, told, finish)


def end(scene: Scene, limits: Limits) -> Evidence:
    """Have Atlas end its outage; effective when a driver sees every member again."""
    with asking(scene.cluster) as client, scene.request(client, limits) as request:

        def do() -> Proof:
            # Atlas answers 400 to the end of one that has not wholly begun.
            request.until(lambda: _state(client) not in _TO_COME, "the outage has not begun")
            found = _state(client)
            if found in _OVER:
                return already("no outage is simulated")
            if found == "SIMULATING":
                request.send(client.end_outage)
            return request.serving(len(scene.cluster.nodes))

        def finish() -> dict[str, Any]:
            request.until(lambda: not goes_on(client), "the outage is not over")
            return request.seen()

        return scene.making.make("mend", "end_outage", OWED, do, finish=finish)


def goes_on(client: "AtlasClient") -> bool:
    """Whether Atlas simulates an outage now, or is about to begin or to end one."""
    return _state(client) not in _OVER


def _state(client: "AtlasClient") -> str | None:
    outage = client.outage()
    return outage.state if outage else None


def _meant(scene: Scene, names: Sequence[str], request: Request) -> list[str]:
    """Return the regions by their names; that of the primary is asked of the driver."""
    if list(names) != [PRIMARYS_REGION]:
        return list(names)
    request.watch.await_primary(FIND_S, scene.stopped)
    region = request.watch.primary_tags.get("region", "")
    if not region:
        raise ConfigurationError(
            "regions: found `primary`, and the primary has no tag `region` that says where it is; "
            "wanted names of regions, as US_EAST_1"
        )
    return [region]
