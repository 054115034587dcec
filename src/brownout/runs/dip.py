"""The dip of one run as a line: what it served, of its own baseline, from its fault's effect on."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from brownout.base.errors import BrownoutError
from brownout.measure.signal import trailing_rate
from brownout.run.series import read_series
from brownout.runs.run_set import FinishedRun

__all__ = ["share_of_baseline"]

Floats = npt.NDArray[np.float64]
BEFORE_S = 30.0


def share_of_baseline(run: FinishedRun) -> tuple[Floats, Floats] | None:
    """Return seconds since the fault's effect, from -30 on, and per cent of the baseline's rate.

    It is what ended well in the last second. None where no fault took effect, where there is no
    baseline, or where only the impact of the run was kept.
    """
    effects = [f.effective for f in run.impact.faults if f.effective is not None]
    level = run.impact.baseline.tps
    served = _served(run.path) if effects and level else None
    if served is None or not level:
        return None
    t = np.arange(len(served)) / 10 + 0.1 - min(effects)
    kept = t >= -BEFORE_S
    return t[kept], (100 * trailing_rate(served) / level)[kept]


def _served(path: Path) -> npt.NDArray[np.int64] | None:
    try:
        return np.asarray(read_series(path).completion.total("total", "ok"), dtype=np.int64)
    except BrownoutError:
        return None
