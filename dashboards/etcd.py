"""*etcd*: what the members say themselves, beside what the client felt.

Names are those of etcd's own `/metrics`, in 3.4 as in later versions; `instance` is a member. They
know no cluster: the job is chosen.
"""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, states, window

__all__ = ["dashboard"]

UID = "brownout-etcd"


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · etcd",
        "The database's own view beside the client's.",
        [
            picked("run", "Run", "label_values(brownout_run_info, run)"),
            picked("etcd", "etcd", "label_values(etcd_server_has_leader, job)"),
            window("10s"),
        ],
        [("Now", _now()), ("Client and members", _work()), ("Members", _members())],
        marked="run",
        refresh="5s",
    )


def _of(metric: str, more: str = "") -> str:
    return f'etcd_{metric}{{job="$etcd"{more}}}'


def _each(metric: str) -> str:
    return f"max by (instance) ({_of(metric)})"


def _rate(metric: str, by: str = "instance", window: str = "$window") -> str:
    return f"sum by ({by}) (rate({metric}[{window}]))"


def _p99(metric: str, by: str = "instance", window: str = "$window") -> str:
    return queries.quantile_of(0.99, _rate(_of(f"{metric}_bucket"), f"{by}, le", window))


def _behind() -> str:
    """Log entries that a member has not applied and another one has."""
    applied = "server_proposals_applied_total"
    return f"scalar(max({_of(applied)})) - {_each(applied)}"


#: What clients ask of the keys, by gRPC; the label of the method says what.
ASKED = 'grpc_server_handled_total{job="$etcd",grpc_service="etcdserverpb.KV"%s}'


def _now() -> list[Any]:
    return [
        figure(
            "Leader",
            "none",
            Query(f"{_each('server_is_leader')} == 1", "{{instance}}"),
            note="The member that leads; none during an election.",
            names=True,
            empty="none",
        ),
        figure(
            "Members that know a leader",
            "none",
            Query(f"sum({_of('server_has_leader')})"),
            note="A member without a leader serves no writes and no linearizable reads.",
        ),
        figure(
            "Members that answer",
            "none",
            Query('sum(up{job="$etcd"})'),
            note="Members whose metrics Prometheus gets.",
        ),
        figure(
            "Furthest behind",
            "none",
            Query(f"max({_behind()})"),
            note="Log entries that the slowest member has not applied.",
        ),
        figure(
            "Proposals that wait",
            "none",
            Query(f"sum({_of('server_proposals_pending')})"),
            note="Writes that members have proposed and that are not committed yet.",
        ),
        figure(
            "Database",
            "bytes",
            Query(f"max({_of('mvcc_db_total_size_in_bytes')})"),
            note="Size of the largest member's file; at the quota etcd refuses writes.",
        ),
    ]


def _work() -> list[Any]:
    return [
        graph(
            "Throughput: client and members",
            "ops",
            Query(queries.ok(), "client: ok"),
            Query(_rate(ASKED % "", "grpc_method"), "{{grpc_method}}"),
            note="Successful operations a second by the client; answers a second by the members, "
            "errors included. A write that compares is a Txn.",
        ),
        common.client_p99(),
        graph(
            "Answers by member",
            "ops",
            Query(_rate(ASKED % ""), "{{instance}}"),
            note="Requests a second that each member answered.",
        ),
        graph(
            "Errors that were answered",
            "ops",
            Query(_rate(ASKED % ',grpc_code!="OK"', "grpc_code"), "{{grpc_code}}"),
            note="Answers a second that were errors, by gRPC's code.",
        ),
        graph(
            "Proposals that failed",
            "ops",
            Query(_rate(_of("server_proposals_failed_total")), "{{instance}} write"),
            Query(_rate(_of("server_read_indexes_failed_total")), "{{instance}} read"),
            note="Writes and linearizable reads a second that found no leader or quorum in time.",
        ),
        graph(
            "Log on disk: fsync p99",
            "s",
            Query(_p99("disk_wal_fsync_duration_seconds"), "{{instance}}"),
            note="A slow disk delays every write, and above the heartbeat's time-out elections.",
        ),
    ]


def _members() -> list[Any]:
    return [
        states(
            "Is leader",
            Query(_each("server_is_leader"), "{{instance}}"),
            note="Which member led when, by its own word; two at once is a split.",
            width=12,
        ),
        states(
            "Knows a leader",
            Query(_each("server_has_leader"), "{{instance}}"),
            note="Which member knew a leader when.",
            width=12,
        ),
        graph(
            "Behind the newest member",
            "none",
            Query(_behind(), "{{instance}}"),
            note="Log entries that each member has not applied and another one has.",
        ),
        graph(
            "Leader changes seen",
            "none",
            Query(_each("server_leader_changes_seen_total"), "{{instance}}"),
            note="Leader changes that each member has seen since it started.",
        ),
        graph(
            "Round trip between members, p99",
            "s",
            Query(
                _p99("network_peer_round_trip_time_seconds", "instance, To", "2m"), "{{instance}}"
            ),
            note="From each member to each of the others, over two minutes: members seldom "
            "measure it.",
        ),
        graph(
            "Heartbeats that came late",
            "ops",
            Query(_rate(_of("server_heartbeat_send_failures_total")), "{{instance}}"),
            note="Heartbeats a second that a leader sent too late, usually for its disk or CPU.",
        ),
    ]
