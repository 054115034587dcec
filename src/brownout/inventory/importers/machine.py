"""What another tool's output says of a cluster's machines; never a secret of theirs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Imported", "Machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine that a node runs on.

    `address` is where clients reach its database, `ssh_address` where its sshd listens (empty:
    there as well) and `port` the sshd's. `database_port` is 0 where it is the usual one. `host` are
    the settings of what is not a machine with an sshd, `api` where a node's supervisor listens
    if that is not as ever. `notes` say in words what could not be
    taken over, and what was guessed.
    """

    name: str
    address: str
    ssh_address: str = ""
    port: int = 22
    user: str = ""
    identity_file: str = ""
    sudo: bool = False
    rack: str = ""
    shard: str = ""
    api: str = ""
    by_ssh: bool = True
    database_port: int = 0
    host: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """A cluster as another tool has it; `source` says which tool and file.

    `connection` are settings of it that are known from there. `notes` are of the whole cluster.
    """

    name: str
    source: str
    machines: tuple[Machine, ...]
    connection: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
