"""Putting back what Atlas was asked for, also after a run that died."""

from collections.abc import Sequence

from brownout.faults.atlas import maintenance, outage, pause, size
from brownout.faults.atlas.asking import asking
from brownout.faults.atlas.request import Limits
from brownout.faults.atlas.scene import Scene
from brownout.faults.debts import Debt
from brownout.inventory.model import Cluster

__all__ = ["found", "pay"]

#: Putting back has no other limit than this: Atlas may need minutes for each member.
_LIMITS = Limits(3600.0, 3600.0)


def pay(scene: Scene, debt: Debt) -> None:
    """Put back what is owed, whatever Atlas is doing now; safe to repeat."""
    if debt.action == outage.OWED.action:
        outage.end(scene, _LIMITS)
    elif debt.action == pause.OWED.action:
        pause.resume(scene, _LIMITS)
    elif debt.action == "set_maintenance_window":
        maintenance.put_back(scene, debt)
    else:
        size.put_back(scene, debt, _LIMITS)


def found(cluster: Cluster, known: Sequence[Debt]) -> tuple[Debt, ...]:
    """Return what Atlas itself says is to be put back, and nobody is `known` to have noted.

    A run takes only a whole cluster, so an outage or a pause now came after its begin.
    """
    with asking(cluster) as client:
        there = [outage.OWED] if outage.goes_on(client) else []
        there += [pause.OWED] if client.cluster().paused else []
    return tuple(debt for debt in there if debt.action not in {each.action for each in known})
