"""What another tool's output says of a cluster's machines; never a secret of theirs."""

from dataclasses import dataclass

__all__ = ["Imported", "Machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine that a node runs on.

    `address` is where clients and we reach it, `port` that of its sshd. `notes` are in words what
    could not be taken over.
    """

    name: str
    address: str
    port: int = 22
    user: str = ""
    identity_file: str = ""
    sudo: bool = False
    rack: str = ""
    by_ssh: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """A cluster as another tool has it; `source` says which tool and file."""

    name: str
    source: str
    machines: tuple[Machine, ...]
    notes: tuple[str, ...] = ()
