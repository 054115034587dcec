"""The database driver that made the load: it decides how soon a client is served again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Driver", "driver_of"]

#: What drivers call how they retry, how soon they see a changed topology, and when they give up.
_SETTINGS = (
    "sleep_between_retries_ms",
    "sleep_multiplier",
    "heartbeat_ms",
    "server_monitoring_mode",
    "server_selection_timeout_ms",
    "tend_interval_ms",
    "max_error_rate",
    "error_rate_window",
    "connect_timeout_ms",
    "answer_grace_ms",
)


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver with its `version`, as the load generator names it; None where it did not say.

    `retries` has in words what the driver itself repeats, by stream. `settings` has what else
    decides how soon it is served after a failover, under the driver's own names.
    """

    name: str
    version: str | None
    retries: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def words(self) -> str:
        """Name and version, as far as it is known."""
        return self.name if self.version is None else f"{self.name} {self.version}"


def driver_of(generator: Mapping[str, Any]) -> Driver | None:
    """Return the driver that a `generator.json` names; None where it names none."""
    kind, settings = generator.get("driver"), generator.get("driver_settings") or {}
    if not kind:
        return None
    name, _, version = str(settings.get("client") or kind).partition(" ")
    retries = settings.get("driver_retries")
    return Driver(
        name=name,
        version=version or None,
        retries={str(k): str(v) for k, v in retries.items()} if isinstance(retries, dict) else {},
        settings={name: settings[name] for name in _SETTINGS if name in settings},
    )
