"""The canary of a run: a stream of the workload that a client of the database does.

The inventory says which one there is, and the experiment changes or removes it. It is a stream
with a client like any other, so its lane, measures, limits and ledger are those of docs/client.md.
"""

import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings_file import apply_overrides, parse_overrides
from brownout.inventory.canary import CanarySpec
from brownout.inventory.database import database, databases
from brownout.inventory.model import Cluster
from brownout.load.place import Here
from brownout.load.where import places_for
from brownout.load.workload import Workload, parse

__all__ = ["NAME", "with_canary"]

#: What its stream is called.
NAME = "canary"


def with_canary(workload: Workload, wanted: Any, cluster: Cluster) -> Workload:
    """Return the workload with the stream of the canary that a run on `cluster` has, if any.

    `wanted` is the experiment's variable: empty for what the inventory says, `true` or `false`, a
    mapping, or `rate=5,options.retryWrites=true` to change single settings. Raises
    `ConfigurationError` for an unknown setting, and for a database without a ready client.
    """
    spec = _spec_of(wanted, cluster)
    if spec is None:
        return workload
    stream = {
        "name": NAME,
        "mix": {"read": 50, "update": 50},
        "rate": 2 * spec.rate,
        "deadline_s": spec.deadline_s,
        "verified": True,
        # A key whose write is in doubt is locked for two deadlines; half as much again is free.
        "ledger_keys": max(64, round(3 * spec.rate * spec.deadline_s)),
        "client": {"command": list(spec.command or _ready(cluster)), "options": spec.options},
    }
    data = workload.model_dump(mode="json", exclude_unset=True)
    changed = parse({**data, "streams": [*data["streams"], stream]}, "with the canary")
    changed._name = workload.name
    return changed


def _spec_of(wanted: Any, cluster: Cluster) -> CanarySpec | None:
    text = str(wanted).strip().lower() if not isinstance(wanted, Mapping) else "mapping"
    if text in ("false", "no", "off") or (text in ("", "none") and cluster.canary is None):
        return None
    spec = cluster.canary or CanarySpec()
    return spec if text in ("", "none", "true", "yes", "on") else _changed(spec, wanted)


def _ready(cluster: Cluster) -> list[str]:
    """Return how the ready client of the database is started on this machine."""
    file = "" if cluster.sentinel is not None else database(cluster.database).canary
    if not file:
        ready = ", ".join(name for name, each in databases().items() if each.canary)
        raise ConfigurationError(
            f"canary: found no ready client for {cluster.limits_name}, wanted `command`, or a "
            f"database that has one: {ready or 'none'}",
            "run without it: `--set canary=false`, with `chaos run` `--var`",
        )
    if not all(isinstance(place, Here) for place in places_for(cluster, Path())):
        raise ConfigurationError(
            "canary: the load comes from other machines, on which the ready client of this one is "
            "not; wanted `command`, which starts a client there",
            "copy it and its packages there (docs/client.md), or run with `--set canary=false`",
        )
    return [sys.executable, str(files("brownout").joinpath("infra", "clients", file))]


def _changed(inventory: CanarySpec, wanted: Any) -> CanarySpec:
    """Return the inventory's canary with the experiment's settings over it."""
    try:
        if isinstance(wanted, Mapping):
            changes = dict(_leaves(wanted))
        else:
            changes = parse_overrides(str(wanted))
        data = apply_overrides(inventory.model_dump(), changes)
    except ConfigurationError as error:
        problems = [f"configuration.canary: {problem}" for problem in error.problems]
        raise ConfigurationError(
            problems, "give true, false, or settings as rate=5,options.retryWrites=true"
        ) from error
    try:
        return CanarySpec.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(
            from_validation(error, CanarySpec, ("configuration", "canary"))
        ) from error


def _leaves(mapping: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """Return each single setting of a mapping by its dotted path."""
    pairs: list[tuple[str, Any]] = []
    for name, value in mapping.items():
        where = f"{path}{name}"
        pairs += _leaves(value, f"{where}.") if isinstance(value, Mapping) else [(where, value)]
    return pairs
