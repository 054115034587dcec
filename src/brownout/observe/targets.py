"""Where running runs show their metrics: one file a run, for Prometheus's `file_sd_configs`.

<state>/targets/<run>.json    [{"targets": ["127.0.0.1:41234"], "labels": {"__brownout_pid": …}}]

Prometheus drops labels that begin with two underscores; they tell which process a file is of.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import HostError
from brownout.base.files import SHARED, private_directory, replace_file
from brownout.faults.open_runs import state_home
from brownout.machine import procfs

__all__ = ["Target", "directory", "register", "running", "unregister"]


@dataclass(frozen=True, slots=True)
class Target:
    """A run in progress, and the address at which it shows its metrics."""

    run: str
    address: str


def directory() -> Path:
    """Return where the files lie; made if it is missing."""
    private_directory(state_home())
    place = state_home() / "targets"
    place.mkdir(exist_ok=True)  # of addresses only: a Prometheus of another user may read it
    return place


def register(run: str, address: str, pid: int) -> None:
    """Say where `run` of process `pid` is to be scraped, and forget what dead runs left."""
    for _ in running():  # forgets on its way
        pass
    me = procfs.identify(pid)
    labels = {"__brownout_pid": str(pid), "__brownout_started": str(me.started if me else 0)}
    path = directory() / f"{run}.json"
    # Prometheus reads whole files only, and only those whose name ends in `.json`.
    replace_file(path, json.dumps([{"targets": [address], "labels": labels}]), SHARED)


def unregister(run: str) -> None:
    """Forget `run`; Prometheus then ends its series at once."""
    (directory() / f"{run}.json").unlink(missing_ok=True)


def running() -> Iterator[Target]:
    """Yield the runs in progress; the files of dead ones are removed."""
    for path in sorted(directory().glob("*.json")):
        try:
            ((group,),) = (json.loads(path.read_text(encoding="utf-8")),)
            labels, (address,) = group["labels"], group["targets"]
            process = procfs.identify(int(labels["__brownout_pid"]))
            alive = process is not None and str(process.started) == labels["__brownout_started"]
        except (OSError, HostError):  # it may be alive, and is listed when it can be looked at
            continue
        except (ValueError, KeyError, TypeError):
            alive = False
        if alive:
            yield Target(path.stem, str(address))
        else:
            with suppress(OSError):
                path.unlink()
