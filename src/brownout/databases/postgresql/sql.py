"""What one PostgreSQL says of itself, asked by SQL, in the words that Patroni's API has for it.

For servers that no Patroni supervises. Each is believed about itself only.
"""

import json
from typing import Any

from brownout.base.errors import ClusterError
from brownout.databases.postgresql.access import Access
from brownout.databases.postgresql.candidate import PostgresqlCandidate
from brownout.inventory.model import Node

__all__ = ["status"]

#: One answer, so that all of it is of one moment. A replica that does not stream has the timeline
#: of its last restart point, and the role needs `pg_monitor` to see who streams.
_QUESTION = """
SELECT json_build_object(
  'state', 'running',
  'role', CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'primary' END,
  'server_version', current_setting('server_version_num')::int,
  'database_system_identifier', (SELECT system_identifier::text FROM pg_control_system()),
  'timeline', CASE WHEN pg_is_in_recovery()
    THEN coalesce((SELECT received_tli FROM pg_stat_wal_receiver WHERE status = 'streaming'),
                  (SELECT timeline_id FROM pg_control_checkpoint()))
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END,
  'xlog', CASE WHEN pg_is_in_recovery()
    THEN json_build_object('replayed_location', pg_last_wal_replay_lsn() - '0/0',
                           'received_location', pg_last_wal_receive_lsn() - '0/0')
    ELSE json_build_object('location', pg_current_wal_lsn() - '0/0') END,
  'replication', (SELECT json_agg(json_build_object('application_name', application_name,
    'state', state, 'sync_state', sync_state, 'address', host(client_addr)))
    FROM pg_stat_replication),
  'receives', (SELECT json_build_object('host', sender_host, 'port', sender_port,
    'application_name', coalesce(substring(conninfo from '(?:^| )application_name=([^ ]+)'),
      substring(conninfo from 'fallback_application_name=([^ ]+)')))
    FROM pg_stat_wal_receiver WHERE status = 'streaming')
)"""


def status(node: Node, access: Access, timeout_s: float) -> dict[str, Any]:
    """Return what a server says of itself; empty where it refuses connections at the moment.

    Raises `NoAnswer` in time, else `ClusterError` where it does not let us ask.
    """
    answer = PostgresqlCandidate(node, access, timeout_s).answer(_QUESTION)
    if not answer:
        raise ClusterError(f"member `{node.name}`: it refuses connections")
    facts: dict[str, Any] = json.loads(answer)
    return facts
