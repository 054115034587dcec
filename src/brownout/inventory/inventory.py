"""Reading inventories: one YAML file a cluster, found by name or by path.

A name is looked for in the directories of BROWNOUT_CLUSTERS, then in `infra/clusters` here, then
among those that come with brownout. The first one found counts.
"""

import os
from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from brownout.base import plugins
from brownout.base.catalog import is_path
from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.files import is_file
from brownout.base.problems import from_validation
from brownout.base.settings import Settings
from brownout.base.settings_file import parse_yaml, read_text
from brownout.inventory.database import Database, database
from brownout.inventory.model import Cluster, HostSpec, LabSpec, of_engine

__all__ = ["declared", "load", "names", "parse", "path_of", "places"]


def places() -> list[Path]:
    """Return the directories that a name is looked for in, in that order."""
    given = os.environ.get("BROWNOUT_CLUSTERS", "")
    listed = [Path(part).expanduser() for part in given.split(os.pathsep) if part]
    with as_file(files("brownout") / "infra" / "clusters") as shipped:
        return [*listed, Path("infra", "clusters"), shipped]


def names() -> list[str]:
    """Return every inventory that can be named."""
    return sorted({path.stem for place in places() for path in place.glob("*.yaml")})


def load(name_or_path: str | Path) -> Cluster:
    """Return the cluster that an inventory describes; for a lab, the one that is up.

    Raises `ConfigurationError` with every problem of the file at once, or with the known names;
    `ClusterError` for a lab that is down.
    """
    cluster = declared(name_or_path)
    if cluster.lab is None or cluster.nodes:
        return cluster
    # Here and not above: the lab reads inventories itself.
    from brownout.inventory.labs import running_inventory

    path = running_inventory(cluster.name)
    if path is None:
        raise ClusterError(f"the lab `{cluster.name}` is down", f"brownout lab up {cluster.name}")
    return declared(path)


def declared(name_or_path: str | Path) -> Cluster:
    """Return the cluster as its file declares it: a lab has no nodes there, even when it is up."""
    path = _find(name_or_path)
    return parse(parse_yaml(read_text(path, "inventory"), str(path)), path)


def parse(data: Mapping[str, Any], path: Path) -> Cluster:
    """Return the cluster of an inventory that was read from `path`.

    Paths in it start from `path`'s directory, and its name is that of the file unless it says
    otherwise. Raises `ConfigurationError` with all problems.
    """
    context = {"base": str(path.parent)}
    raw = {"name": path.stem, **data}
    problems = list(_database_problems(raw))
    raw = _with_load(_with_hosts(raw, context, problems), context, problems)
    raw = _with_lab(raw, context, problems)
    try:
        cluster = Cluster.model_validate(raw, context=context)
    except ValidationError as error:
        problems += from_validation(error, Cluster)
    if problems:
        raise ConfigurationError([f"{path}: {problem}" for problem in problems])
    return cluster


def path_of(name_or_path: str | Path) -> Path:
    """Return the file of an inventory, absolute: another folder may have one of the same name.

    Raises `ConfigurationError` with the known names.
    """
    return _find(name_or_path).absolute()


def _find(name_or_path: str | Path) -> Path:
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or is_path(text):
        return Path(name_or_path).expanduser()
    for place in places():
        path = place / f"{text}.yaml"
        if is_file(path):
            return path
    listed = ", ".join(names()) or "none"
    looked = ", ".join(str(place) for place in places())
    raise ConfigurationError(
        f"unknown cluster `{text}`; known: {listed}",
        f"looked in {looked}; set BROWNOUT_CLUSTERS to another directory or give the file's path",
    )


def _database_problems(raw: Mapping[str, Any]) -> Iterator[str]:
    name = raw.get("database")
    databases_here = plugins.known(plugins.DATABASES)
    if isinstance(name, str) and name not in databases_here:
        yield f"database: found {name!r}, wanted one of {', '.join(databases_here)}"
        return
    if raw.get("streaming") is not None and isinstance(name, str) and not database(name).streams:
        yield f"streaming: found it for {name}, whose members know by themselves who leads"
    if raw.get("sentinel") is not None and isinstance(name, str) and not database(name).sentinels:
        yield f"sentinel: found it for {name}, which no sentinels watch"


def _with_hosts(
    raw: Mapping[str, Any], context: Mapping[str, Any], problems: list[str]
) -> dict[str, Any]:
    """Replace each node's `host` by the settings of its kind; what is wrong joins `problems`.

    Which settings there are depends on the kind, and kinds come from other packages.
    """
    read = dict(raw)
    for key in ("nodes", "spares"):
        nodes = raw.get(key)
        if isinstance(nodes, list):
            read[key] = [
                _with_host(node, (key, index), context, problems)
                for index, node in enumerate(nodes)
            ]
    return read


def _with_load(
    raw: dict[str, Any], context: Mapping[str, Any], problems: list[str]
) -> dict[str, Any]:
    """Replace `load` by its settings; what is wrong joins `problems`."""
    if not isinstance(raw.get("load"), dict):
        return raw
    without = {key: value for key, value in raw.items() if key != "load"}
    try:
        model = _load_settings(raw["load"])
    except ConfigurationError as error:
        problems.append(str(error))
        return without
    try:
        return {**raw, "load": model.model_validate(raw["load"], context=context)}
    except ValidationError as error:
        problems += from_validation(error, model, ("load",))
        return without


def _with_lab(
    raw: dict[str, Any], context: Mapping[str, Any], problems: list[str]
) -> dict[str, Any]:
    """Replace `lab` by the settings of its engine; what is wrong joins `problems`."""
    lab, name = raw.get("lab"), raw.get("database")
    if not isinstance(lab, dict):
        return raw
    spec: LabSpec = LabSpec(engine="unknown")  # there is a lab, whatever else is wrong with it
    if name in plugins.known(plugins.DATABASES):  # or what is wrong is said already
        try:
            spec = _lab(lab, database(str(name)), context)
        except ConfigurationError as error:
            problems += error.problems
    return {**raw, "lab": spec}


def _lab(raw: Mapping[str, Any], of: Database, context: Mapping[str, Any]) -> LabSpec:
    model = of.lab(raw.get("engine")).settings
    try:
        return model.model_validate(raw, context=context)
    except ValidationError as error:
        lab_problems = from_validation(error, model, ("lab",))
        raise ConfigurationError(of_engine(raw["engine"], lab_problems)) from error


def _load_settings(raw: Mapping[str, Any]) -> type[Settings]:
    """Return the class that reads this `load`; `where` may be left out, as for a single host."""
    where, kinds = raw.get("where"), plugins.known(plugins.LOADS)
    if where is not None and where not in kinds:
        raise ConfigurationError(f"load.where: found {where!r}, wanted one of {', '.join(kinds)}")
    reader = plugins.load(plugins.LOADS, where or "ssh", "load from")
    settings: type[Settings] = reader.settings_class(raw)
    return settings


def _with_host(
    node: Any, at: tuple[str, int], context: Mapping[str, Any], problems: list[str]
) -> Any:
    if not isinstance(node, dict) or not isinstance(node.get("host"), dict):
        return node
    place = (*at, "host")
    rest = {key: value for key, value in node.items() if key != "host"}
    try:
        kind = str(node["host"].get("kind", "process"))
        spec: type[HostSpec] = plugins.load(plugins.HOSTS, kind, "host kind").Spec
        return {**rest, "host": spec.model_validate(node["host"], context=context)}
    except ValidationError as error:
        problems += from_validation(error, spec, place)
    except ConfigurationError as error:
        problems.append(f"{at[0]}[{at[1]}].host.kind: {error}")
    return rest
