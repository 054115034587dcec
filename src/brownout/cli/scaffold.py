"""Copy an experiment out, to be changed: the work of `brownout new`.

    DIR/README.md                          what each file is, and what to do next
    DIR/experiments/NAME.json              what is broken, when, and what must hold
    DIR/steady-state/workloads/WORKLOAD.yaml   what is normal
    DIR/infra/clusters/CLUSTER.yaml        where it happens, if that is a shipped inventory
    DIR/schemas/….json                     for editors; the YAML files name them

The folders are those that brownout looks into by itself from DIR, so nothing else is to be set.
The limits stand in the experiment: there they win over the shipped ones.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base import catalog
from brownout.base.compact_json import compact
from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import parse_yaml, read_text
from brownout.cli.schemas import schema
from brownout.faults.registry import faults
from brownout.inventory import inventory
from brownout.inventory.database import databases
from brownout.session.options import SETTINGS

__all__ = ["make", "variables"]

#: What each variable that only some experiments have is for, in a line; docs/experiments.md says
#: more. Databases and faults say it of those that only they have.
VARIABLES: Mapping[str, str] = {
    "mode": "how the node is stopped: `kill` or `clean`",
    "downtime_s": "seconds that the node stays down",
    "hang_s": "seconds that the node hangs",
    "catch_up_s": "seconds that the primary waits at most until a secondary has all its writes",
    "larger_tier": "Atlas: the tier to go to, as M40",
    "smaller_tier": "Atlas: the tier to come back to, the one that the cluster has",
    "regions": "Atlas: the regions to cut off, by commas, or `primary` for that of the primary",
    "outage_s": "Atlas: seconds that the regions stay cut off once it simulates",
    "paused_s": "Atlas: seconds that the cluster stays paused",
    "begins_within_s": "Atlas: wait so many seconds at most until it begins",
    "done_within_s": "Atlas: wait so many seconds at most until it is done",
    "new_node": "the node that takes the place: `spare` or a name",
    "replication_factor": "copies to keep of each record",
    "slots": "slots to move to another master",
    "before_s": "seconds of undisturbed load before the maintenance begins",
    "idle_timeout_s": "wait so many seconds at most until the node has no clients",
    "maintenance_s": "seconds that the node stays stopped for its maintenance",
    "manifest": "Litmus: the file of the ChaosEngine to run",
    "namespace": "Litmus: the namespace of that engine; empty: the manifest's own, else `default`",
    "injected_within_s": "Litmus: wait so many seconds at most until the engine injects",
    "completed_within_s": "Litmus: wait so many seconds at most until the engine is completed",
}


def make(scenario: str, folder: Path, name: str, workload: str, cluster: str) -> list[Path]:
    """Write a copy of `scenario`, called `name`, into `folder`; return its files, README first.

    `workload` and `cluster` are names or paths; empty is what the experiment would take by itself.
    An inventory that is not a shipped one stays where it is, since what it names may lie beside it.
    Raises `ConfigurationError` where anything is there already; then nothing is written.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise ConfigurationError(f"--name: found {name!r}, wanted lower-case letters, digits and -")
    from brownout.judge import slo
    from brownout.load.workload import text_of

    experiment = json.loads(catalog.read("experiments", scenario))
    where = _inventory(cluster or experiment["configuration"]["cluster"]["default"], folder)
    of = workload or _default_workload(where.environment)
    load = Path(of).stem if catalog.is_path(of) else of
    limits = slo.file_limits(scenario, where.limits_name)
    files = {
        Path("experiments", f"{name}.json"): _experiment(
            experiment, name, load, where.name, limits
        ),
        Path("steady-state/workloads", f"{load}.yaml"): _annotated(
            text_of(of)[1], "../../schemas/workload.json"
        ),
        Path("schemas/workload.json"): _json(schema("workload")),
        Path("schemas/inventory.json"): _json(schema("inventory")),
    }
    if where.shipped:
        files[where.path] = _annotated(where.shipped, "../../schemas/inventory.json")
    readme = _readme(experiment, scenario, name, load, where.path, limits)
    return _write(folder, {Path("README.md"): readme, **files})


@dataclass(frozen=True, slots=True)
class _Inventory:
    """An inventory as the copy has it: `name` in the experiment, `path` in the copy's folder.

    `shipped` is the text of one that comes with brownout; empty for another.
    """

    name: str
    path: Path
    database: str
    environment: str
    shipped: str
    limits_name: str


def _inventory(cluster: str, folder: Path) -> _Inventory:
    """Return the inventory of this name or path; `ConfigurationError` where it cannot be read."""
    file = inventory.path_of(cluster)
    text = read_text(file, "inventory")
    data = parse_yaml(text, str(file))
    missing = [key for key in ("database", "environment") if not isinstance(data.get(key), str)]
    if missing:
        raise ConfigurationError([f"{file}: {key}: missing" for key in missing])
    is_shipped = cluster in catalog.names("clusters") and text == catalog.read("clusters", cluster)
    path = Path("infra/clusters", f"{cluster}.yaml") if is_shipped else _from(folder, file)
    return _Inventory(
        cluster if is_shipped else str(path),
        path,
        data["database"],
        data["environment"],
        text if is_shipped else "",
        _limits_name(data),
    )


def _limits_name(data: Mapping[str, Any]) -> str:
    """Return `Cluster.limits_name` of an inventory whose secrets need not be here."""
    name = f"{data['database']}-sentinel"
    lab = data.get("lab")
    watched = "sentinel" in data or (isinstance(lab, Mapping) and lab.get("engine") == name)
    return name if watched else str(data["database"])


def _from(folder: Path, file: Path) -> Path:
    """Return the path of a file as it is from `folder`, where the copy's commands are run."""
    return Path(os.path.relpath(file, folder))


def _default_workload(environment: str) -> str:
    from brownout.session.plan import DEFAULT_WORKLOAD, DEFAULT_WORKLOADS

    return DEFAULT_WORKLOADS.get(environment, DEFAULT_WORKLOAD)


def _experiment(
    experiment: Mapping[str, Any], name: str, workload: str, cluster: str, limits: list[Any]
) -> str:
    """The experiment with this name, cluster and workload as defaults, and its limits inside."""
    copy = json.loads(json.dumps(experiment))
    for extension in copy.get("extensions", []):
        if extension.get("name") == "brownout":
            extension["scenario"] = name
    configuration = copy["configuration"]
    configuration["cluster"]["default"] = cluster
    configuration["workload"] = {
        "type": "env",
        "key": SETTINGS["workload"].environment,
        "default": f"steady-state/workloads/{workload}.yaml",
    }
    configuration["limits"] = {_name(limit): limit.limit for limit in limits}
    return compact(copy)


def _name(limit: Any) -> str:
    return str(limit.measure if limit.scope == "total" else f"{limit.scope}.{limit.measure}")


def _annotated(text: str, schema_path: str) -> str:
    """A YAML file that tells editors its schema."""
    return f"# yaml-language-server: $schema={schema_path}\n{text}"


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _write(folder: Path, files: Mapping[Path, str]) -> list[Path]:
    """Write all files or none: existing files may be the user's work."""
    there = [str(folder / path) for path in files if (folder / path).exists()]
    if there:
        raise ConfigurationError(
            [f"{path}: is there already and is not written over" for path in there],
            "give another folder with --output",
        )
    for path, text in files.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"{target}: cannot be written: {error.strerror}") from error
    return [folder / path for path in files]


def _readme(
    experiment: Mapping[str, Any],
    scenario: str,
    name: str,
    workload: str,
    inventory_path: Path,
    limits: list[Any],
) -> str:
    """What the copy is and what to do with it."""
    return README.format(
        name=name,
        scenario=scenario,
        title=experiment["title"],
        description=experiment["description"],
        workload=workload,
        inventory=inventory_path,
        variables="\n".join(_variables(experiment)),
        limits="\n".join(_limit_rows(limits)) or "| none | | |",
    )


def variables(method: Sequence[Mapping[str, Any]] = ()) -> dict[str, str]:
    """Return what each variable is for, also those of one database only.

    Where faults have variables of the same name, those count that `method` makes.
    """
    used = {step.get("provider", {}).get("func") for step in method}
    settings = {name: setting.means for name, setting in SETTINGS.items()}
    own = {name: means for one in databases().values() for name, means in one.variables.items()}
    for fault in sorted(faults().values(), key=lambda fault: fault.name in used):
        settings |= fault.variables
    return {**settings, **VARIABLES, **own}


def _variables(experiment: Mapping[str, Any]) -> list[str]:
    """Every setting, and the experiment's own variables."""
    environment = {name: setting.environment for name, setting in SETTINGS.items()}
    for name, value in experiment["configuration"].items():
        environment.setdefault(name, value.get("key", "") if isinstance(value, dict) else "")
    rows, descriptions = [], variables(experiment["method"])
    for name, key in environment.items():
        variable = f"`{key}`" if key else ""
        rows.append(
            f"| `{name}` | {variable} | {descriptions.get(name, 'of this experiment alone')} |"
        )
    return rows


def _limit_rows(limits: list[Any]) -> list[str]:
    return [f"| `{_name(limit)}` | {limit.limit:g} | {limit.why} |" for limit in limits]


README = """\
# {name}: {title}

{description}

Copied from brownout's `{scenario}` by `brownout new`; everything here is yours to change. Commands
are run in this folder, so that these files are found:

| file | what it says |
|---|---|
| `experiments/{name}.json` | what is broken and undone, in which order, and what must hold |
| `steady-state/workloads/{workload}.yaml` | what is normal: the data and the load |
| `{inventory}` | the cluster: its nodes, how to reach them, its guards |
| `schemas/` | lets your editor complete and check the YAML files; made by `brownout schema` |

```sh
brownout check experiments/*.json steady-state/workloads/*.yaml {inventory}
brownout plan experiments/{name}.json      # says what would be done; touches nothing
chaos run experiments/{name}.json          # does it
brownout show                                 # the result again; `brownout report` draws it
```

Runs are kept in `runs/`. What Chaos Toolkit itself writes, `journal.json` and `chaostoolkit.log`,
is beside them and not needed: the run has its own journal.

## Variables

Each can be given for one run by `chaos run --var NAME=VALUE`, set in the experiment's
`configuration`, or, where that does not set it or names the variable, by the environment.

| variable | environment | what it is |
|---|---|---|
{variables}

## Limits

They stand in `configuration.limits` of the experiment. A limit given by `--var limits=…` or by
`BROWNOUT_LIMIT_<MEASURE>` wins over it.

| measure | limit | shipped with this reason |
|---|---|---|
{limits}
"""
