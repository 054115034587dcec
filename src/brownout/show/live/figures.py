"""The load's figures for the board, from a series that is still growing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from brownout.show.live.board import Figures

if TYPE_CHECKING:
    from brownout.run.table import Series

__all__ = ["figures_of"]

#: More than fits a wide terminal, so that the panel may choose.
MOST_SECONDS = 400


def figures_of(
    series: "Series",
    causes: Mapping[str, int],
    percentiles_ms: tuple[float | None, float | None] = (None, None),
) -> Figures | None:
    """Return the figures of what has come so far; None before the first whole second."""
    import numpy as np

    from brownout.run.table import BUCKETS_PER_S

    done = series.completion
    seconds = len(done) // BUCKETS_PER_S
    if not seconds:
        return None
    first = max(0, seconds - MOST_SECONDS)
    window = slice(first * BUCKETS_PER_S, seconds * BUCKETS_PER_S)
    ok = done.total("total", "ok")
    errors = done.total("total", "late", "failed", "in_doubt", "shed")
    slowest = np.asarray(done.columns["max_us"])[window].max(axis=1) / 1000
    return Figures(
        t=done.end,
        first_s=first,
        ok_per_s=tuple(ok[window].reshape(-1, BUCKETS_PER_S).sum(axis=1).tolist()),
        slowest_ms=tuple(slowest.reshape(-1, BUCKETS_PER_S).max(axis=1).tolist()),
        tps=float(ok[-BUCKETS_PER_S:].sum()),
        pending=int(done.total("total", "pending")[-1]),
        errors=int(errors.sum()),
        causes=dict(sorted(causes.items(), key=lambda item: -item[1])),
        p50_ms=percentiles_ms[0],
        p99_ms=percentiles_ms[1],
    )
