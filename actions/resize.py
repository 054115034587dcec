"""Change which nodes a cluster consists of while it serves, on any database that can.

Everything that these change is put back by the rollback `put_back`, the latest change first: the
cluster ends with the members that it began with. A spare (`spares` of the inventory) that was
added and is out again is left empty where the inventory allows its data to be wiped.

They are made from the faults of `brownout.faults`, and those of other packages that say
`module = "resize"`.
"""

from brownout.session.activity import actions_of

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(_MADE)
