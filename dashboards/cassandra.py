"""*Cassandra*: what the nodes say themselves, beside what the client felt.

Names are those of Prometheus's JMX exporter with the rules of its own `examples/cassandra.yml`, an
agent in each node; its list of names needs `type=ClientRequest,*` in addition. The agent knows no
cluster: its job is chosen, and `instance` is a node.
"""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, states, window

__all__ = ["dashboard"]

UID = "brownout-cassandra"


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · Cassandra",
        "The database's own view beside the client's.",
        [
            picked("run", "Run", "label_values(brownout_run_info, run)"),
            picked("cassandra", "JMX exporter", "label_values(cassandra_storage_load_count, job)"),
            window("10s"),
        ],
        [("Now", _now()), ("Client and coordinators", _work()), ("Nodes", _nodes())],
        marked="run",
        refresh="5s",
    )


def _of(metric: str, more: str = "") -> str:
    return f'cassandra_{metric}{{job="$cassandra"{more}}}'


def _rate(metric: str, more: str = "", by: str = "instance") -> str:
    return f"sum by ({by}) (rate({_of(metric, more)}[$window]))"


#: Requests of all levels of consistency; those of one stand beside them as `Read-QUORUM`.
KINDS = ("Read", "Write")


def _now() -> list[Any]:
    return [
        figure(
            "Nodes that answer",
            "none",
            Query('sum(up{job="$cassandra"})'),
            note="Nodes whose metrics Prometheus gets.",
        ),
        figure(
            "Requests short of replicas",
            "ops",
            Query(f"sum({_rate('clientrequest_unavailables_count', _kinds())})"),
            note="Reads and writes a second that were refused, because fewer replicas were up than "
            "their consistency needs.",
        ),
        figure(
            "Requests that timed out",
            "ops",
            Query(f"sum({_rate('clientrequest_timeouts_count', _kinds())})"),
            note="Reads and writes a second to which too few replicas answered in time.",
        ),
        figure(
            "Hints being written",
            "none",
            Query(f"sum({_of('storage_totalhintsinprogress_count')})"),
            note="Writes that are being kept for nodes which are down.",
        ),
        figure(
            "Compactions that wait",
            "none",
            Query(f"sum({_of('compaction_pendingtasks')})"),
            note="Estimated compactions that remain, of all nodes.",
        ),
        figure(
            "Data",
            "bytes",
            Query(f"sum({_of('storage_load_count')})"),
            note="Data on disk of all nodes, replicas included.",
        ),
    ]


def _kinds() -> str:
    return f',clientrequest=~"{"|".join(KINDS)}"'


def _latency(kind: str, quantile: str) -> str:
    wanted = f',clientrequest="{kind}",quantile="{quantile}"'
    return f"max by (instance) ({_of('clientrequest_latency_seconds', wanted)})"


def _work() -> list[Any]:
    requests = "clientrequest_latency_seconds_count"
    return [
        graph(
            "Throughput: client and coordinators",
            "ops",
            Query(queries.ok(), "client: ok"),
            Query(_rate(requests, _kinds(), "clientrequest"), "{{clientrequest}}"),
            note="Successful operations a second by the client; reads and writes a second by the "
            "nodes that coordinated them. Lightweight transactions are counted apart.",
        ),
        common.client_p99(),
        graph(
            "Requests by coordinator",
            "ops",
            Query(_rate(requests, _kinds()), "{{instance}}"),
            note="Reads and writes a second that each node coordinated.",
        ),
        graph(
            "Coordinators: p99",
            "s",
            *(Query(_latency(kind, "0.99"), f"{{{{instance}}}} {kind}") for kind in KINDS),
            note="Cassandra's own p99 of the last five minutes, newer requests weighing more: it "
            "rises late and falls late.",
        ),
        graph(
            "Requests that failed, by reason",
            "ops",
            *(
                Query(
                    _rate(f"clientrequest_{reason}_count", _kinds(), "clientrequest"),
                    f"{{{{clientrequest}}}} {reason}",
                )
                for reason in ("unavailables", "timeouts", "failures")
            ),
            note="Reads and writes a second that too few replicas were up for, answered in time, "
            "or could do.",
        ),
        graph(
            "Connections by node",
            "none",
            Query(f"max by (instance) ({_of('client_connectednativeclients')})", "{{instance}}"),
            note="Open client connections of each node; a storm of reconnects shows here.",
        ),
    ]


def _nodes() -> list[Any]:
    waiting = _of("threadpools_pendingtasks", ',path=~"request|transport"')
    return [
        states(
            "Answers",
            Query('max by (instance) (up{job="$cassandra"})', "{{instance}}"),
            note="Which node's metrics Prometheus got when.",
        ),
        graph(
            "Hints kept for other nodes",
            "ops",
            Query(_rate("storage_totalhints_count"), "{{instance}}"),
            note="Writes a second that each node keeps for nodes which are down.",
        ),
        graph(
            "Messages dropped",
            "ops",
            Query(_rate("droppedmessage_dropped_count", by="droppedmessage"), "{{droppedmessage}}"),
            note="Messages a second that nodes threw away because they were too old, by kind.",
        ),
        graph(
            "Reads and writes that wait in a node",
            "none",
            Query(f"sum by (instance) ({waiting})", "{{instance}}"),
            note="Tasks in the queues of each node's stages.",
        ),
        graph(
            "Compactions that wait, by node",
            "none",
            Query(f"sum by (instance) ({_of('compaction_pendingtasks')})", "{{instance}}"),
            note="Estimated compactions that remain; a node that is filled has many.",
        ),
        graph(
            "Data by node",
            "bytes",
            Query(f"sum by (instance) ({_of('storage_load_count')})", "{{instance}}"),
            note="Data on disk of each node; a node that is filled grows.",
        ),
    ]
