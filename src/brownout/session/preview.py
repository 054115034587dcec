"""Say what a run would do, and what stands in the way; nothing is touched.

`brownout plan EXPERIMENT` and `chaos run --dry` print it. The acts are read off the experiment's
method and rollbacks, the guards are the very ones that the run asks.
"""

import shlex
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.base.redact import redact
from brownout.databases.adapter import Adapter, Support, adapter_for
from brownout.databases.milestones import still_unmet
from brownout.faults import guards, open_runs
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.fault import NOT_POSSIBLE
from brownout.faults.guards import Guard
from brownout.faults.registry import supports
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.database import with_options
from brownout.inventory.model import Cluster, Node
from brownout.session import in_cluster
from brownout.session.activity import fault_of, function_at, steps_of, told_of
from brownout.session.plan import Plan
from brownout.session.privileges import privileges
from brownout.session.requirements import requirements
from brownout.session.step_guards import addresses, guards_of_steps, hosts, resolved
from brownout.session.targets import ADDED, SPARE, TARGET, targets_of
from brownout.show.report.words import limit_words

__all__ = ["preview"]

Activity = Mapping[str, Any]

#: Guards of a step that are asked of the whole scenario as well.
_ASKED_OF_ALL = ("data loss", "deny list", "redundancy")


def preview(plan: Plan, experiment: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the plan in words, and whether nothing stands in the way."""
    configuration = plan.variables
    cluster, adapter, unreachable = _reach(plan)
    try:
        blocks = [_head(plan, cluster)]
        node, chosen = _target(plan, cluster, adapter)
        lines, ok = _guard_lines([*unreachable, *_cluster_guards(plan, cluster, adapter), *chosen])
        blocks.append("guards\n" + "\n".join(lines))
        steps = list(_steps(experiment.get("method", []), configuration, cluster, adapter, node))
        blocks.append("method\n" + "\n".join(steps))
        undo = list(_steps(experiment.get("rollbacks", []), configuration, cluster, adapter, node))
        blocks.append("rollbacks\n" + "\n".join(undo))
        ok = ok and not any(NOT_POSSIBLE in line for line in (*steps, *undo))
    finally:
        if adapter is not None:
            adapter.close()
    return "\n\n".join([*blocks, "nothing was touched"]), ok


def _reach(plan: Plan) -> tuple[Cluster, Adapter | None, list[Guard]]:
    """The cluster as it runs now; a lab that is down has no adapter, of others a guard says why."""
    try:
        cluster = inventory.load(plan.options.cluster)
        return cluster, adapter_for(with_options(cluster, plan.load_options)), []
    except BrownoutError as error:
        against = Guard("cluster can be asked", False, error.message, error.hint)
        return plan.cluster, None, [against] if plan.cluster.lab is None else []


def _head(plan: Plan, cluster: Cluster) -> str:
    """What, where, with which load and limits."""
    lines = [
        f"experiment   {plan.scenario}: {plan.title}",
        f"cluster      {cluster.name} ({cluster.database}, {cluster.environment}"
        + (", a lab that this run would bring up and take down)" if not cluster.nodes else ")"),
        f"load         {plan.workload.summary()}, writes to `{plan.workload.namespace}` only",
        f"seed         {plan.options.seed}",
    ]
    for stream in plan.workload.streams:
        if stream.client is not None:
            program = " ".join(stream.client.command)
            lines.append(f"client       {stream.rate:g}/s of `{stream.name}` by `{program}`")
    settings = plan.settings
    if settings.baseline_s < settings.baseline_min_s:
        lines.append(
            f"baseline     {settings.baseline_s:g} s: with less than {settings.baseline_min_s:g} s "
            "a run is never a pass"
        )
    if not plan.limits:
        lines.append("limit        none: without a limit a run is never a pass")
    for limit in plan.limits:
        lines.append(f"limit        {limit_words(limit)}  ({limit.limit_from})")
    for limit in plan.dropped_limits:
        lines.append(f"dropped      {limit_words(limit)}  (by {limit.limit_from})")
    return "\n".join(lines)


def _guard_lines(checks: list[Guard]) -> tuple[list[str], bool]:
    """Each guard in a line, with what to do where it says no; and whether none does."""
    lines = [
        f"  {'yes' if guard.ok else 'NO '}  {guard.name}: {guard.detail}"
        + (f"; {guard.hint}" if guard.hint and not guard.ok else "")
        for guard in checks
    ]
    return lines, all(guard.ok for guard in checks)


def _cluster_guards(plan: Plan, cluster: Cluster, adapter: Adapter | None) -> list[Guard]:
    """Every guard of the run with its state now."""
    checks = guards.of_cluster(cluster, plan.needs, plan.options.confirm, datetime.now(UTC))
    checks += requirements(cluster, plan.needs)
    if plan.options.while_degraded:
        checks.append(guards.of_degraded(cluster))
    checks.append(_free(plan, cluster, adapter))
    for need in plan.needs:
        support = _support(need, cluster, adapter)
        if support is not None:
            checks.append(Guard(f"supports {need}", support.ok, support.reason or "yes"))
    if adapter is not None:
        checks.append(_whole(adapter))
        checks += privileges(cluster, adapter, plan.acts, plan.workload.namespace)
        checks += hosts(plan.deeds, cluster)
        checks += addresses(cluster)
        checks += _of_steps(plan, cluster, adapter)
    return checks


def _of_steps(plan: Plan, cluster: Cluster, adapter: Adapter) -> list[Guard]:
    """Every guard of every step that says no; of the others, each kind once."""
    options = plan.options

    try:
        targets = targets_of(options.target, cluster, adapter, options.seed)
    except BrownoutError:
        targets = []  # the guard of the target says why
    checks = guards_of_steps(plan.deeds, cluster, adapter, targets)
    refusals = [guard for guard in checks if not guard.ok]
    refused = {guard.name for guard in refusals}
    others = {guard.name: guard for guard in checks if guard.ok and guard.name not in refused}
    return [*refusals, *(g for name, g in others.items() if name not in _ASKED_OF_ALL)]


def _support(need: str, cluster: Cluster, adapter: Adapter | None) -> Support | None:
    """Whether the cluster can do `need`; None where that is known only once its lab is up."""
    if adapter is not None:
        return supports(need, cluster, adapter)
    return lab.foreseen(cluster.lab, need) if cluster.lab is not None else None


def _free(plan: Plan, cluster: Cluster, adapter: Adapter | None) -> Guard:
    nodes = nodes_of(cluster)
    held = open_runs.claim_against(cluster.name, nodes)
    if held is None or (held.kind == "load" and not held.is_alive()):
        return _free_elsewhere(plan, adapter)
    refusal = open_runs.refusal(held, cluster.name, nodes)
    return Guard("cluster is free", False, refusal.message, refusal.hint)


def _free_elsewhere(plan: Plan, adapter: Adapter | None) -> Guard:
    """Whether a run of another machine has it, as the claim in the cluster says."""
    if adapter is None:
        return Guard("cluster is free", True, "no other run has it")
    try:
        other = in_cluster.holder_of(adapter, plan.workload)
    except BrownoutError as error:
        detail = f"no other run of this machine has it; those of others are not seen: {error}"
        return Guard("cluster is free", True, detail)
    if other is not None:
        return Guard("cluster is free", False, f"it is in the hands of {other}", "wait for it")
    return Guard("cluster is free", True, "no other run has it")


def _whole(adapter: Adapter) -> Guard:
    """Whether the cluster is whole, by the very looks that a run takes; one that raises is not."""
    try:
        missing = still_unmet(adapter, "whole")
    except BrownoutError as error:
        return Guard("cluster is whole", False, str(error))
    detail = "; ".join(missing) or "every member is there and in step"
    return Guard("cluster is whole", not missing, detail)


def _target(
    plan: Plan, cluster: Cluster, adapter: Adapter | None
) -> tuple[Node | None, list[Guard]]:
    """The node that would be chosen now, and the guard that one can be."""
    if adapter is None:
        return None, []
    options = plan.options
    try:
        node = targets_of(options.target, cluster, adapter, options.seed)[0]
    except BrownoutError as error:
        return None, [Guard("target", False, error.message, error.hint)]
    return node, [Guard("target", True, f"{options.target} is {node.name} ({node.address})")]


def _steps(
    activities: list[Activity],
    configuration: Mapping[str, Any],
    cluster: Cluster,
    adapter: Adapter | None,
    target: Node | None,
) -> Iterator[str]:
    """Each activity in order, with the command or call it would make."""
    for number, activity in enumerate(activities, 1):
        provider = activity["provider"]
        given = provider.get("arguments") or {}
        if provider["type"] == "process" and not isinstance(given, Mapping):
            given = {"": given if isinstance(given, str) else shlex.join(map(str, given))}
        arguments = {key: resolved(value, configuration) for key, value in given.items()}
        yield f"  {number}. {activity['name']}" + _pauses(activity, configuration)
        for line in _calls(provider, arguments, cluster, adapter, target):
            yield f"       {line}"


def _calls(
    provider: Mapping[str, Any],
    arguments: Mapping[str, Any],
    cluster: Cluster,
    adapter: Adapter | None,
    target: Node | None,
) -> Iterator[str]:
    """The commands and calls of one activity."""
    if provider["type"] == "process":
        words = [f"{option} {value}".strip() for option, value in arguments.items()]
        yield redact(" ".join([provider["path"], *words]))
        return
    if provider["type"] == "http":
        yield redact(f"{provider.get('method', 'GET')} {provider['url']}")
        return
    path = f"{provider['module']}.{provider['func']}"
    for step in steps_of(function_at(path)) or (path,):
        yield from _told_by(step, arguments, cluster, adapter, target)


def _told_by(
    path: str,
    arguments: Mapping[str, Any],
    cluster: Cluster,
    adapter: Adapter | None,
    target: Node | None,
) -> list[str]:
    """What one action does, in the words of its fault or its own; of any other, its call."""
    function = function_at(path)
    fault, words = fault_of(function), told_of(function)
    node = _meant(str(arguments.get("node", TARGET)), cluster, target)
    if words:
        return [words.format(f"{node.name} ({node.address})" if node else "the target")]
    lines = fault.plan(cluster, adapter, node, arguments) if fault is not None else None
    if lines is not None:
        return lines
    shown = ", ".join(f"{key}={value!r}" for key, value in redact(arguments).items())
    return [f"{path}({shown})"]


def _meant(name: str, cluster: Cluster, target: Node | None) -> Node | None:
    """The node that an argument means; None where only the run itself can know it."""
    if name == SPARE and cluster.spares:
        return cluster.spares[0]
    if name in (TARGET, SPARE, ADDED):
        return target
    return cluster.node(name) if cluster.every else None


def _pauses(activity: Activity, configuration: Mapping[str, Any]) -> str:
    pauses = activity.get("pauses", {})
    shown = [f"{resolved(pauses[side], configuration)} s {side}" for side in pauses]
    return f"  (pause: {', '.join(shown)})" if shown else ""
