"""The project's maintenance: when it is, and that what is scheduled begins at once."""

import time
from typing import TYPE_CHECKING

from brownout.atlas.answers import MaintenanceWindow
from brownout.atlas.objections import of_maintenance
from brownout.base.errors import ClusterError, ConfigurationError
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.atlas.by_atlas import ByAtlas, await_whole
from brownout.faults.atlas.cluster_state import asking, state_of
from brownout.faults.fault import Fault, Undo
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient
    from brownout.faults.faults import Faults

__all__ = ["MoveWindowBack", "SetMaintenanceWindow", "StartMaintenance"]

_NAME = "set_maintenance_window"
Window = dict[str, int]


class SetMaintenanceWindow(ByAtlas, Fault):
    """Move the maintenance window of the whole project: day 1 (Sunday) to 7, hour 0 to 23.

    Proven by reading it. Put back by the rollback.
    """

    name, act, undo_name = _NAME, "maintenance", _NAME
    words = "the maintenance window was moved"

    def run(self, faults: "Faults", node: None, day_of_week: int, hour_of_day: int) -> Evidence:
        """Give the project another window; effective when Atlas says it."""
        problems = []
        if not 1 <= day_of_week <= 7:
            problems.append(f"day_of_week: found {day_of_week}, wanted 1 (Sunday) to 7")
        if not 0 <= hour_of_day <= 23:
            problems.append(f"hour_of_day: found {hour_of_day}, wanted 0 to 23")
        if problems:
            raise ConfigurationError(problems)
        with asking(faults.cluster) as client:
            self.refuse(faults, [])
            before = client.maintenance()
            leaves = PendingUndo(
                _NAME, None, value=_window_of(before) if before.day_of_week else {}
            )
            wanted = {"dayOfWeek": day_of_week, "hourOfDay": hour_of_day}
            return _give(faults, client, Act("change", _NAME, None, leaves, wanted), wanted)


class MoveWindowBack(ByAtlas, Undo):
    """Give the project the window that it had, or none."""

    name, act, module, words = _NAME, "maintenance", "", "the maintenance window was moved"
    breaks, same_name = False, True

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Give it the window that is pending."""
        self.run(faults, None, dict(pending.value or {}))

    def run(self, faults: "Faults", node: None, window: Window) -> Evidence:
        """Give it this window, or none."""
        with asking(faults.cluster) as client:
            return _give(faults, client, Act("mend", _NAME, None, None, window), window)


class StartMaintenance(ByAtlas, Fault):
    """Have the maintenance that Atlas has scheduled begun at once; members restart in turn.

    Refused where the project has no window. Fails where nothing is scheduled: no member is lost.
    """

    name, act, words = "start_maintenance", "maintenance", "Atlas began maintenance"

    def run(
        self,
        faults: "Faults",
        node: None,
        begins_within_s: float = 1800.0,
        done_within_s: float = 7200.0,
    ) -> Evidence:
        """Have it begun at once; effective when a driver lost a member."""
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):
            window = client.maintenance()
            self.refuse(faults, of_maintenance(state_of(client), window))
            await_whole(faults, request)

            def do() -> Proof:
                body = {**_window_of(window), "startASAP": True}
                request.send(lambda: client.change_maintenance(body))
                return request.member_lost()

            act = Act("break", self.name, None)
            return faults.perform(act, do, request.applied, rolling=True)


def _give(faults: "Faults", client: "AtlasClient", act: Act, wanted: Window) -> Evidence:
    def do() -> Proof:
        asked = time.monotonic()
        client.change_maintenance(wanted) if wanted else client.reset_maintenance()
        window = client.maintenance()
        current = _window_of(window)
        if (current if window.day_of_week else {}) != wanted:
            raise ClusterError(f"the maintenance window is {current}, wanted {wanted or 'none'}")
        now = time.monotonic()
        return Proof(now, now - asked, {"window": current})

    return faults.perform(act, do)


def _window_of(window: MaintenanceWindow) -> Window:
    return {"dayOfWeek": window.day_of_week, "hourOfDay": window.hour_of_day}
