"""The unplanned failover by hand: a standby is made primary once the primary is gone."""

from typing import TYPE_CHECKING

from brownout.databases.adapter import Promoting
from brownout.faults.act import Act, Evidence
from brownout.faults.fault import Fault

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["PromoteStandby"]


class PromoteStandby(Fault):
    """Make the standby that has replayed most the primary, by `streaming.promote` of the inventory.

    What people do where nothing fails over by itself. Fails while a primary serves: there would be
    two. The old primary comes back as a standby by `start_node`, which runs `streaming.rejoin`.
    """

    name, act, words = "promote_standby", "promote", "promoted"
    module = "postgresql"
    node, takes_node = None, False
    summary = "promote the standby that has replayed most"

    def run(self, faults: "Faults", node: None = None) -> Evidence:
        """Choose the standby, promote it, and prove by its own server that it accepts writes."""
        adapter = faults.adapter
        if not (adapter.supports(self.act).ok and isinstance(adapter, Promoting)):
            raise faults.unsupported(self.act)
        heir = adapter.heir()
        faults.check_change(self.act, heir, (), whole=False)
        return faults.perform(Act("mend", self.name, heir.name), lambda: adapter.promote(heir))
