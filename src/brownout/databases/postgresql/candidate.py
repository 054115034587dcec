"""One PostgreSQL, asked by itself, over a connection of its own, whether it accepts writes.

Not by way of Patroni: the PostgreSQL of a Patroni that died may still accept them.
"""

import select
import time

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGconn

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.adapter import REFUSES, Claim
from brownout.databases.patience import Patience
from brownout.databases.postgresql.access import Access
from brownout.inventory.model import Node

__all__ = ["PostgresqlCandidate"]

#: From the name of the WAL file: the control file has it a little later, after a checkpoint.
_TIMELINE = b"SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int"
_RECOVERING = b"SELECT pg_is_in_recovery()"
#: What a server says, or the system in its place, that accepts nothing at the moment.
_REFUSES = ("refused", "starting up", "shutting down", "not accepting")


class PostgresqlCandidate:
    """Asks one PostgreSQL; every wait is bounded, since a server that hangs keeps its connections.

    It uses libpq without blocking: `psycopg` itself has no time limit for an answer.
    """

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self.node, self.shard = node.name, node.shard
        host, _, port = node.address.rpartition(":")
        info = {**access.conninfo, "host": host.strip("[]"), "port": port}
        info |= {"application_name": "brownout", "gssencmode": "disable"}
        self._conninfo = " ".join(f"{name}='{_quoted(value)}'" for name, value in info.items())
        self._connection: PGconn | None = None
        self._timeout_s, self._patience = timeout_s, Patience(timeout_s)

    def claim(self) -> Claim:
        """Return whether it accepts writes, by its own account, and on which timeline.

        Raises `ClusterError` where it does not answer in time.
        """
        began = time.monotonic()
        deadline = began + self._patience.seconds
        try:
            connection = self._connection or self._connect(deadline)
            if connection is None:
                return REFUSES
            recovering = self._ask(connection, _RECOVERING, deadline)
            timeline = self._ask(connection, _TIMELINE, deadline) if recovering == "f" else ""
        except psycopg.Error as error:
            self.close()
            raise ClusterError(f"member `{self.node}`: {' '.join(str(error).split())}") from error
        except ClusterError:
            self.close()
            raise
        self._patience.took(time.monotonic() - began)
        return Claim(recovering == "f", timeline)

    def answer(self, question: str) -> str:
        """Return what the server answers to one question; empty where it refuses connections.

        Raises `ClusterError` where it does not let us ask, and `NoAnswer` where it is not in time.
        """
        deadline = time.monotonic() + self._timeout_s
        try:
            connection = self._connection or self._connect(deadline)
            return "" if connection is None else self._ask(connection, question.encode(), deadline)
        except psycopg.Error as error:
            raise ClusterError(f"member `{self.node}`: {' '.join(str(error).split())}") from error
        finally:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.finish()
            self._connection = None

    def _connect(self, deadline: float) -> PGconn | None:
        """Return a connection; None from a server that refuses them, and so accepts no writes."""
        connection = pq.PGconn.connect_start(self._conninfo.encode())
        status: int = pq.PollingStatus.WRITING
        while status not in (pq.PollingStatus.OK, pq.PollingStatus.FAILED):
            if connection.status != pq.ConnStatus.BAD:
                self._await(connection, deadline, status == pq.PollingStatus.WRITING)
            status = connection.connect_poll()
        if status == pq.PollingStatus.OK:
            self._connection = connection
            return connection
        reason = connection.error_message.decode(errors="replace")
        connection.finish()
        if any(word in reason for word in _REFUSES):
            return None
        raise ClusterError(f"member `{self.node}`: {' '.join(reason.split())}")

    def _ask(self, connection: PGconn, question: bytes, deadline: float) -> str:
        connection.send_query(question)
        while connection.is_busy():
            self._await(connection, deadline, False)
            connection.consume_input()
        answer, result = "", connection.get_result()
        while result is not None:
            if result.status == pq.ExecStatus.TUPLES_OK:
                answer = (result.get_value(0, 0) or b"").decode()
            elif result.status == pq.ExecStatus.FATAL_ERROR:
                reason = result.error_message.decode(errors="replace")
                raise ClusterError(f"member `{self.node}`: {' '.join(reason.split())}")
            result = connection.get_result()
        return answer

    def _await(self, connection: PGconn, deadline: float, writes: bool) -> None:
        poller = select.poll()
        poller.register(connection.socket, select.POLLOUT if writes else select.POLLIN)
        if not poller.poll(1000 * max(0.0, deadline - time.monotonic())):
            raise NoAnswer(f"member `{self.node}`: no answer in time")


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
