"""The guards: each says yes or no to a fault, and why. Pure: what they judge is handed to them.

The same guards are shown by `brownout plan` and asked by `faults` before every act.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from brownout.base.errors import Refused
from brownout.inventory.hours import parse_window
from brownout.inventory.model import Cluster
from brownout.machine.address_proof import Served

__all__ = [
    "MAY_LOSE",
    "Guard",
    "of_act",
    "of_address",
    "of_break",
    "of_change",
    "of_cluster",
    "of_degraded",
    "of_emptying",
    "of_engine",
    "of_loss",
    "of_reboot",
    "of_removal",
    "of_stopped",
    "of_undo",
    "of_wipe",
    "possible",
    "redundancy",
    "refuse",
]

#: What a node that has the only copy may lose data by.
MAY_LOSE = frozenset({
    "stop", "kill", "oom_kill", "pause", "partition", "one_way", "disk_errors", "disk_full",
    "memory_squeeze",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard's answer: `Guard("environment", False, "…", "what to do about it")`."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


def refuse(guards: Iterable[Guard]) -> None:
    """Raise `Refused` with every guard that said no."""
    said_no = [guard for guard in dict.fromkeys(guards) if not guard.ok]
    if said_no:
        raise Refused(
            "nothing is touched: " + "; ".join(f"{g.name}: {g.detail}" for g in said_no),
            "; ".join(dict.fromkeys(g.hint for g in said_no if g.hint)),
        )


def of_cluster(
    cluster: Cluster, needs: Iterable[str], confirmation: str, now: datetime
) -> list[Guard]:
    """Judge a scenario that does `needs` to `cluster`, confirmed by the token `confirmation`."""
    return [
        _environment(cluster, confirmation),
        _hours(cluster, now),
        _denied_acts(cluster, needs),
        _data_loss(cluster, needs),
    ]


def of_act(cluster: Cluster, act: str) -> Guard:
    """Judge an act by the inventory's deny list alone."""
    return _denied_acts(cluster, [act])


def of_degraded(cluster: Cluster) -> Guard:
    """Judge a run that asks to break the cluster while it is not redundant."""
    allowed = cluster.lab is not None or cluster.guards.while_degraded
    return Guard(
        "while degraded",
        allowed,
        f"breaks of `{cluster.name}` may begin while it is not redundant"
        if allowed
        else f"the inventory of `{cluster.name}` does not say `guards.while_degraded: true`",
        "set it there if that is acceptable, or leave out the setting `while_degraded`",
    )


def of_break(
    cluster: Cluster,
    node: str,
    act: str,
    broken: Mapping[str, str],
    missing: Sequence[str],
    lost: Sequence[str] = (),
    neighbours: Sequence[str] = (),
) -> list[Guard]:
    """Judge one break of `node`, while `broken` nodes wait for their mend.

    `missing` says in words what keeps the cluster from being whole and redundant now. It is
    not asked of a node that is broken already: its second break (a wipe after a kill) belongs to
    the same fault. `lost` is what would be lost with the node's data; a wipe is asked about that
    by `of_wipe`. `neighbours` are nodes of its machine that the break hits too.
    """
    hit = (node, *neighbours)
    guards = [_denied_node(cluster, each) for each in hit]
    guards += [_denied_acts(cluster, [act]), of_loss(cluster, act, lost)]
    if more := [each for each in hit if each not in broken]:
        guards += [_nodes_down(cluster, more, broken), redundancy(missing)]
    return guards


def of_address(served: Served) -> Guard:
    """Judge by who serves the node's address: what is asked there must be what is broken."""
    return Guard(
        "address",
        served.by != "other",
        served.detail,
        "correct `address` or `host` of these nodes in the inventory",
    )


def of_loss(cluster: Cluster, act: str, lost: Sequence[str]) -> Guard:
    """Judge an act by what would be lost with a node's data: a single copy does not count.

    `allow_data_loss: true` accepts that for what may lose data. A wipe does lose it, and needs
    `all_copies`.
    """
    if not lost:
        return Guard("copies", True, "what the node holds, others hold too")
    wanted = cluster.allow_data_loss == "all_copies" or (act != "wipe" and cluster.allow_data_loss)
    if wanted:
        permission = f"; `allow_data_loss: {str(cluster.allow_data_loss).lower()}` accepts that"
        return Guard("copies", True, "; ".join(lost) + permission)
    return Guard(
        "copies",
        False,
        f"one more failure loses data: {'; '.join(lost)}",
        "keep another copy of it, or set `allow_data_loss: "
        f"{'all_copies' if act == 'wipe' else 'true'}` in the inventory if it may be lost for good",
    )


def of_change(
    cluster: Cluster,
    node: str | None,
    act: str,
    missing: Sequence[str],
    objections: Sequence[str],
) -> list[Guard]:
    """Judge a planned change, of `node` or of the cluster as a whole.

    `missing` is as in `of_break`; `objections` are the database's own, in words.
    """
    guards = [_denied_node(cluster, node)] if node else []
    return [*guards, _denied_acts(cluster, [act]), redundancy(missing), possible(objections)]


def of_engine(
    cluster: Cluster,
    broken: Mapping[str, str],
    missing: Sequence[str],
    objections: Sequence[str],
) -> list[Guard]:
    """Judge a ChaosEngine of Litmus, whose targets are unknown here; else as `of_break`."""
    return [
        _denied_acts(cluster, ["litmus"]),
        _nodes_down(cluster, ["what the engine breaks"], broken),
        redundancy(missing),
        possible(objections),
    ]


def of_undo(
    cluster: Cluster, node: str | None, act: str, confirmation: str, now: datetime
) -> list[Guard]:
    """Judge an undo that may hurt: the run that it puts back may have begun long ago."""
    denied = [_denied_node(cluster, node)] if node else []
    return [*of_cluster(cluster, [act], confirmation, now), *denied]


def of_removal(node: str, removable: Collection[str]) -> Guard:
    """Judge the removal of `node`, which undoes that it was added."""
    return Guard(
        "spare",
        node in removable,
        f"node `{node}` is taken out only if the inventory lists it under `spares`, when the run "
        "began and now, and it was not a member before the run",
        "if it has to leave, remove it by the database's own means",
    )


def of_emptying(cluster: Cluster) -> list[Guard]:
    """Judge whether a spare that was added and is out again may be emptied."""
    return [_data_loss(cluster, ["wipe"]), _denied_acts(cluster, ["wipe"])]


def of_wipe(cluster: Cluster, node: str, lost: Sequence[str], against: str) -> list[Guard]:
    """Judge a wipe of `node` by all that can be known before the node is stopped.

    `lost` is what would be lost with its data; `against` is what is against emptying its
    directories, in words.
    """
    directory = Guard("the directory", not against, against or "it is the node's own")
    return [
        _data_loss(cluster, ["wipe"]),
        _denied_acts(cluster, ["wipe"]),
        _denied_node(cluster, node),
        of_loss(cluster, "wipe", lost),
        directory,
    ]


def of_stopped(node: str, state: str, running: bool) -> Guard:
    """Judge a wipe of `node`, whose process is in `state`."""
    return Guard(
        "node is stopped",
        not running,
        f"node `{node}` is {state}",
        "stop it first, by `stop_node` or `kill_node`",
    )


def of_reboot(node: str, broken: Collection[str], neighbours: Sequence[str] = ()) -> Guard:
    """Judge a reboot, which belongs to a fault that has begun: only the first act is asked more.

    `neighbours` are nodes of the same machine, which restart with it.
    """
    up = [f"`{each}`" for each in (node, *neighbours) if each not in broken]
    if not up:
        return Guard("node is down", True, f"this run has broken node `{node}`")
    others = f", on the same machine as `{node}`" if f"`{node}`" not in up else ""
    return Guard(
        "node is down",
        False,
        f"this run has not broken node {' and '.join(up)}{others}",
        "stop it first, by `stop_node` or `kill_node`",
    )


def _environment(cluster: Cluster, confirmation: str) -> Guard:
    """A production cluster wants its own name as a token, typed or by variable."""
    if cluster.environment != "production":
        return Guard("environment", True, f"`{cluster.name}` is a {cluster.environment} cluster")
    if confirmation == cluster.name:
        return Guard("environment", True, f"production, confirmed by the token `{confirmation}`")
    actual = f"the token `{confirmation}`" if confirmation else "no confirmation"
    return Guard(
        "environment",
        False,
        f"`{cluster.name}` is a production cluster; found {actual}, wanted its name",
        f"give `--set confirm={cluster.name}` or BROWNOUT_CONFIRM={cluster.name} if you mean it "
        f"(`--var` with `chaos run`, `--confirm {cluster.name}` with `brownout load`, `fill` and "
        "`clean`)",
    )


def _hours(cluster: Cluster, now: datetime) -> Guard:
    windows = cluster.guards.allowed_hours
    if not windows:
        return Guard("allowed hours", True, "any")
    listed = ", ".join(windows)
    inside = any(parse_window(window).holds(now) for window in windows)
    return Guard(
        "allowed hours",
        inside,
        f"it is {now.astimezone():%a %H:%M %Z}, allowed is {listed}",
        "wait, or change `guards.allowed_hours` in the inventory",
    )


def _denied_acts(cluster: Cluster, acts: Iterable[str]) -> Guard:
    denied = sorted(set(acts) & set(cluster.guards.deny_acts))
    return Guard(
        "deny list",
        not denied,
        f"the inventory denies {', '.join(denied)}" if denied else "nothing here is denied",
        "`guards.deny_acts` of the inventory says so" if denied else "",
    )


def _denied_node(cluster: Cluster, node: str) -> Guard:
    denied = node in cluster.guards.deny_nodes
    return Guard(
        "denied nodes",
        not denied,
        f"the inventory denies node `{node}`" if denied else f"node `{node}` is not denied",
        "`guards.deny_nodes` of the inventory says so" if denied else "",
    )


def _data_loss(cluster: Cluster, needs: Iterable[str]) -> Guard:
    if "wipe" not in needs:
        return Guard("data loss", True, "nothing is wiped")
    return Guard(
        "data loss",
        bool(cluster.allow_data_loss),
        f"the inventory of `{cluster.name}` "
        + ("allows it" if cluster.allow_data_loss else "does not say `allow_data_loss: true`"),
        "set it there if losing a node's data is acceptable",
    )


def possible(objections: Sequence[str]) -> Guard:
    """Judge what the state of the cluster, or of this run, forbids in words."""
    return Guard("possible now", not objections, "; ".join(objections) or "the database can do it")


def _nodes_down(cluster: Cluster, more: Sequence[str], broken: Mapping[str, str]) -> Guard:
    limit = cluster.guards.max_nodes_down
    down = ", ".join(sorted(broken)) or "none"
    names = " and ".join(f"`{each}`" for each in more)
    count = "one" if len(more) == 1 else str(len(more))
    machine = "" if len(more) == 1 else ": this fault hits all nodes of their machine"
    return Guard(
        "nodes down",
        len(broken) + len(more) <= limit,
        f"broken now: {down}; at most {limit} may be, and {names} would be {count} more{machine}",
        "undo what is broken first" if broken else "raise `guards.max_nodes_down` if that is meant",
    )


def redundancy(missing: Sequence[str]) -> Guard:
    """Judge a break by what keeps the cluster from being whole and redundant, in words."""
    return Guard(
        "redundancy",
        not missing,
        f"the cluster is not redundant now: {', '.join(missing)}"
        if missing
        else "every member is in step",
        "wait until it is",
    )
