"""The project's maintenance: when it is, and that what is scheduled begins at once."""

import time
from typing import TYPE_CHECKING

from brownout.atlas.answers import MaintenanceWindow
from brownout.atlas.objections import of_maintenance
from brownout.base.errors import ClusterError
from brownout.faults.acts import Evidence
from brownout.faults.atlas.asking import asking, state_of
from brownout.faults.atlas.request import Limits
from brownout.faults.atlas.scene import Scene
from brownout.faults.debts import Debt
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient

__all__ = ["put_back", "set_window", "start"]

_NAME = "set_maintenance_window"
Window = dict[str, int]


def set_window(scene: Scene, day_of_week: int, hour_of_day: int) -> Evidence:
    """Give the project another window; effective when Atlas says it."""
    with asking(scene.cluster) as client:
        scene.refuse("maintenance", [])
        before = client.maintenance()
        owes = Debt(_NAME, None, value=_told(before) if before.day_of_week else {})
        wanted = {"dayOfWeek": day_of_week, "hourOfDay": hour_of_day}
        return _give(scene, client, "change", wanted, owes)


def start(scene: Scene, limits: Limits) -> Evidence:
    """Have scheduled maintenance begun at once; effective when a driver lost a member."""
    with asking(scene.cluster) as client, scene.request(client, limits) as request:
        window = client.maintenance()
        scene.refuse("maintenance", of_maintenance(state_of(client), window))
        scene.await_whole(request)

        def do() -> Proof:
            request.send(lambda: client.change_maintenance({**_told(window), "startASAP": True}))
            return request.member_lost()

        return scene.making.make(
            "break", "start_maintenance", None, do, finish=request.applied, rolling=True
        )


def put_back(scene: Scene, debt: Debt) -> None:
    """Give the project the window that it had, or none."""
    with asking(scene.cluster) as client:
        _give(scene, client, "mend", dict(debt.value or {}), debt)


def _give(scene: Scene, client: "AtlasClient", type: str, wanted: Window, debt: Debt) -> Evidence:
    def do() -> Proof:
        asked = time.monotonic()
        client.change_maintenance(wanted) if wanted else client.reset_maintenance()
        told = _told(client.maintenance())
        if wanted and told != wanted:
            raise ClusterError(f"the maintenance window is {told}, wanted {wanted}")
        now = time.monotonic()
        return Proof(now, now - asked, {"window": told})

    return scene.making.make(type, _NAME, debt, do, wanted)


def _told(window: MaintenanceWindow) -> Window:
    return {"dayOfWeek": window.day_of_week, "hourOfDay": window.hour_of_day}
