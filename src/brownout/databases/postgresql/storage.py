"""Where a member keeps its data, by Patroni's configuration, and whether it may be emptied."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["check_contents", "check_named", "directory"]

#: What initdb and a base backup leave in a data directory, and where other ones are linked.
_MARK, _ELSEWHERE = "PG_VERSION", "pg_tblspc"
#: What Patroni itself may have made there before a base backup was complete.
_HALF_MADE = frozenset(
    {"backup_label", "backup_manifest", "base", "pg_wal", "patroni.dynamic.json"}
)


def directory(node: Node, settings: Mapping[str, Any]) -> Path:
    """Return the node's data directory; `Refused` where the configuration does not say it."""
    named = str((settings.get("postgresql") or {}).get("data_dir") or "")
    if not Path(named).is_absolute():
        raise Refused(
            f"node `{node.name}`: its data directory is not known: its configuration has "
            f"`postgresql.data_dir` {named!r}, wanted an absolute path"
        )
    return Path(named)


def check_named(node: Node, found: Path) -> None:
    """Refuse where the inventory's `server_directory` is another one."""
    named = getattr(node.host, "server_directory", None)
    if named is not None and named != found:
        raise Refused(
            f"node `{node.name}`: the inventory has `host.server_directory` `{named}`, Patroni's "
            f"configuration `postgresql.data_dir` `{found}`",
            "correct the one that is wrong",
        )


def check_contents(node: Node, host: Host, found: Path) -> None:
    """Refuse what does not look like PostgreSQL's data, or has parts that would stay.

    A base backup does not begin where a tablespace's directory is not empty.
    """
    try:
        names = host.entries(found)
        elsewhere = host.entries(found / _ELSEWHERE) if _ELSEWHERE in names else []
    except HostError as error:
        raise Refused(
            f"node `{node.name}`: its data directory is not known: {error.message}"
        ) from error
    if names and _MARK not in names and not _HALF_MADE & set(names):
        raise Refused(
            f"node `{node.name}`: `{found}` does not look like PostgreSQL's storage: it holds "
            f"{', '.join(sorted(names)[:5])}"
        )
    if elsewhere:
        raise Refused(
            f"node `{node.name}`: it has {len(elsewhere)} tablespaces outside of `{found}`, which "
            "would stay, and stand in the way of the new copy"
        )
