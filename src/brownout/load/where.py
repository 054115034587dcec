"""Where the load of a cluster is driven from: here, or from what its inventory names under `load`.

    load: {host: {address: load1.example.com}}                     one load host
    load: {where: ssh, hosts: [{address: …}, {address: …}]}        a generator on each of them
    load: {where: kubernetes, hosts: 4, …}                         as many pods
    load: {auth: {username: …, password: …}}                       from here, as another user

What each kind needs to be read and driven stands with it; only an inventory that names it needs
what it needs.
"""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.inventory.connection import LoadLogin
from brownout.inventory.model import Cluster
from brownout.load.place import Here, Place

__all__ = ["LoadFrom", "collect_left", "generators_of", "places_for"]


class LoadFrom(LoadLogin):
    """The settings under `load` of one kind, which know the places that they name.

    A kind is registered under the entry points `brownout.loads`, by what `where` says.
    """

    @classmethod
    def settings_class(cls, raw: Mapping[str, Any]) -> "type[LoadFrom]":
        """Return the class that reads `raw`, what stands under `load`."""
        return cls

    @property
    @abstractmethod
    def generators(self) -> int:
        """How many generators there are; 1 also where the load is driven from here."""

    @abstractmethod
    def places(self, directory: Path) -> list[Place]:
        """Return the place of each generator of the run `directory`; one that is alone has its
        files in it, of several each in its own of `part_directories`."""

    @abstractmethod
    def collect_left(self, directory: Path) -> bool:
        """End and fetch what a run that died left there; return whether there was any."""


def generators_of(cluster: Cluster | None) -> int:
    """Return how many generators drive the load of a cluster."""
    load = cluster.load if cluster is not None else None
    return load.generators if isinstance(load, LoadFrom) else 1


def places_for(cluster: Cluster, directory: Path) -> list[Place]:
    """Return the place of each generator of the run `directory`; at least one."""
    named = cluster.load.places(directory) if isinstance(cluster.load, LoadFrom) else []
    return named or [Here()]


def collect_left(cluster: Cluster, directory: Path) -> bool:
    """End and fetch what a run that died left where its load came from; whether there was any."""
    return isinstance(cluster.load, LoadFrom) and cluster.load.collect_left(directory)
