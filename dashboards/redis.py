"""*Redis*: what the nodes of a Redis Cluster say themselves, beside what the client felt.

Names are those of redis_exporter, which knows no cluster: its job is chosen. `instance` is the
exporter of one node, or the node itself where one exporter is asked for all of them.
"""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, states, window

__all__ = ["dashboard"]

UID = "brownout-redis"
SLOTS = 16384


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · Redis",
        "The database's own view beside the client's.",
        [
            picked("run", "Run", "label_values(brownout_run_info, run)"),
            picked("redis", "redis_exporter", "label_values(redis_up, job)"),
            window("10s"),
        ],
        [("Now", _now()), ("Client and nodes", _work()), ("Nodes", _nodes())],
        marked="run",
        refresh="5s",
    )


def _of(metric: str, more: str = "") -> str:
    return f'redis_{metric}{{job="$redis"{more}}}'


def _rate(metric: str, by: str = "instance") -> str:
    return f"sum by ({by}) (rate({_of(metric)}[$window]))"


MASTERS = _of("instance_info", ',role="master"')


def _now() -> list[Any]:
    return [
        figure(
            "Nodes that answer",
            "none",
            Query(f"sum({_of('up')})"),
            note="Nodes whose exporter reaches them.",
        ),
        figure(
            "Masters",
            "none",
            Query(f"count({MASTERS})"),
            note="Nodes that call themselves a master, with slots or without.",
        ),
        figure(
            "Replicas with a link",
            "none",
            Query(f"sum({_of('master_link_up')})"),
            note="Replicas that are connected to their master.",
        ),
        figure(
            "Nodes that call the cluster ok",
            "none",
            Query(f"sum({_of('cluster_state')})"),
            note="By default a node answers nothing while it sees a slot without a master.",
        ),
        figure(
            "Slots that are not ok",
            "none",
            Query(f"{SLOTS} - min({_of('cluster_slots_ok')})"),
            note="Slots without a master that answers, by the node that sees most of them.",
            limit=1,
        ),
        figure(
            "Keys",
            "none",
            Query(f"sum({_of('db_keys')} and on (instance) {MASTERS})"),
            note="Keys of all masters.",
        ),
    ]


def _work() -> list[Any]:
    took = f"{_rate('commands_duration_seconds_total')} / ({_rate('commands_total')} > 0)"
    return [
        graph(
            "Throughput: client and nodes",
            "ops",
            Query(queries.ok(), "client: ok"),
            Query(f"sum({_rate('commands_processed_total')})", "nodes: commands"),
            note="Successful operations a second by the client; commands a second by the nodes, "
            "those of replication and the exporters included.",
        ),
        common.client_p99(),
        graph(
            "Commands by node",
            "ops",
            Query(_rate("commands_processed_total"), "{{instance}}"),
            note="Commands a second that each node processed.",
        ),
        graph(
            "Mean time in the server",
            "s",
            Query(took, "{{instance}}"),
            note="Mean time that a command takes in each node, without driver and network.",
        ),
        graph(
            "Errors that were answered",
            "ops",
            Query(_rate("errors_total", "err"), "{{err}}"),
            note="Errors a second by their first word: MOVED and ASK are redirects, CLUSTERDOWN "
            "and READONLY are met during a failover.",
        ),
        graph(
            "Connections by node",
            "none",
            Query(f"sum by (instance) ({_of('connected_clients')})", "{{instance}}"),
            note="Open client connections of each node; a storm of reconnects shows here.",
        ),
    ]


def _nodes() -> list[Any]:
    newest = f"max by (instance) ({_of('master_repl_offset')})"
    replica = "max by (instance, slave_ip, slave_port)"
    behind = (
        f"{newest} - on (instance) group_right () {replica} ({_of('connected_slave_offset_bytes')})"
    )
    return [
        states(
            "Is master",
            Query(
                f"max by (instance) ({MASTERS}) or 0 * max by (instance) ({_of('up')})",
                "{{instance}}",
            ),
            note="Which node called itself a master when.",
            width=12,
        ),
        states(
            "Calls the cluster ok",
            Query(f"max by (instance) ({_of('cluster_state')})", "{{instance}}"),
            note="Which node saw a master for every slot when.",
            width=12,
        ),
        graph(
            "Replicas behind their master",
            "bytes",
            Query(behind, "{{slave_ip}}:{{slave_port}}"),
            note="Changes that each master has sent and its replica has not confirmed; replicas "
            "confirm once a second.",
        ),
        graph(
            "Replicas filled anew",
            "none",
            Query(f"sum by (instance) ({_of('replica_resyncs_full')})", "{{instance}}"),
            note="Full copies that each node has sent since it started.",
        ),
        graph(
            "Epoch",
            "none",
            Query(f"max by (instance) ({_of('cluster_current_epoch')})", "{{instance}}"),
            note="Grows with each promotion; nodes with different ones have not heard of it.",
        ),
        graph(
            "Memory by node",
            "bytes",
            Query(f"sum by (instance) ({_of('memory_used_bytes')})", "{{instance}}"),
            note="Memory that each node uses for data and buffers.",
        ),
    ]
