"""Every fault there is, ours and those of other packages: the entry point `brownout.faults`.

An entry names a fault's act and its module: `delay = "brownout.faults.delay"`. Every `Fault` and
`Undo` with a name that the module defines counts.
"""

import logging
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from brownout.base import plugins
from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter, Support
from brownout.databases.scenarios import act_of
from brownout.faults.fault import Action, Fault, Undo
from brownout.inventory.model import Cluster

__all__ = ["actions", "by_act", "faults", "find", "supports", "undo_named", "undos"]
__all__ += ["words"]

logger = logging.getLogger("chaostoolkit")

Kind = TypeVar("Kind", bound=Action)


def find(name: str) -> Action:
    """Return the fault, or else the undo, that is called `name`.

    Raises `ConfigurationError` with the names there are.
    """
    action: Action | None = faults().get(name) or undos().get(name)
    if action is None:
        names = ", ".join(sorted({*faults(), *undos()}))
        raise ConfigurationError(f"fault: found {name!r}, wanted one of {names}")
    return action


def undo_named(name: str) -> Undo | None:
    """Return the undo that events call `name`; None for one that is not installed."""
    return undos().get(name)


def by_act(act: str) -> Fault | None:
    """Return the first fault of an act, as `delay`; None for a need that is not a fault's."""
    return next((fault for fault in faults().values() if fault.act == act), None)


def supports(need: str, cluster: Cluster, adapter: Adapter) -> Support | None:
    """Return whether `cluster` can do a `need` of an experiment: an act, or else a scenario.

    None where that is not known before it is tried.
    """
    act = act_of(need)
    undo = next((undo for undo in undos().values() if undo.act == act), None)
    action = by_act(need) or by_act(act) or undo
    return adapter.supports(need) if action is None else action.supports(cluster, adapter)


def words(name: str) -> str:
    """Return what a node or cluster was, for people: `slowed` of `delay_node`."""
    action = faults().get(name) or undos().get(name)
    return (action.words if action else "") or name.replace("_", " ")


def actions(module: str) -> dict[str, Action]:
    """Return what the module `brownout.actions.<module>` offers, by name."""
    every: dict[str, Action] = {**undos(), **faults()}
    return {name: one for name, one in sorted(every.items()) if one.module == module}


@cache
def faults() -> dict[str, Fault]:
    """Return every fault by its name."""
    return _defined(Fault)  # type: ignore[type-abstract]


@cache
def undos() -> dict[str, Undo]:
    """Return every undo by its name."""
    return _defined(Undo)  # type: ignore[type-abstract]


def _defined(kind: type[Kind]) -> dict[str, Kind]:
    by_name: dict[str, Kind] = {}
    for module in _modules():
        for each in vars(module).values():
            if not isinstance(each, type) or each.__module__ != module.__name__:
                continue
            if issubclass(each, kind) and each.name:
                if each.name in by_name and type(by_name[each.name]) is not each:
                    other = type(by_name[each.name]).__module__
                    raise ConfigurationError(
                        f"{each.__module__} and {other} both define `{each.name}`",
                        "uninstall one of them",
                    )
                by_name[each.name] = each()
    return by_name


@cache
def _modules() -> tuple[ModuleType, ...]:
    """Load every module; one whose own packages are not installed is left out, and said."""
    by_name: dict[str, ModuleType] = {}
    for act in plugins.known(plugins.FAULTS):
        try:
            module: Any = plugins.load(plugins.FAULTS, act, "fault")
        except ConfigurationError as error:
            logger.warning("%s", error)
            continue
        by_name[module.__name__] = module
    return tuple(by_name.values())
