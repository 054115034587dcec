"""What Atlas can be asked to do to a cluster that it runs: `atlas` of the inventory says how.

Each is requested by the Administration API and effective when the database's driver sees it:
`{"node": null, "effective": 24.1, "evidence": {"began_after_s": 2.3, …}, "finished_after_s": 9.1}`.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session import managed
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["test_failover"]


@activity
def test_failover(
    begins_within_s: float = 900.0,
    done_within_s: float = 900.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Have every primary shut down and another one elected, as Atlas's "Test Failover" does.

    Refused, with all of them listed, where one of Atlas's documented conditions is not met: tier,
    pending changes, health, a primary for each shard, lag, disk, oplog. The old primary comes back
    by itself, so nothing stays broken. Fails where Atlas has not begun within `begins_within_s`
    seconds, or not finished within `done_within_s` more.
    """
    return managed.failover(current(), float(begins_within_s), float(done_within_s))
