"""What `chaos discover brownout` lists: every function in `__all__` of actions and probes."""

import pkgutil
from importlib import import_module
from importlib.metadata import version

from chaoslib.discovery.discover import (
    discover_actions,
    discover_probes,
    initialize_discovery_result,
)
from chaoslib.types import DiscoveredActivities, Discovery

__all__ = ["activities", "discover"]


def discover(discover_system: bool = True) -> Discovery:
    """Return the activities of this package; `discover_system` is part of Chaos Toolkit's call."""
    discovery = initialize_discovery_result("brownout", version("brownout"), "database")
    discovery["activities"].extend(activities())
    return discovery


def activities() -> list[DiscoveredActivities]:
    """Find every activity by walking the packages: nothing is listed by hand.

    No module of activities imports what only an extra installs, so all are listed everywhere.
    """
    listed: list[DiscoveredActivities] = []
    for package, finder in (("actions", discover_actions), ("probes", discover_probes)):
        parent = import_module(f"brownout.{package}")
        for module in pkgutil.iter_modules(parent.__path__, f"{parent.__name__}."):
            listed.extend(finder(module.name))
    return listed
