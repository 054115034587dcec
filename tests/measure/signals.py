"""Small series for tests, from plain lists of counts a bucket of 0.1 s."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from brownout.measure.level import Level
from brownout.measure.signal import Signal
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Series, Table, frozen

__all__ = ["flat_level", "make_series", "make_signal"]

KEYS = (("app", "read"), ("app", "update"))


def make_series(
    offered: Sequence[int], ok: Sequence[int], *, closed: bool = False, **columns: Sequence[int]
) -> Series:
    """Return a series of one stream whose operations end at once; what is not ok has failed.

    The counts are those of its updates; there are no reads. `columns` replace others by
    completion, e.g. `shed=[…]`.
    """
    lacking = [a - b for a, b in zip(offered, ok, strict=True)]
    counts: dict[str, Any] = {"offered": offered, "ok": ok, "failed": lacking, **columns}

    def table(names: Sequence[str]) -> Table:
        nothing = [0] * len(ok)
        columns = {
            name: np.stack([nothing, counts.get(name, nothing)], axis=1).astype(np.int64)
            for name in names
        }
        return Table(KEYS, frozen(columns))

    return Series(
        table(SERIES_COLUMNS), table(OUTCOME_COLUMNS), frozenset({"app"} if closed else ())
    )


def make_signal(
    ok: Sequence[int], offered: Sequence[int] | None = None, *, closed: bool = False, **more: Any
) -> Signal:
    """Return a scope's arrays; without `offered` it is a closed loop."""
    done = np.asarray(ok, np.int64)
    born = done if offered is None else np.asarray(offered, np.int64)
    nothing = np.zeros(len(done), np.int64)
    arrays = {
        "offered": born, "ok": done, "errors": born - done, "shed": nothing, "missed": nothing,
        "pending": nothing, "born": born, "served": done,
    }  # fmt: skip
    given: dict[str, Any] = {name: np.asarray(n, np.int64) for name, n in more.items()}
    return Signal(
        scope="total", open_loop=offered is not None and not closed, **{**arrays, **given}
    )


def flat_level(tps: float = 100.0, **more: float) -> Level:
    """Return a level without noise."""
    values = {
        "start": 0.0, "end": 10.0, "sigma": 0.0, "theta": 0.05, "theta_bucket": 0.05,
        "deepest": 0.0, "error_ratio": 0.0,
    }  # fmt: skip
    return Level(tps=tps, **{**values, **more})
