"""psycopg and its pool as an application has them: defaults, and what the application sets."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from brownout.base.errors import ConfigurationError
from brownout.databases.canary import NotFound, Target
from brownout.inventory.canary import Policies

__all__ = ["PostgresqlCanary"]

_TABLE = "canary"
#: Where to connect and as whom is said by the inventory's `connection`.
_NOT_POLICIES = re.compile(
    r"host|hostaddr|port|dbname|user|password|passfile|service\w*|ssl\w*|gss\w*|krb\w*|require_auth"
    r"|channel_binding|application_name|fallback_application_name|replication|scram\w*|oauth\w*"
)
#: What an application says of its pool, under `pool`; `check` is true or false.
_POOL = (
    "min_size", "max_size", "timeout", "max_waiting", "max_lifetime", "max_idle",
    "reconnect_timeout", "num_workers", "check",
)  # fmt: skip
#: libpq's own settings that decide what a failover is like.
_TELLING = (
    "target_session_attrs", "load_balance_hosts", "connect_timeout", "tcp_user_timeout",
    "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "options",
)  # fmt: skip


class PostgresqlCanary:
    """One pool of connections to the primary, and the table `canary` of the load's schema."""

    package = "psycopg"

    def __init__(self, target: Target) -> None:
        self._info, self._pool_settings = _parts(target.policies)
        self._info = {**_shared(target.options), **self._info}
        conninfo = make_conninfo(**{**_address(target), **self._info})
        self._table = sql.Identifier(target.namespace, _TABLE)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(
                sql.SQL(
                    "CREATE TABLE IF NOT EXISTS {} (id integer PRIMARY KEY, value bigint NOT NULL)"
                ).format(self._table)
            )
        self._pool = ConnectionPool(conninfo, open=True, **self._pool_settings)

    @staticmethod
    def check(policies: Policies) -> None:
        """Have libpq and psycopg's pool themselves check the settings; opens no connection."""
        info, pool = _parts(policies)
        problems = []
        foreign = sorted(name for name in info if _NOT_POLICIES.fullmatch(name))
        if foreign:
            problems.append(
                f"canary.policies: found {', '.join(foreign)}, which say where to connect or as "
                "whom; wanted policies, as connect_timeout"
            )
        unknown = sorted(set(pool) - set(_POOL))
        if unknown:
            problems.append(
                f"canary.policies.pool: found {', '.join(unknown)}, wanted {', '.join(_POOL)}"
            )
        if not problems:
            try:
                make_conninfo(**info)
                ConnectionPool("", open=False, **pool)
            except (psycopg.Error, TypeError, ValueError) as error:
                problems.append(f"canary.policies: psycopg says: {error}")
        if problems:
            raise ConfigurationError(problems, "the inventory's `connection` says the rest")

    @staticmethod
    def code(error: Exception) -> str:
        """Return the SQLSTATE of the error, where the server answered with one."""
        return (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""

    def policies(self) -> dict[str, Any]:
        """Return libpq's settings as they were given, or their defaults, and those of the pool."""
        usual = {
            each.keyword.decode(): each.compiled.decode() if each.compiled else None
            for each in psycopg.pq.Conninfo.get_defaults()
        }
        info = {name: self._info.get(name, usual.get(name)) for name in _TELLING}
        given = inspect.signature(ConnectionPool.__init__).parameters
        pool = {name: self._pool_settings.get(name, given[name].default) for name in _POOL}
        return {**info, "pool": {**pool, "check": bool(pool["check"])}}

    def write(self, key: int, value: int) -> None:
        """Set one row; what is in it does not count."""
        statement = (
            "INSERT INTO {} VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET value = excluded.value"
        )
        with self._pool.connection() as connection:
            connection.execute(sql.SQL(statement).format(self._table), (key, value))

    def read(self, key: int) -> None:
        """Select it again."""
        statement = sql.SQL("SELECT value FROM {} WHERE id = %s").format(self._table)
        with self._pool.connection() as connection:
            if connection.execute(statement, (key,)).fetchone() is None:
                raise NotFound

    def clean(self) -> None:
        """Drop the table, which only canaries write to."""
        with self._pool.connection() as connection:
            connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._table))

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()


def _parts(policies: Policies) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return libpq's settings and the pool's."""
    pool = policies.get("pool", {})
    if not isinstance(pool, Mapping):
        raise ConfigurationError(
            f"canary.policies.pool: found {pool!r}, wanted settings of psycopg's pool, as "
            "pool.max_size=8"
        )
    info = {name: value for name, value in policies.items() if name != "pool"}
    settings: dict[str, Any] = dict(pool)
    if "check" in settings:
        settings["check"] = ConnectionPool.check_connection if settings["check"] else None
    return info, settings


def _shared(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that say which data counts: they are the load's."""
    commit = options.get("synchronous_commit")
    attributes = {"target_session_attrs": "read-write"}
    return {**attributes, **({"options": f"-c synchronous_commit={commit}"} if commit else {})}


def _address(target: Target) -> dict[str, str]:
    """Return where to connect and as whom, and the generator's `tls`, in libpq's words."""
    connection, options = target.connection, target.options
    tls = connection.get("tls") or {}
    encrypted = {
        "sslmode": "require" if tls.get("insecure_skip_verify") else "verify-full",
        "sslrootcert": "" if tls.get("insecure_skip_verify") else tls.get("ca_file") or "system",
        "sslcert": tls.get("cert_file"),
        "sslkey": tls.get("key_file"),
        "sslpassword": tls.get("key_passphrase"),
    }
    given = {
        "host": ",".join(host for host, _ in target.hosts),
        "port": ",".join(str(port) for _, port in target.hosts),
        "dbname": options.get("database") or "postgres",
        "user": connection.get("username"),
        "password": connection.get("password"),
        "application_name": "brownout-canary",
        **(encrypted if tls.get("enabled") else {"sslmode": "disable"}),
    }
    return {name: value for name, value in given.items() if value not in (None, "")}
