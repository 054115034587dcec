"""*MongoDB*: what the members say themselves, beside what the client felt.

Names are those of Percona's mongodb_exporter with `--collector.diagnosticdata` and
`--collector.replicasetstatus`, one exporter a member; `rs_nm` is the replica set.
"""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, states, window

__all__ = ["dashboard"]

UID = "brownout-mongodb"


def _of(metric: str, more: str = "") -> str:
    return f'mongodb_{metric}{{rs_nm="$set"{more}}}'


CONNECTIONS = _of("ss_connections", ',conn_type="current"')
WAITING = _of("ss_globalLock_currentQueue", ',count_type="total"')


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · MongoDB",
        "The database's own view beside the client's.",
        [
            picked("run", "Run", "label_values(brownout_run_info, run)"),
            picked("set", "Replica set", "label_values(mongodb_members_state, rs_nm)"),
            window("10s"),
        ],
        [("Now", _now()), ("Client and members", _work()), ("Members", _members())],
        marked="run",
        refresh="5s",
    )


def _now() -> list[Any]:
    state = 'count(max by (member_idx) (mongodb_members_state{{rs_nm="$set"}}) == {}) or vector(0)'
    return [
        figure(
            "Primary",
            "none",
            Query(_primary(), "{{member_idx}}"),
            note="The member that is primary; none during an election.",
            names=True,
            empty="none",
        ),
        figure(
            "Secondaries",
            "none",
            Query(state.format(2)),
            note="Members in state SECONDARY.",
        ),
        figure(
            "Members up",
            "none",
            Query(f"sum(max by (member_idx) ({_of('members_health')}))"),
            note="Members that are healthy by whichever exporter answers.",
        ),
        figure(
            "Exporters that reach their member",
            "none",
            Query("sum(mongodb_up)"),
            note="Exporters whose member answers them.",
        ),
        figure(
            "Slowest replication",
            "s",
            Query(f"max({_lag()})"),
            note="How far the slowest member is behind the newest operation of the set.",
        ),
        figure(
            "Connections",
            "none",
            Query(f"sum({CONNECTIONS})"),
            note="Open connections of all members.",
        ),
    ]


def _primary() -> str:
    return f"max by (member_idx) ({_of('members_state')}) == 1"


def _lag() -> str:
    """How far each member is behind the newest one, by its own last operation."""
    mine = f"max by (member_idx) ({_of('members_optimeDate')})"
    return f"(scalar(max({_of('members_optimeDate')})) - {mine}) / 1000"


def _work() -> list[Any]:
    done = _of("ss_opcounters", ',legacy_op_type=~"query|insert|update|delete"')
    reads, writes = (_latency(kind) for kind in ("reads", "writes"))
    return [
        graph(
            "Throughput: client and members",
            "ops",
            Query(queries.ok(), "client: ok"),
            Query(f"sum by (legacy_op_type) (rate({done}[$window]))", "{{legacy_op_type}}"),
            note="Successful operations a second by the client; all of them by opcounters.",
        ),
        common.client_p99(),
        graph(
            "Operations by member",
            "ops",
            Query(f"sum by (instance) (rate({done}[$window]))", "{{instance}}"),
            note="Operations a second by each member's opcounters.",
        ),
        graph(
            "Mean time in the server",
            "s",
            Query(reads, "{{instance}} read"),
            Query(writes, "{{instance}} write"),
            note="Mean latency by the server's own count, without driver and network.",
        ),
    ]


def _latency(kind: str) -> str:
    """The server tells microseconds; members of other sets are left out by their uptime's label."""
    took, ended = (
        f'rate(mongodb_ss_opLatencies_{what}{{op_type="{kind}"}}[$window])'
        for what in ("latency", "ops")
    )
    return f"({took} / ({ended} > 0) / 1e6) and on (instance) {_of('ss_uptime')}"


def _members() -> list[Any]:
    return [
        states(
            "Is primary",
            Query(f"max by (member_idx) ({_of('members_state')}) == bool 1", "{{member_idx}}"),
            note="Which member was primary when; two at once is a split.",
            width=12,
        ),
        states(
            "Is up",
            Query(f"max by (member_idx) ({_of('members_health')})", "{{member_idx}}"),
            note="Which member the others reached when.",
            width=12,
        ),
        graph(
            "Behind the newest member",
            "s",
            Query(_lag(), "{{member_idx}}"),
            note="Replication lag of each member, by its own last operation.",
        ),
        graph(
            "Connections by member",
            "none",
            Query(
                f"sum by (instance) ({CONNECTIONS})",
                "{{instance}}",
            ),
            note="Open connections of each member; a storm of reconnects shows here.",
        ),
        graph(
            "Waiting for a lock",
            "none",
            Query(
                f"sum by (instance) ({WAITING})",
                "{{instance}}",
            ),
            note="Operations that wait for a lock in each member.",
        ),
        graph(
            "Memory by member",
            "decmbytes",
            Query(f"sum by (instance) ({_of('ss_mem_resident')})", "{{instance}}"),
            note="Resident memory of each member.",
        ),
    ]
