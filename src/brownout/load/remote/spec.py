"""Where a cluster's load comes from, in its inventory: one load host, or a generator on each of
several.

load:
  host: {address: load1.example.com, user: brownout, identity_file: ~/.ssh/brownout}

load:
  where: ssh
  hosts:
    - {address: load1.example.com, user: brownout}
    - {address: load2.example.com, user: brownout}
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from brownout.base.errors import GeneratorError
from brownout.base.settings import AbsolutePath
from brownout.load.place import Place
from brownout.load.where import LoadFrom
from brownout.machine.ssh.spec import Login, RequiredHostName
from brownout.run.parts.paths import part_directories

__all__ = ["LoadHost", "LoadSettings", "SshLoad"]


class LoadHost(Login):
    """The machine that a load generator runs on; the cluster's addresses must lead from there."""

    address: RequiredHostName
    directory: Annotated[
        AbsolutePath | None, Field(description="for the binary and the run; by default ~/.cache")
    ] = None


class LoadSettings(LoadFrom):
    """Where the load comes from; by default the machine that brownout runs on."""

    host: LoadHost | None = None

    @classmethod
    def settings_class(cls, raw: Mapping[str, Any]) -> type[LoadFrom]:
        """Return the class of a single load host, or of several where `raw` says `where: ssh`."""
        return cls if raw.get("where") is None else SshLoad

    @property
    def generators(self) -> int:
        """One, there or here."""
        return 1

    def places(self, directory: Path) -> list[Place]:
        """Return the load host, if there is one."""
        return _places([self.host] if self.host else [], directory)

    def collect_left(self, directory: Path) -> bool:
        """Collect what a run that died left on the load host."""
        return _collect([self.host] if self.host else [], directory)


class SshLoad(LoadFrom):
    """A generator on each of several load hosts, which together drive one load."""

    where: Literal["ssh"]
    hosts: Annotated[
        tuple[LoadHost, ...], Field(min_length=1, description="a generator on each, in this order")
    ]

    @property
    def generators(self) -> int:
        """One on each load host."""
        return len(self.hosts)

    def places(self, directory: Path) -> list[Place]:
        """Return each load host."""
        return _places(self.hosts, directory)

    def collect_left(self, directory: Path) -> bool:
        """Collect what a run that died left on each of them."""
        return _collect(self.hosts, directory)


def _places(hosts: Sequence[LoadHost], directory: Path) -> list[Place]:
    from brownout.load.remote.place import RemotePlace

    parts = part_directories(directory, len(hosts))
    return [RemotePlace(host, part) for host, part in zip(hosts, parts, strict=True)]


def _collect(hosts: Sequence[LoadHost], directory: Path) -> bool:
    from brownout.load.remote.place import recover

    any_recovered, errors = False, []
    for host, part in zip(hosts, part_directories(directory, len(hosts)), strict=True):
        try:
            any_recovered = recover(host, part) or any_recovered
        except GeneratorError as error:  # the others are collected all the same
            errors.append(error)
    if errors:
        raise GeneratorError("; ".join(map(str, errors)))
    return any_recovered
