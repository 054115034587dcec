"""What a run is going to do, worked out from the experiment before anything is touched."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import ceil
from typing import Any, TypeVar

from chaoslib import experiment_hash, substitute

from brownout.base.errors import BrownoutError, ClusterError, ConfigurationError
from brownout.base.redact import redact
from brownout.faults.fault import Action
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.judge import slo
from brownout.load import workload as workloads
from brownout.load.canary import with_canary
from brownout.load.shares import check_shares
from brownout.load.where import generators_of
from brownout.load.workload import Workload
from brownout.measure.measures import find
from brownout.measure.settings import MeasureSettings
from brownout.measure.unit import SECONDS
from brownout.session.activity import fault_of, function_at
from brownout.session.external import ExternalSteps, external_steps, provided_by
from brownout.session.options import (
    SETTINGS,
    Options,
    complete,
    environment_limits,
    read_options,
    unknown_keys,
    unknown_variables,
)
from brownout.session.step_guards import Deed, deeds_of, first_act
from brownout.session.switches import switch_problems
from brownout.session.targets import ADDED, BROKEN, SPARE, TARGET, check_target
from brownout.session.variables import typed

__all__ = ["Plan", "breaks_by_others_alone", "extension_problems", "make_plan"]

T = TypeVar("T")

#: What a scenario needs that changes who holds which data.
RESIZES = frozenset({"add", "remove", "replication_factor"})

#: How long to wait for a milestone at least, and how much longer than its limit.
_MILESTONE_LIMIT_S, _TO_EXCEED_S = 300, 30

#: The workload that runs where none is named, by the cluster's environment.
DEFAULT_WORKLOADS = {"lab": "lab"}
DEFAULT_WORKLOAD = "key-value"


@dataclass(frozen=True, slots=True)
class Plan:
    """One run, resolved: nothing in it is looked up again later.

    `needs` names what the scenario does to a node (`kill`, `wipe`, …): an adapter says whether
    its database supports each. `deeds` are what brownout does in each step of the method, and
    `wipes` the nodes that it wipes, as it calls them.
    `external` says which steps of other providers break and undo.
    `method` has every step of the method in words: what it does, with what, and after which pause.
    A fault that ends before its undo leaves the run valid if it `may_end_early`.
    `variables` is the experiment's configuration with every setting that it leaves out, each
    value converted to what it is used as.
    """

    scenario: str
    title: str
    ref: str
    needs: tuple[str, ...]
    wipes: tuple[str, ...]
    deeds: tuple[Deed, ...]
    external: ExternalSteps
    method: tuple[str, ...]
    may_end_early: bool
    options: Options
    cluster: Cluster
    workload: Workload
    limits: tuple[slo.Limit, ...]
    dropped_limits: tuple[slo.Limit, ...]
    settings: MeasureSettings
    variables: Mapping[str, Any]

    @property
    def acts(self) -> frozenset[str]:
        """All that brownout does, in the words of `needs`."""
        return frozenset({*self.needs, *(deed.act for deed in self.deeds)})

    @property
    def resizes(self) -> bool:
        """Whether data is moved between nodes on purpose."""
        return bool(RESIZES & set(self.needs))

    @property
    def load_options(self) -> Mapping[str, Mapping[str, Any]]:
        """What the workload tells each driver, as `{"stone": {"write_to": 1}}`."""
        return self.workload.options.model_dump(mode="json", exclude_none=True)

    @property
    def mode(self) -> str:
        """How the node is hurt, for titles: `kill`, `pause`, …"""
        return first_act(self.deeds) or (self.needs[0] if self.needs else "")


def make_plan(
    experiment: Mapping[str, Any], configuration: Mapping[str, Any], variables: Mapping[str, Any]
) -> Plan:
    """Resolve an experiment with its `configuration` and the `--var` options that were given.

    Raises `ConfigurationError` with every problem at once; nothing was touched.
    """
    problems: list[str] = []
    declared = experiment.get("configuration") or {}
    problems += unknown_variables(variables, declared)
    problems += unknown_keys(experiment)
    kinds = {name: setting.kind for name, setting in SETTINGS.items() if setting.kind}
    values = typed(experiment, complete(declared, configuration, variables), kinds, problems)
    options = read_options(declared, values, problems)
    extension = _extension(experiment)
    problems += extension_problems(experiment)
    external = external_steps(experiment, extension, problems)
    cluster = _collect(problems, lambda: inventory.declared(options.cluster))
    if cluster is not None:
        nodes = _nodes_of(options, cluster)
        problems += _wrong_arguments(experiment, values, options, nodes)
        if extension.get("may_end_early") is not True:
            problems += switch_problems(experiment, values, nodes)
    workload = _collect(problems, lambda: _workload(options, cluster))
    scenario = str(extension.get("scenario"))
    limits = _collect(problems, lambda: _limits(scenario, cluster, workload, options))
    deeds = deeds_of(experiment.get("method") or (), values)
    wipes = _wipes(deeds, extension)
    if problems or cluster is None or workload is None or limits is None:
        raise ConfigurationError(problems)
    waits_s = options.milestone_limit_s or _long_enough_s(limits[0])
    return Plan(
        scenario=scenario,
        title=str(experiment["title"]),
        ref=experiment_hash({k: part for k, part in experiment.items() if k != "dry"}),
        needs=_needs(extension, wipes),
        wipes=wipes,
        deeds=tuple(deeds),
        external=external,
        method=tuple(map(_in_words, experiment.get("method") or ())),
        may_end_early=extension.get("may_end_early") is True,
        options=replace(options, milestone_limit_s=waits_s),
        cluster=cluster,
        workload=workload,
        limits=tuple(limits[0]),
        dropped_limits=tuple(limits[1]),
        settings=_settings(cluster, options),
        variables={**values, "milestone_limit_s": waits_s},
    )


def extension_problems(experiment: Mapping[str, Any]) -> Iterator[str]:
    """Name what is missing in our extension, and a scenario without any limit.

    A limit given for one run alone (`--var`, the environment) makes no scenario known: that of a
    misspelt one would be judged by it and by none of its own.
    """
    extension = _extension(experiment)
    scenario, scenarios = extension.get("scenario"), slo.scenarios()
    if not isinstance(early := extension.get("may_end_early", False), bool):
        yield f"extensions: may_end_early: found {early!r}, wanted true or false"
    if not scenario:
        yield (
            'extensions: {"name": "brownout", "scenario": …, "needs": […]} is missing, by which '
            "limits are found and databases are asked whether they can"
        )
    elif not extension.get("needs") and not breaks_by_others_alone(experiment):
        yield (
            "extensions: `needs` is missing or empty; name what brownout breaks (`brownout list "
            "faults`), or name the steps of others that break something in `breaks`"
        )
    elif scenario not in scenarios and not experiment.get("configuration", {}).get("limits"):
        alike = get_close_matches(str(scenario), scenarios, 1)
        meant = f"did you mean {alike[0]}? " if alike else ""
        yield (
            f"extensions: scenario {scenario!r} is unknown and the experiment has no limits of its "
            f"own; {meant}Name one of {', '.join(scenarios)}, or set `configuration.limits`"
        )


def breaks_by_others_alone(experiment: Mapping[str, Any]) -> bool:
    """Return whether brownout itself breaks nothing in this experiment, and others do."""
    extension = _extension(experiment)
    return not extension.get("needs") and bool(external_steps(experiment, extension, []))


def _in_words(activity: Mapping[str, Any]) -> str:
    """`after 4 s: pause_node {"node": "n1"}`: all that decides what a step does, without secrets.

    Variables stay as `${name}`: a run has their values beside it.
    """
    provider, pauses = activity.get("provider") or {}, activity.get("pauses") or {}
    who = provided_by(activity)
    if who.startswith("brownout."):
        who = str(provider["func"])
    before = f"after {pauses['before']} s: " if pauses.get("before") else ""
    after = f", then {pauses['after']} s" if pauses.get("after") else ""
    beside = " in the background" if activity.get("background") else ""
    arguments = json.dumps(redact(provider.get("arguments") or {}), sort_keys=True)
    return f"{before}{who} {arguments}{beside}{after}"


def _extension(experiment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Our entry in the experiment's `extensions`: `{"name": "brownout", "scenario": …}`."""
    for extension in experiment.get("extensions", []):
        if extension.get("name") == "brownout":
            return dict(extension)
    return {}


def _wipes(deeds: Sequence[Deed], extension: Mapping[str, Any]) -> tuple[str, ...]:
    """Which nodes are wiped, as `target`: what `wipe_node` is given, or else the target."""
    named = [deed.nodes for deed in deeds if deed.act == "wipe"]
    if not named and "wipe" in extension.get("needs", ()):
        return ("target",)
    return tuple(dict.fromkeys(named))


def _needs(extension: Mapping[str, Any], wipes: Sequence[str]) -> tuple[str, ...]:
    """What the scenario needs; an experiment that wipes and does not say so needs it too."""
    needs = [*extension.get("needs", ()), *(["wipe"] if wipes else [])]
    return tuple(dict.fromkeys(needs))


def _collect(problems: list[str], step: Callable[[], T]) -> T | None:
    """Do one step; its configuration errors join `problems`."""
    try:
        return step()
    except ConfigurationError as error:
        hint = f"; {error.hint}" if error.hint else ""
        problems.extend(problem + hint for problem in error.problems)
        return None


def _nodes_of(options: Options, declared: Cluster) -> Cluster:
    """Return the cluster with its nodes, also of a lab that is down: those that it will have."""
    try:
        return inventory.load(options.cluster)
    except ClusterError:
        return lab.with_nodes(declared, declared.lab) if declared.lab else declared


def _wrong_arguments(
    experiment: Mapping[str, Any], values: Mapping[str, Any], options: Options, cluster: Cluster
) -> list[str]:
    """Say what our activities are given that cannot be, as nodes that the cluster has not."""
    problems = []
    try:
        check_target(options.target, cluster)
    except BrownoutError as error:
        problems.append(str(error))
    names = [TARGET, SPARE, ADDED, BROKEN, *(node.name for node in cluster.every)]
    activities = [*(experiment.get("method") or ()), *(experiment.get("rollbacks") or ())]
    for activity in activities:
        provider, name = activity.get("provider", {}), activity.get("name")
        if not str(provider.get("module")).startswith("brownout.actions."):
            continue
        arguments = substitute(provider.get("arguments") or {}, dict(values), None)
        node = arguments.get("node", TARGET)
        if node not in names and not _is_role(str(node), cluster):
            wanted = f"wanted one of {', '.join(names)}, or a role such as primary"
            problems.append(f"{name}: node: found {node!r}, {wanted}")
        function = function_at(f"{provider['module']}.{provider.get('func')}")
        if (fault := fault_of(function)) is not None:
            problems += [f"{name}: {problem}" for problem in _problems_of(fault, arguments)]
    return problems


def _is_role(word: str, cluster: Cluster) -> bool:
    """Whether a node can be chosen by a word."""
    try:
        check_target(word, cluster)
    except BrownoutError:
        return False
    return True


def _problems_of(fault: Action, arguments: Mapping[str, Any]) -> list[str]:
    """Say what a fault is given that it cannot do; what is not a number is not asked for its size.

    A variable whose own value was refused is left in the arguments as `${name}`.
    """
    numbers = {
        one.name
        for one in fault.parameters()
        if isinstance(one.default, int | float) and not isinstance(one.default, bool)
    }
    others = {k: v for k, v in arguments.items() if k in numbers and not isinstance(v, int | float)}
    problems = [
        f"{name}: found {value!r}, wanted a number"
        for name, value in others.items()
        if "${" not in str(value)
    ]
    return problems + fault.problems({k: v for k, v in arguments.items() if k not in others})


def _workload(options: Options, cluster: Cluster | None) -> Workload:
    """The workload that is named, or the default one of the environment, with a canary's stream."""
    environment = cluster.environment if cluster else ""
    name = options.workload or DEFAULT_WORKLOADS.get(environment, DEFAULT_WORKLOAD)
    workload = workloads.load(name, options.load)
    if cluster is not None:
        workload = with_canary(workload, options.canary, cluster)
    check_shares(workload, generators_of(cluster))
    return workload


def _limits(
    scenario: str, cluster: Cluster | None, workload: Workload | None, options: Options
) -> tuple[list[slo.Limit], list[slo.Limit]]:
    """Every limit of this run with where it came from, and those that were dropped."""
    if cluster is None or workload is None:
        return [], []
    return slo.resolve(
        scenario=scenario,
        database=cluster.limits_name,
        streams=[stream.name for stream in workload.streams],
        experiment=options.experiment_limits,
        environment=environment_limits(),
        objectives=options.slo_limits,
        variables=options.variable_limits,
    )


def _long_enough_s(limits: Sequence[slo.Limit]) -> int:
    """Return for how many seconds to wait so that each limit on a time can be decided."""
    times = [one.limit for one in limits if (of := find(one.measure)) and of.unit is SECONDS]
    return ceil(max([_MILESTONE_LIMIT_S, *(time + _TO_EXCEED_S for time in times)]))


def _settings(cluster: Cluster, options: Options) -> MeasureSettings:
    """The measures' settings: a lab is small and noisy and gets its own."""
    base = MeasureSettings.lab() if cluster.environment == "lab" else MeasureSettings.default()
    return replace(
        base,
        warmup_max_s=options.warmup_max_s,
        baseline_s=options.baseline_s or base.baseline_s,
        budget_objective=options.budget_objective,
        budget_days=options.budget_days,
    )
