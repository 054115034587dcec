"""What another tool's output says of a cluster's machines; never a secret of theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Imported", "Machine", "with_routers"]


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine that a node runs on.

    `address` is where clients reach its database, `ssh_address` where its sshd listens (empty:
    there as well) and `port` the sshd's. `database_port` is 0 where it is the usual one. `host` are
    the settings of what is not a machine with an sshd, `api` where a node's supervisor listens
    if that is not as ever, `bastion` those of the machine that the login leads through. `notes` say
    in words what could not be taken over, and what was guessed.
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
    bastion: Mapping[str, Any] = field(default_factory=dict)
    by_ssh: bool = True
    database_port: int = 0
    host: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """A cluster as another tool has it; `source` says which tool and file.

    `connection` are settings of it that are known from there, `settings` those of the inventory
    itself. `notes` are of the whole cluster.
    """

    name: str
    source: str
    machines: tuple[Machine, ...]
    connection: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def with_routers(imported: Imported, routers: Sequence[str]) -> Imported:
    """Return it with the routers to its shards, if its machines have some.

    An inventory has shards only with their routers. Without them each shard becomes a note.
    """
    if not any(one.shard for one in imported.machines):
        return imported
    if routers:
        return replace(imported, connection={"hosts": list(routers)})
    machines = [
        replace(one, shard="", notes=(f"its shard is `{one.shard}`", *one.notes))
        if one.shard
        else one
        for one in imported.machines
    ]
    note = (
        "These are shards: then give each node its `shard` and name the routers in "
        "`connection.hosts`; docs/clusters.md#sharded-clusters."
    )
    return replace(imported, machines=tuple(machines), connection={}, notes=(*imported.notes, note))
