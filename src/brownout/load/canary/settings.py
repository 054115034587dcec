"""Which canary a run has: what the inventory says, and over it what the experiment says."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings_file import apply_overrides, parse_overrides
from brownout.databases.canary import canary_kind
from brownout.inventory.canary import CanarySpec
from brownout.inventory.model import Cluster

__all__ = ["canary_of"]


def canary_of(wanted: Any, cluster: Cluster) -> CanarySpec | None:
    """Return the canary that a run on `cluster` has, or None.

    `wanted` is the experiment's variable: empty for what the inventory says, `true` or `false`, a
    mapping, or `rate=5,policies.retryWrites=false` to change single settings. Raises
    `ConfigurationError` for an unknown setting, of ours or of the client.
    """
    text = str(wanted).strip().lower() if not isinstance(wanted, Mapping) else "mapping"
    if text in ("false", "no", "off") or (text in ("", "none") and cluster.canary is None):
        return None
    spec = cluster.canary or CanarySpec()
    if text not in ("", "none", "true", "yes", "on"):
        spec = _changed(spec, wanted)
    canary_kind(cluster.database).check(spec.policies)
    return spec


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
            problems, "give true, false, or settings as rate=5,policies.retryWrites=false"
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
