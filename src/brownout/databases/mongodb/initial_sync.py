"""How far a member is that copies all data from another one. Pure, from its own replSetGetStatus.

    starting ──▶ cloning (every collection) ──▶ applying (what was written meanwhile) ──▶ SECONDARY

It says so itself, and only while it copies; the bytes are the server's own estimate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Copying", "copying"]


@dataclass(frozen=True, slots=True)
class Copying:
    """One look at it. Bytes and `eta_s` are None where the member cannot tell yet.

    `eta_s` takes the rest to go as fast as it went so far; `failed` counts the attempts that did.
    """

    phase: str
    bytes_copied: int
    bytes_total: int | None
    documents_copied: int
    eta_s: float | None
    elapsed_s: float
    failed: int

    @property
    def bytes_left(self) -> int | None:
        """How many bytes are still to be copied."""
        return None if self.bytes_total is None else max(0, self.bytes_total - self.bytes_copied)

    def evidence(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


def copying(status: Mapping[str, Any]) -> Copying | None:
    """Return how far the member is whose replSetGetStatus this is; None if it does not copy."""
    sync = status.get("initialSyncStatus")
    if sync is None:
        return None
    left_ms = sync.get("remainingInitialSyncEstimatedMillis")
    total = sync.get("approxTotalDataSize")
    return Copying(
        phase=_phase(sync.get("databases", {})),
        bytes_copied=int(sync.get("approxTotalBytesCopied", 0)),
        bytes_total=int(total) if total else None,
        documents_copied=sum(_documents(sync.get("databases", {}))),
        eta_s=None if left_ms is None else round(max(0, left_ms) / 1000, 1),
        elapsed_s=round(sync.get("totalInitialSyncElapsedMillis", 0) / 1000, 1),
        failed=int(sync.get("failedInitialSyncAttempts", 0)),
    )


def _phase(databases: Mapping[str, Any]) -> str:
    to_clone, cloned = databases.get("databasesToClone", 0), databases.get("databasesCloned", 0)
    if to_clone:
        return "cloning"
    return "applying" if cloned else "starting"


def _documents(databases: Mapping[str, Any]) -> Iterator[int]:
    """Yield how many documents of each collection of the users were copied."""
    for name, database in databases.items():
        if isinstance(database, Mapping) and name not in ("admin", "config", "local"):
            for collection in database.values():
                if isinstance(collection, Mapping):
                    yield int(collection.get("documentsCopied", 0))
