"""What Atlas can be asked to do to a cluster that it runs: `atlas` of the inventory says how.

Each is requested by the Administration API and effective when the database's driver sees it:
`{"node": null, "effective": 24.1, "evidence": {"began_after_s": 2.3, …}, "finished_after_s": 9.1,
"lost": […], "primaries": […], "without_primary_s": 0.8}`. All fail where Atlas has not begun within
`begins_within_s` seconds, or not finished within `done_within_s` more, and are refused, with
nothing asked for, on a shared tier, a paused cluster, while a change or an outage goes on.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.atlas.sizing import Size
from brownout.base.errors import ConfigurationError
from brownout.faults.atlas import failover, maintenance, outage, pause, size
from brownout.faults.atlas.request import Limits
from brownout.faults.atlas.scene import Scene
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = [
    "end_outage",
    "pause_cluster",
    "resize_cluster",
    "resume_cluster",
    "set_maintenance_window",
    "start_maintenance",
    "start_outage",
    "test_failover",
]


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
    by itself, so nothing stays broken.
    """
    return failover.test(_scene(), Limits(float(begins_within_s), float(done_within_s)))


@activity
def resize_cluster(
    tier: str = "",
    disk_gb: float = 0.0,
    nodes: int = 0,
    shards: int = 0,
    confirm_sharding: bool = False,
    begins_within_s: float = 900.0,
    done_within_s: float = 7200.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Give the cluster another size, up or down; what is left at its default stays as it is.

    `tier` as M40, `disk_gb` of storage, `nodes` that can be elected in each shard (3, 5 or 7; the
    region of the highest priority takes the difference), `shards`. A replica set is sharded only
    with `confirm_sharding`: there is no way back. Refused for the size that it has already, and
    where Atlas scales it by itself. Put back by the rollback.
    """
    wanted = Size(str(tier), float(disk_gb) or None, int(nodes), int(shards))
    limits = Limits(float(begins_within_s), float(done_within_s))
    return size.resize(_scene(), wanted, _is_true(confirm_sharding), limits)


@activity
def start_outage(
    regions: str = outage.PRIMARYS_REGION,
    allow_majority: bool = False,
    begins_within_s: float = 900.0,
    done_within_s: float = 900.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Have Atlas cut `regions` off from everybody: names by commas, or `primary` for its region.

    Refused where no majority would stay, unless `allow_majority`, and within 5 minutes of the last
    outage. Undone by `end_outage`, which the rollback does too.
    """
    names = [name.strip() for name in str(regions).split(",") if name.strip()]
    if not names:
        raise ConfigurationError(f"regions: found {regions!r}, wanted names, as US_EAST_1")
    limits = Limits(float(begins_within_s), float(done_within_s))
    return outage.start(_scene(), names, _is_true(allow_majority), limits)


@activity
def end_outage(
    begins_within_s: float = 900.0,
    done_within_s: float = 900.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Have the outage ended; effective when a driver sees every member again.

    Waits until it has wholly begun, since Atlas ends no other. Does nothing where there is none.
    """
    return outage.end(_scene(), Limits(float(begins_within_s), float(done_within_s)))


@activity
def pause_cluster(
    begins_within_s: float = 900.0,
    done_within_s: float = 1800.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Stop the whole cluster: nobody can read or write until `resume_cluster`. For a game day.

    Refused on NVMe, and within 60 minutes of the last resume. Undone by the rollback too.
    """
    return pause.pause(_scene(), Limits(float(begins_within_s), float(done_within_s)))


@activity
def resume_cluster(
    begins_within_s: float = 1800.0,
    done_within_s: float = 1800.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Start a paused cluster; effective when a driver sees every member and a primary.

    Does nothing to one that is not paused.
    """
    return pause.resume(_scene(), Limits(float(begins_within_s), float(done_within_s)))


@activity
def set_maintenance_window(
    day_of_week: int,
    hour_of_day: int,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Move the maintenance window of the whole project: day 1 (Sunday) to 7, hour 0 to 23.

    Proven by reading it. Put back by the rollback.
    """
    day, hour = int(day_of_week), int(hour_of_day)
    problems = []
    if not 1 <= day <= 7:
        problems.append(f"day_of_week: found {day}, wanted 1 (Sunday) to 7")
    if not 0 <= hour <= 23:
        problems.append(f"hour_of_day: found {hour}, wanted 0 to 23")
    if problems:
        raise ConfigurationError(problems)
    return maintenance.set_window(_scene(), day, hour)


@activity
def start_maintenance(
    begins_within_s: float = 1800.0,
    done_within_s: float = 7200.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Have the maintenance that Atlas has scheduled begun at once; members restart in turn.

    Refused where the project has no window. Fails where nothing is scheduled: no member is lost.
    """
    return maintenance.start(_scene(), Limits(float(begins_within_s), float(done_within_s)))


def _scene() -> Scene:
    session = current()
    making, stopped = session.faults.changes.making, session.interruption.must_stop
    return Scene(session.cluster, session.adapter, making, stopped)


def _is_true(value: Any) -> bool:
    """Return a truth value; a variable of an experiment gives it as text."""
    text = str(value).lower()
    if text not in ("true", "false"):
        raise ConfigurationError(f"found {value!r}, wanted true or false")
    return text == "true"
