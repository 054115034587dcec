"""What one member holds, by its own fast counts; while it copies all data, how far it is."""

from brownout.base.errors import ClusterError
from brownout.databases.mongodb.initial_sync import Copying, copying
from brownout.databases.mongodb.link import Link
from brownout.databases.mongodb.milestones import MAX_LAG_S
from brownout.databases.mongodb.view import View
from brownout.run.balance import Holding

__all__ = ["holding"]

#: What MongoDB keeps for itself.
_OWN = frozenset({"admin", "config", "local"})


def holding(link: Link, view: View, lag_s: float | None) -> Holding | None:
    """Return what the member of this view holds; None if it does not say.

    The counts are the databases' statistics: after a crash they may be off a little.
    """
    progress = copying(view.status)
    if progress is not None:
        return _so_far(progress)
    try:
        databases = link.ask("listDatabases", nameOnly=True)["databases"]
        names = [name for database in databases if (name := database["name"]) not in _OWN]
        stats = [link.ask("dbStats", database=name) for name in names]
    except ClusterError:
        return None
    return Holding(
        records=sum(int(one["objects"]) for one in stats),
        bytes=sum(int(one["dataSize"]) for one in stats),
        to_move=0 if _is_level(view, lag_s) else None,
    )


def _so_far(progress: Copying) -> Holding:
    documents = progress.documents_copied
    return Holding(documents, progress.bytes_copied, progress.bytes_left, received=documents)


def _is_level(view: View, lag_s: float | None) -> bool:
    """Whether it has what the primary has, as `redundant` means it."""
    return view.serves and lag_s is not None and lag_s <= MAX_LAG_S + view.delay_s
