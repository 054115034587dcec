"""What of a lab is on disk: one directory a lab, with a note of what it is, and a lock.

    <root>/NAME.lock
    <root>/NAME/lab.json         what it is and how far it got
    <root>/NAME/inventory.yaml   the cluster, as every other part reads it
    <root>/NAME/ports.json       the ports that are its own as long as it is there
    <root>/NAME/n1/…             one directory a member

The note is written before the first process starts, so that whatever ends `up` half-way, the next
command knows what to clean.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import yaml

from brownout.base.errors import ClusterError
from brownout.base.files import SHARED, replace_file, user_state
from brownout.base.locks import Held, Lock
from brownout.inventory.model import Cluster

__all__ = ["INVENTORY", "Note", "Phase", "directory", "forget", "locked", "read", "root"]
__all__ += ["running_inventory", "write", "write_inventory"]

Phase = Literal["starting", "running"]
#: The name of the file of a lab's inventory, in its directory.
INVENTORY = "inventory.yaml"
_PASSWORD = "tls/password"
_NOTE = "lab.json"
_LOCK_TIMEOUT_S = 180.0


@dataclass(frozen=True, slots=True)
class Note:
    """What `lab.json` says. `boot_id` is the kernel's: after a reboot nothing of it runs."""

    name: str
    engine: str
    phase: Phase
    boot_id: str
    created: str
    version: int = 1


def root() -> Path:
    """Return the directory of all labs: BROWNOUT_LAB_DIR, else one under the XDG state home."""
    given = os.environ.get("BROWNOUT_LAB_DIR")
    if given:
        return Path(given).expanduser().absolute()
    return user_state() / "lab"


def directory(name: str) -> Path:
    """Return the directory of the lab called `name`, whether or not it exists."""
    return root() / name


def read(name: str) -> Note | None:
    """Return the note of a lab; None if there is no lab or its note cannot be read."""
    try:
        data = json.loads((directory(name) / _NOTE).read_text(encoding="utf-8"))
        return Note(**data)
    except (OSError, ValueError, TypeError):
        return None


def write(name: str, engine: str, phase: Phase) -> Note:
    """Write the note of a lab, all of it or nothing."""
    note = Note(name, engine, phase, boot_id(), datetime.now(UTC).isoformat(timespec="seconds"))
    path = directory(name) / _NOTE
    replace_file(path, json.dumps(asdict(note), indent=2) + "\n", SHARED)
    return note


def write_inventory(cluster: Cluster, login: Mapping[str, Any] | None = None) -> Path:
    """Write the lab's inventory, which holds no secret, and return its path.

    `login` is by reference how a lab that rehearses Atlas is asked. A password of the database is
    in the lab's file `tls/password`.

    Who looks at its runs, and with which login, stays in the inventory that declares the lab.
    """
    path = directory(cluster.name) / INVENTORY
    data = cluster.model_dump(mode="json", exclude_defaults=True, exclude={"observe"})
    dumps = [*data.get("nodes", []), *data.get("spares", [])]
    for node, dumped in zip(cluster.every, dumps, strict=True):
        if node.host is not None:
            dumped["host"]["kind"] = node.host.kind
    if cluster.connection.auth is not None and cluster.connection.auth.password is not None:
        data["connection"]["auth"]["password"] = {"file": _PASSWORD}
    if login is not None:
        data["atlas"]["service_account"] = login
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def inventory_path(name: str) -> Path | None:
    """Return the inventory of a lab in whatever condition; None if it got none."""
    path = directory(name) / INVENTORY
    return path if path.is_file() else None


def running_inventory(name: str) -> Path | None:
    """Return the inventory of a lab that was brought up since the machine booted, else None."""
    note = read(name)
    if note is None or note.phase != "running" or note.boot_id != boot_id():
        return None
    return inventory_path(name)


def forget(name: str) -> None:
    """Remove a lab's directory. Its processes must be gone."""
    path = directory(name)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


def boot_id() -> str:
    """Return the kernel's id of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


@contextmanager
def locked(name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lab's lock, so that only one process changes it; `waiting` is called if it must.

    The kernel releases it when its holder dies, however it does.
    """
    root().mkdir(parents=True, exist_ok=True)
    lock = Lock(root() / f"{name}.lock")
    try:
        lock.take(_LOCK_TIMEOUT_S, waiting)
    except Held as error:
        raise ClusterError(
            f"the lab {name} has been locked for {_LOCK_TIMEOUT_S:g} s by another brownout, "
            f"{error.holder}, which changes it",
            "let it end or stop it",
        ) from error
    try:
        yield
    finally:
        lock.release(remove=not directory(name).exists())
