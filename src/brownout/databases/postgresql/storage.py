"""Where a member keeps its data, by Patroni's configuration, and whether it may be emptied.

Its write-ahead log and its tablespaces may lie elsewhere; links in the data directory lead there.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError, Refused
from brownout.databases.places import Unnamed, check_storage
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["check_contents", "check_named", "directory", "is_data", "linked"]

#: What initdb and a base backup leave in a data directory, and where other ones are linked.
_MARK, _LOG, _SPACES = "PG_VERSION", "pg_wal", "pg_tblspc"
#: What is in a tablespace (`PG_16_202307071`), and in a write-ahead log.
_OF_SPACES = re.compile(r"PG_\d+_\d+")
_OF_LOGS = re.compile(r"[0-9A-F]{8,24}(\..*)?|archive_status|summaries|xlogtemp\..*")
#: A file of a database or a tablespace, of the whole cluster, or of the log; a folder of a user's
#: may be called `base` or `global` too. Source: PostgreSQL's manual, "Database File Layout".
_DATA = re.compile(
    rf"/(?:base|{_OF_SPACES.pattern})/(?:\d+|pgsql_tmp)/(?:t?\d|pg_|pgsql_tmp|PG_)[^/]*$"
    rf"|/global/(?:\d|pg_)[^/]*$|/{_LOG}/"
)
#: What Patroni itself may have made there before a base backup was complete.
_HALF_MADE = frozenset(
    {"backup_label", "backup_manifest", "base", "pg_wal", "patroni.dynamic.json"}
)


def directory(node: Node, settings: Mapping[str, Any]) -> Path:
    """Return the node's data directory; `Unnamed` where the configuration does not say it."""
    named = str((settings.get("postgresql") or {}).get("data_dir") or "")
    if not Path(named).is_absolute():
        raise Unnamed(
            f"node `{node.name}`: its data directory is not known: its configuration has "
            f"`postgresql.data_dir` {named!r}, wanted an absolute path"
        )
    return Path(named)


def check_named(node: Node, place: Path) -> None:
    """Refuse where the inventory's `server_directory` is another one."""
    named = getattr(node.host, "server_directory", None)
    if named is not None and named != place:
        raise Refused(
            f"node `{node.name}`: the inventory has `host.server_directory` `{named}`, Patroni's "
            f"configuration `postgresql.data_dir` `{place}`",
            "correct the one that is wrong",
        )


def linked(host: Host, data: Path) -> list[Path]:
    """Return where the write-ahead log and the tablespaces lie that are not in the data directory.

    They are emptied before it, so that their links are there until nothing is in them: a base
    backup does not begin where one of them is not empty.
    """
    try:
        names = host.entries(data)
        spaces = host.entries(data / _SPACES) if _SPACES in names else []
    except HostError:
        return []
    links = [data / _LOG] if _LOG in names else []
    links += [data / _SPACES / space for space in spaces]
    own, *real = host.resolved([data, *links])
    return sorted({path for path in real if not path.is_relative_to(own)})


def is_data(file: Path) -> bool:
    """Whether a file that a member has open is one of its data, by where it lies."""
    return _DATA.search(str(file)) is not None


def check_contents(node: Node, host: Host, place: Path) -> None:
    """Refuse what does not look like PostgreSQL's data, its log or a tablespace of its."""
    check_storage(node, host, place, "PostgreSQL's", _is_ours)


def _is_ours(names: list[str]) -> bool:
    if any(all(map(pattern.fullmatch, names)) for pattern in (_OF_SPACES, _OF_LOGS)):
        return True
    return _MARK in names or bool(_HALF_MADE & set(names))
