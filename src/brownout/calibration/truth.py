"""What the scripted server says it did: its truth file, and what follows from that alone.

Nothing here knows of buckets, baselines or dips as `brownout.measure` does: the server counts what
it answered in ticks of 20 ms, and says of each effect from when to when it was on and how many
operations it hit of those it saw.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from brownout.base.errors import RunDirectoryError

__all__ = ["Loss", "Truth", "read_truth"]

Floats = npt.NDArray[np.float64]
#: Two losses with no more than this between them are one.
_TOUCH_S = 1e-6
#: How often a mean of 1 s is taken.
_STEP_S = 0.1


@dataclass(frozen=True, slots=True)
class Loss:
    """From `start` to `end`, in seconds since the schedule's start, `share` was not served."""

    start: float
    end: float
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """One run, as the server saw it.

    `effects` are the script's with `seen` and `hit`; `served` and `received` count by lane and
    tick of `tick_s` seconds. `lost` and `late` are writes: `key`, `seq`, `replaced`, `covered`.
    """

    effects: tuple[Mapping[str, Any], ...]
    tick_s: float
    served: tuple[Floats, ...]
    received: tuple[Floats, ...]
    lost: tuple[Mapping[str, Any], ...]
    late: tuple[Mapping[str, Any], ...]

    def losses(self, which: Iterable[int]) -> list[Loss]:
        """Return when and how much was not answered well, by effect."""
        return [_loss(self.effects[index]) for index in which]

    def dips(self, which: Iterable[int]) -> list[tuple[float, float]]:
        """Return the stretches in which something was lost; those that touch are one."""
        joined: list[tuple[float, float]] = []
        for loss in self.losses(which):
            if joined and loss.start - joined[-1][1] <= _TOUCH_S:
                joined[-1] = (joined[-1][0], loss.end)
            else:
                joined.append((loss.start, loss.end))
        return joined

    def hits(self, which: Iterable[int]) -> int:
        """Return how many operations the effects hit."""
        return sum(int(self.effects[index]["hit"]) for index in which)

    def level(self, start: float, end: float) -> float:
        """Return operations served per second between two times."""
        return float(self._all_served()[self._ticks(start, end)].sum()) / (end - start)

    def deepest(self, start: float, end: float, level: float) -> float:
        """Return 1 - the lowest mean of 1 s ÷ `level`, of those that end in the time given."""
        second, step = round(1 / self.tick_s), round(_STEP_S / self.tick_s)
        sums = np.concatenate(([0.0], np.cumsum(self._all_served())))
        first = -(-self._ticks(start, end).start // step) * step
        ends = np.arange(max(first, second), min(len(sums) - 1, round(end / self.tick_s)) + 1, step)
        return max(0.0, 1.0 - float((sums[ends] - sums[ends - second]).min()) / level)

    def share_of_lane(self, lane: int, end: float) -> float:
        """Return the share of the operations before `end` that the lane received."""
        ticks = self._ticks(0.0, end)
        return float(self.received[lane][ticks].sum() / sum(r[ticks].sum() for r in self.received))

    def lost_writes(self) -> tuple[int, int]:
        """Return acknowledged writes that were forgotten and not written again, and their keys."""
        gone = [write for write in self.lost if not write["covered"]]
        return len(gone), len({write["key"] for write in gone})

    def late_keys(self) -> int:
        """Return the keys whose last word is a write that came late and replaced a newer one."""
        wrong = [w for w in self.late if not w["covered"] and w["replaced"] > w["seq"]]
        return len({write["key"] for write in wrong})

    def _all_served(self) -> Floats:
        return np.asarray(sum(self.served, np.zeros(len(self.served[0]))))

    def _ticks(self, start: float, end: float) -> slice:
        return slice(max(0, int(np.ceil(start / self.tick_s))), int(end / self.tick_s))


def read_truth(path: Path) -> Truth:
    """Read the file that `loadgen serve --truth` wrote. Raises `RunDirectoryError`."""
    try:
        document = json.loads(path.read_text("utf-8"))
        lanes = document["timeline"]
        length = max(len(lane[name]) for lane in lanes for name in ("served", "received"))
        return Truth(
            effects=tuple(document["effects"]),
            tick_s=float(document["tick_s"]),
            served=tuple(_padded(lane["served"], length) for lane in lanes),
            received=tuple(_padded(lane["received"], length) for lane in lanes),
            lost=tuple(document["lost"]),
            late=tuple(document["late"]),
        )
    except (OSError, ValueError, KeyError) as error:
        raise RunDirectoryError(f"{path}: not the truth of a scripted server: {error}") from error


def _loss(effect: Mapping[str, Any]) -> Loss:
    """A share is what was hit of what was seen; a freeze decides on no single operation.

    A freeze is over when all that it held back is answered, which takes the server a moment.
    """
    seen, start = int(effect["seen"]), float(effect["at"])
    share = int(effect["hit"]) / seen if seen else 1.0
    end = start + float(effect["for"])
    if effect["effect"] == "freeze":
        end = max(end, float(effect.get("ended_t", end)))
    return Loss(start, end, share)


def _padded(ticks: list[int], length: int) -> Floats:
    return np.pad(np.asarray(ticks, np.float64), (0, length - len(ticks)))
