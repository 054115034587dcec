"""What a role of Cassandra needs: no act of a run is done by the database itself."""

from brownout.inventory.grants import EVERY_RUN, LOAD, Grant

__all__ = ["GRANTS"]

GRANTS = (
    Grant(
        acts=(LOAD,),
        privilege="`CREATE` on all keyspaces, or all permissions on the keyspace `{namespace}`",
        statement='GRANT ALL PERMISSIONS ON KEYSPACE "{namespace}" TO {user}',
    ),
    Grant(
        acts=(EVERY_RUN,),
        privilege="`SELECT` on the keyspaces `system`, `system_schema` and `system_views`",
        statement="GRANT SELECT ON KEYSPACE system_views TO {user}",
    ),
)
