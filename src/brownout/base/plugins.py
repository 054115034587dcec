"""Finding databases, hosts, loads, faults and measures by entry points of any package."""

from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.base.extras import how_to_install

__all__ = ["DATABASES", "FAULTS", "HOSTS", "LOADS", "MEASURES", "known", "load", "unavailable"]

#: The entry points of databases, of what nodes run on, of where load comes from, of faults, and of
#: measures.
DATABASES, HOSTS = "brownout.databases", "brownout.hosts"
LOADS, FAULTS, MEASURES = "brownout.loads", "brownout.faults", "brownout.measures"


@cache
def _registered(group: str) -> EntryPoints:
    """Return what is registered; to find it a file of each installed package is read."""
    return entry_points(group=group)


def known(group: str) -> list[str]:
    """Return the names that are registered under `group`, e.g. `["process", "ssh"]`."""
    return sorted({entry.name for entry in _registered(group)})


def unavailable(group: str, what: str) -> dict[str, ConfigurationError]:
    """Return what is registered under `group` and cannot be loaded, each with what it needs."""
    problems = {}
    for name in known(group):
        try:
            load(group, name, what)
        except ConfigurationError as error:
            problems[name] = error
    return problems


def load(group: str, name: str, what: str) -> Any:
    """Return what is registered as `name` under `group`; `what` says what that is in messages.

    Raises `ConfigurationError` if there is none, or if a package that it needs is missing.
    """
    for entry in _registered(group).select(name=name):
        try:
            return entry.load()
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"{what} `{name}` needs the package `{error.name}`, which is not installed",
                how_to_install(name),
            ) from error
    wanted = ", ".join(known(group)) or "none is installed"
    raise ConfigurationError(f"unknown {what} `{name}`, wanted one of: {wanted}")
