"""*PostgreSQL*: what Patroni and the servers say themselves, beside what the client felt.

Names are those of Patroni's own `/metrics`, whose label `scope` is the cluster, and of
postgres_exporter, one a server, which knows no cluster: its job is chosen.
"""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, states, window

__all__ = ["dashboard"]

UID = "brownout-postgresql"


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · PostgreSQL",
        "The database's own view beside the client's.",
        [
            picked("run", "Run", "label_values(brownout_run_info, run)"),
            picked("scope", "Patroni cluster", "label_values(patroni_version, scope)"),
            picked("postgres", "postgres_exporter", "label_values(pg_up, job)"),
            window("10s"),
        ],
        [("Now", _now()), ("Client and servers", _work()), ("Members", _members())],
        marked="run",
        refresh="5s",
    )


def _patroni(metric: str) -> str:
    return f'max by (name) (patroni_{metric}{{scope="$scope"}})'


def _server(metric: str, more: str = "") -> str:
    return f'pg_{metric}{{job="$postgres"{more}}}'


def _rate(metric: str, more: str = "") -> str:
    return f"sum by (instance) (rate({_server(f'stat_database_{metric}', more)}[$window]))"


def _behind() -> str:
    """The primary's WAL that a replica has not replayed."""
    newest = 'scalar(max(patroni_xlog_location{scope="$scope"} > 0))'  # 0 for a replica
    return f"({newest} - {_patroni('xlog_replayed_location')}) and ({_patroni('replica')} == 1)"


def _now() -> list[Any]:
    return [
        figure(
            "Primary",
            "none",
            Query(f"{_patroni('primary')} == 1", "{{name}}"),
            note="The member whose Patroni holds the leader's lock and runs a primary.",
            names=True,
            empty="none",
        ),
        figure(
            "Streaming replicas",
            "none",
            Query(f"sum({_patroni('postgres_streaming')})"),
            note="Replicas that stream WAL.",
        ),
        figure(
            "Servers running",
            "none",
            Query(f"sum({_patroni('postgres_running')})"),
            note="Members whose Patroni says that its PostgreSQL runs.",
        ),
        figure(
            "Leader's lock is free",
            "bool_yes_no",
            Query(f"max({_patroni('cluster_unlocked')})"),
            note="Yes while any member sees the leader's lock as free.",
            limit=1,
        ),
        figure(
            "Furthest behind",
            "bytes",
            Query(f"max({_behind()})"),
            note="WAL of the primary that the slowest replica has not replayed.",
        ),
        figure(
            "Connections",
            "none",
            Query(f"sum({_server('stat_database_numbackends')})"),
            note="Open connections of all servers.",
        ),
    ]


def _work() -> list[Any]:
    return [
        graph(
            "Throughput: client and servers",
            "ops",
            Query(queries.ok(), "client: ok"),
            Query(f"sum({_rate('xact_commit')})", "servers: commits"),
            Query(f"sum({_rate('xact_rollback')})", "servers: rollbacks"),
            note="Successful operations a second by the client; transactions a second by the "
            "servers, those of Patroni and the exporters included.",
        ),
        common.client_p99(),
        graph(
            "Commits by server",
            "ops",
            Query(_rate("xact_commit"), "{{instance}}"),
            note="Transactions a second that each server committed; reads count too.",
        ),
        graph(
            "Rows written, by server",
            "ops",
            *(
                Query(_rate(f"tup_{what}"), f"{{{{instance}}}} {what}")
                for what in ("inserted", "updated", "deleted")
            ),
            note="Rows a second that each server wrote; a former primary's line ends at 0.",
        ),
        graph(
            "Connections by state",
            "none",
            Query(f"sum by (state) ({_server('stat_activity_count')})", "{{state}}"),
            note="Connections of all servers by what they do; a storm of reconnects shows here.",
        ),
        graph(
            "Longest transaction",
            "s",
            Query(
                f"max by (instance) ({_server('stat_activity_max_tx_duration')})", "{{instance}}"
            ),
            note="How long each server's oldest transaction has been open.",
        ),
    ]


def _members() -> list[Any]:
    return [
        states(
            "Is primary",
            Query(_patroni("primary"), "{{name}}"),
            note="Which member was primary by its own Patroni when; a killed Patroni says nothing "
            "about the PostgreSQL that it leaves behind.",
            width=12,
        ),
        states(
            "PostgreSQL runs",
            Query(_patroni("postgres_running"), "{{name}}"),
            note="Which member's PostgreSQL ran by its own Patroni.",
            width=12,
        ),
        graph(
            "Behind the primary",
            "bytes",
            Query(_behind(), "{{name}}"),
            note="WAL of the primary that each replica has not replayed.",
        ),
        graph(
            "Timeline",
            "none",
            Query(_patroni("postgres_timeline"), "{{name}}"),
            note="Each promotion begins a new timeline; members on different ones have not "
            "finished following it.",
        ),
        graph(
            "Since Patroni last reached its store",
            "s",
            Query(f"time() - {_patroni('dcs_last_seen')}", "{{name}}"),
            note="Above the lease (ttl) a primary gives up its role.",
        ),
        graph(
            "Cannot be reached by its exporter",
            "none",
            Query(f"1 - max by (instance) ({_server('up')})", "{{instance}}"),
            note="1 while the exporter cannot query its server.",
        ),
    ]
