"""Wait until every record has all its copies, where going on without would lose some."""

import time
from collections.abc import Callable

from brownout.cluster.adapter import Adapter
from brownout.errors import ClusterError

__all__ = ["await_redundancy", "lacks_of"]

WITHIN_S = 300.0
_POLL_S = 0.5


def await_redundancy(
    lacks: Callable[[], list[str]], otherwise: str, within_s: float = WITHIN_S
) -> None:
    """Wait until nothing is lacked any more.

    Raises `ClusterError` that begins with what is so `otherwise`, and says what is wanted.
    """
    deadline = time.monotonic() + within_s
    while missing := lacks():
        if time.monotonic() > deadline:
            raise ClusterError(
                f"{otherwise}: the cluster is not redundant after {within_s:.0f} s: "
                + "; ".join(missing),
                "see why, then heal again",
            )
        time.sleep(_POLL_S)


def lacks_of(adapter: Adapter) -> list[str]:
    """Return in words what a cluster lacks to be redundant; a silent one lacks an answer."""
    try:
        state = adapter.stable("redundant")
    except ClusterError as error:
        return [str(error)]
    lacks = [str(words) for words in state.detail.get("missing", [])]
    return [] if state.reached else lacks or ["it does not say why"]
