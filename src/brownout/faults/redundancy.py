"""Wait until every record has all its copies, where to continue without would lose some."""

from collections.abc import Callable

from brownout.base.errors import ClusterError
from brownout.databases import milestones

__all__ = ["await_redundancy"]

WITHIN_S = 300.0


def await_redundancy(
    look: Callable[[], list[str]], otherwise: str, within_s: float = WITHIN_S
) -> None:
    """Wait until `look` finds nothing missing any more.

    Raises `ClusterError` that begins with what is so `otherwise`, and says what is wanted.
    """
    missing = milestones.await_nothing(look, within_s)
    if missing:
        raise ClusterError(
            f"{otherwise}: the cluster is not redundant after {within_s:.0f} s: "
            + "; ".join(missing),
            "see why, then heal again",
        )
