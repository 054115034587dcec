"""What `chaos discover brownout` lists: every function in `__all__` of actions and probes."""

import logging
import pkgutil
from importlib import import_module
from importlib.metadata import metadata, version

from chaoslib.discovery.discover import (
    discover_actions,
    discover_probes,
    initialize_discovery_result,
)
from chaoslib.types import DiscoveredActivities, Discovery

__all__ = ["activities", "discover"]

logger = logging.getLogger("chaostoolkit")


def discover(discover_system: bool = True) -> Discovery:
    """Return the activities of this package; `discover_system` is part of Chaos Toolkit's call."""
    found = initialize_discovery_result("brownout", version("brownout"), "database")
    found["activities"].extend(activities())
    return found


def activities() -> list[DiscoveredActivities]:
    """Find every activity by walking the packages: nothing is listed by hand.

    A module whose own packages are not installed is left out, and a warning says what it needs.
    """
    listed: list[DiscoveredActivities] = []
    for package, finder in (("actions", discover_actions), ("probes", discover_probes)):
        parent = import_module(f"brownout.{package}")
        for module in pkgutil.iter_modules(parent.__path__, f"{parent.__name__}."):
            if (lacking := _lacking(module.name)) is None:
                listed.extend(finder(module.name))
            else:
                logger.warning(lacking)
    return listed


def _lacking(module: str) -> str | None:
    """Say what a module of activities needs that is not installed; None if it is all there."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "brownout":
            raise
        extra = module.rpartition(".")[2]
        extras = metadata("brownout").get_all("Provides-Extra") or []
        mend = f"'brownout[{extra}]'" if extra in extras else error.name
        return (
            f"{module} is left out: it needs the package `{error.name}`, which is not installed; "
            f"pip install {mend}"
        )
    return None
