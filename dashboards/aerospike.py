"""*Aerospike*: what the nodes say themselves, beside what the client felt.

Names are those of Aerospike's own Prometheus exporter; `service` is the node's address.
"""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, window

__all__ = ["dashboard"]

UID = "brownout-aerospike"


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · Aerospike",
        "The database's own view beside the client's.",
        [
            picked("run", "Run", "label_values(brownout_run_info, run)"),
            picked("cluster", "Cluster", "label_values(aerospike_node_up, cluster_name)"),
            window("10s"),
        ],
        [("Now", _now()), ("Client and nodes", _work()), ("Data on its way", _data())],
        marked="run",
        refresh="5s",
    )


def _of(metric: str) -> str:
    return f'aerospike_{metric}{{cluster_name="$cluster"}}'


def _rate(metric: str, by: str) -> str:
    return f"sum by ({by}) (rate({_of(f'namespace_{metric}')}[$window]))"


def _now() -> list[Any]:
    migrating = "namespace_migrate_{}_partitions_remaining"
    left = " + ".join(f"sum({_of(migrating.format(way))})" for way in ("tx", "rx"))
    return [
        figure(
            "Nodes that answer",
            "none",
            Query(f"count({_of('node_up')} == 1)"),
            note="Nodes whose exporter reaches them.",
        ),
        figure(
            "Cluster size, by the node that counts least",
            "none",
            Query(f"min({_of('node_stats_cluster_size')})"),
            note="The smallest cluster_size that any node reports; less than the number of nodes "
            "means that a node is missing or the cluster is split.",
        ),
        figure(
            "Partitions still to migrate",
            "none",
            Query(left),
            note="Partitions that nodes still have to send or receive; 0 when migrations are done.",
        ),
        figure(
            "Unavailable partitions",
            "none",
            Query(f"max({_of('namespace_unavailable_partitions')})"),
            note="Partitions of a strong-consistency namespace that cannot be read or written.",
            limit=1,
        ),
        figure(
            "Dead partitions",
            "none",
            Query(f"max({_of('namespace_dead_partitions')})"),
            note="Partitions that stay unavailable until an operator revives them.",
            limit=1,
        ),
        figure(
            "Records",
            "none",
            Query(f"sum({_of('namespace_master_objects')})"),
            note="Master records of all namespaces, counted once each.",
        ),
    ]


def _work() -> list[Any]:
    return [
        graph(
            "Throughput: client and nodes",
            "ops",
            Query(queries.ok(), "client: ok"),
            Query(f"sum(rate({_of('namespace_client_read_success')}[$window]))", "nodes: reads"),
            Query(f"sum(rate({_of('namespace_client_write_success')}[$window]))", "nodes: writes"),
            note="Successful operations a second, as the client counts them and as the nodes do.",
        ),
        common.client_p99(),
        *(
            graph(
                f"{what} by node",
                "ops",
                Query(_rate(metric, "service"), "{{service}}"),
                note=f"{what} a second that each node reports as successful.",
            )
            for what, metric in (
                ("Reads", "client_read_success"),
                ("Writes", "client_write_success"),
            )
        ),
        graph(
            "Errors and time-outs by node",
            "ops",
            *(
                Query(_rate(f"client_{op}_{end}", "service"), f"{{{{service}}}} {op} {end}")
                for op in ("read", "write")
                for end in ("error", "timeout")
            ),
            note="Operations a second that each node reports as failed or timed out.",
        ),
        graph(
            "Client connections by node",
            "none",
            Query(f"sum by (service) ({_of('node_stats_client_connections')})", "{{service}}"),
            note="Open client connections of each node; a storm of reconnects shows here.",
        ),
    ]


def _data() -> list[Any]:
    return [
        graph(
            "Partitions still to migrate, by node",
            "none",
            *(
                Query(
                    f"sum by (service) ({_of(f'namespace_migrate_{way}_partitions_remaining')})",
                    f"{{{{service}}}} {way}",
                )
                for way in ("tx", "rx")
            ),
            note="Partitions that each node still has to send (tx) and to receive (rx).",
        ),
        graph(
            "Records by node",
            "none",
            Query(f"sum by (service) ({_of('namespace_objects')})", "{{service}}"),
            note="Records that each node holds, replicas included.",
        ),
        graph(
            "Cluster size by node",
            "none",
            Query(f"max by (service) ({_of('node_stats_cluster_size')})", "{{service}}"),
            note="Nodes that count differently see different clusters.",
        ),
        graph(
            "Quiesced",
            "none",
            Query(f"max by (service) ({_of('namespace_effective_is_quiesced')})", "{{service}}"),
            note="1 while a node is quiesced: it has handed its partitions over and may stop.",
        ),
    ]
