"""The failover test: Atlas restarts the primary, and another one is elected."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from brownout.atlas.preconditions import unmet
from brownout.faults.act import Act, Evidence
from brownout.faults.atlas.by_atlas import ByAtlas
from brownout.faults.atlas.cluster_state import gather
from brownout.faults.atlas.request import FIND_S
from brownout.faults.fault import Fault
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["FailoverTest"]


class FailoverTest(ByAtlas, Fault):
    """Have every primary shut down and another one elected, as Atlas's "Test Failover" does.

    Refused, with all of them listed, where one of Atlas's documented conditions is not met: tier,
    pending changes, health, a primary for each shard, lag, disk, oplog. The old primary comes back
    by itself, so nothing stays broken.
    """

    name, act = "test_failover", "failover"
    words = "Atlas had the primary restarted"

    def run(
        self,
        faults: "Faults",
        node: None,
        begins_within_s: float = 900.0,
        done_within_s: float = 900.0,
    ) -> Evidence:
        """Have Atlas restart the primary; effective when a driver lost it."""
        with self.requesting(faults, begins_within_s, done_within_s) as (client, request):
            facts = gather(client, faults.cluster, faults.adapter)
            self.refuse(faults, unmet(facts, datetime.now(UTC)))
            request.watch.await_primary(FIND_S, faults.stopped)

            def do() -> Proof:
                request.send(client.restart_primaries)
                return request.primary_lost()

            return faults.perform(Act("break", self.name, None), do, request.applied)
