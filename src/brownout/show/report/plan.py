"""What was planned, and the command that runs it again."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.show.report.material import Material

__all__ = ["Plan", "command", "plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The experiment in sentences, and its steps in order."""

    say: Sequence[str]
    steps: Sequence[str]


def plan(material: Material) -> Plan | None:
    """Return the plan from the journal's experiment; from run.json alone where there is none."""
    experiment = material.journal.get("experiment") or {}
    recorded = material.metadata.get("experiment") or {}
    title = experiment.get("title") or recorded.get("title")
    if not title:
        return None
    say = [f"{title}.", *([experiment["description"]] if experiment.get("description") else [])]
    if recorded.get("target"):
        say.append(f"Target: {recorded['target']}, chosen as {recorded.get('select') or 'named'}.")
    return Plan(say, [_step(activity) for activity in experiment.get("method") or []])


def command(material: Material) -> tuple[str, str]:
    """Return the shell command that repeats the run, and what to know about it."""
    recorded = material.metadata.get("experiment") or material.impact.experiment
    cluster = material.metadata.get("cluster") or material.impact.cluster
    variables = {
        "cluster": cluster.get("name"),
        "seed": material.metadata.get("seed") or material.impact.seed,
        "workload": (material.metadata.get("workload") or {}).get("name"),
        "target": recorded.get("select"),
    }
    parts = ["chaos", "run", f"experiments/{recorded.get('name') or 'EXPERIMENT'}.json"]
    for name, value in variables.items():
        if value not in (None, ""):
            parts += ["--var", f"{name}={value}"]
    ref = recorded.get("ref")
    note = (
        f"The experiment's reference is {ref}: another one means that its file has changed."
        if ref
        else ""
    )
    return shlex.join(parts), note


def _step(activity: Mapping[str, Any]) -> str:
    """`kill the target: kill_node(node=target)`."""
    provider = activity.get("provider") or {}
    arguments = provider.get("arguments")
    given = ""
    if isinstance(arguments, Mapping):
        given = ", ".join(f"{key}={value}" for key, value in arguments.items())
    call = f"{provider['func']}({given})" if provider.get("func") else provider.get("type", "")
    pauses = activity.get("pauses") or {}
    before = f"after {pauses['before']} s, " if pauses.get("before") else ""
    after = f", then a pause of {pauses['after']} s" if pauses.get("after") else ""
    return f"{activity.get('name', 'step').replace('-', ' ')}: {before}{call}{after}"
