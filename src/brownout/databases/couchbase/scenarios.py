"""What can be done to a cluster: nothing. Why, in one sentence."""

from brownout.databases.adapter import Support

__all__ = ["NO_FAULTS", "support"]

NO_FAULTS = (
    "brownout offers no fault on Couchbase: it was only tried against CouchbaseMock, which has no "
    "replication, failure detector or rebalance, so that what follows a fault there says nothing "
    "about Couchbase"
)


def support(scenario: str) -> Support:
    """Return that `scenario` is not offered, whichever it is."""
    return Support(False, NO_FAULTS)
