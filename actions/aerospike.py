"""What only Aerospike can do: take a node out of service before it is stopped, keep more copies.

The safe stop of a node is `drain_and_stop_node`, or as steps `quiesce_node`, `recluster`,
`wait_until_idle` (a probe), `stop_node`. The Community Edition cannot quiesce: there an
experiment that needs it is refused before anything is touched.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import actions_of, activity
from brownout.session.current import current

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(["drain_and_stop_node", "set_migration_speed", "set_replication_factor", *_MADE])


@activity(
    steps=(
        "brownout.actions.aerospike.quiesce_node",
        "brownout.actions.aerospike.recluster",
        "brownout.probes.aerospike.wait_until_idle",
        "brownout.actions.node.stop_node",
    )
)
def drain_and_stop_node(
    node: str = "target",
    idle_timeout_s: float = 60.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Stop `node` unnoticed by clients: quiesce, recluster, wait until it is idle, SIGTERM.

    Fails, and leaves the node running, if it still serves after `idle_timeout_s` seconds. Undone
    by `start_node` and then `unquiesce_node`.
    """
    session = current()
    target = session.node(node)
    session.faults.run("quiesce_node", target)
    session.faults.run("recluster")
    session.await_idle(target, float(idle_timeout_s))
    return session.faults.run("stop_node", target)


@activity
def set_replication_factor(
    replication_factor: int = 3, configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Keep so many copies of each record of the namespace under load; the missing ones are made.

    Proven by the factor that every node says is in effect. Refused above the cluster's size, while
    data moves, and by a namespace with strong consistency. Put back by the rollback.
    """
    value = int(replication_factor)
    return current().faults.run("adjust", setting="replication_factor", value=value)


@activity
def set_migration_speed(
    migrate_threads: int = 0,
    migrate_sleep: int = -1,
    migrate_max_num_incoming: int = 0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Set how fast data moves between nodes: the server's own settings of these names.

    `migrate_sleep` is in µs, between two records. What is left at its default stays as it is;
    with all left, nothing is done, on any database. Put back by the rollback.
    """
    given = {"migrate_threads": int(migrate_threads), "migrate_sleep": int(migrate_sleep),
             "migrate_max_num_incoming": int(migrate_max_num_incoming)}  # fmt: skip
    least = {"migrate_sleep": 0}
    speed = {name: value for name, value in given.items() if value >= least.get(name, 1)}
    if not speed:
        return {"node": None, "effective": None, "evidence": {"skipped": True}}
    return current().faults.run("adjust", setting="migration_speed", value=speed)
