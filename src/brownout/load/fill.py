"""Filling a database: to how much, how far it is, and updates until it is steady.

Fills are restartable: the database itself keeps how far a fill is, so one that was killed resumes
where it stopped, and one that is complete is only counted.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.load.group import driven_from
from brownout.load.place import Place
from brownout.load.shares import check_shares
from brownout.load.steady import Steadiness, Window, steadiness
from brownout.load.workload import Workload

__all__ = ["Conditioning", "Pace", "bytes_of", "fill", "sized"]

_UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def bytes_of(text: str) -> int:
    """Read `500MB`, `10GB`, `1.5 TB`; raises `ConfigurationError` for anything else."""
    form = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kMGT]?)B", text.strip())
    size = round(float(form[1]) * _UNITS[form[2]]) if form else 0
    if size <= 0:
        raise ConfigurationError(f"--size: found {text!r}, wanted a size as 500MB or 10GB")
    return size


def sized(workload: Workload, records: int, size: int) -> Workload:
    """Return `workload` with so many records, or with so many bytes of values; 0 leaves it.

    Several data sets keep their proportions. Raises `ConfigurationError` for both, and for a
    size that is less than a value of each.
    """
    if records and size:
        raise ConfigurationError("found --records and --size, wanted one of them")
    if not records and not size:
        return workload
    sets = workload.data.all_sets
    keys = sum(each.keys for each in sets)
    held = sum(each.keys * sum(each.sizes) / len(each.sizes) for each in sets)
    if not held and size:
        raise ConfigurationError("--size: the values have no bytes, wanted --records")
    factor = records / keys if records else size / held
    wanted = [round(each.keys * factor) for each in sets]
    if min(wanted) < 1:
        actual = f"--records: found {records:,}" if records else f"--size: found {size:,} bytes"
        least = "a record" if records else f"one value of {held / keys:,.0f}"
        raise ConfigurationError(f"{actual}, wanted {least} of each data set at least")
    if workload.data.sets:
        resized = [s.model_copy(update={"keys": n})
                for s, n in zip(workload.data.sets, wanted, strict=True)]  # fmt: skip
        change: dict[str, object] = {"sets": tuple(resized)}
    else:
        change = {"keys": wanted[0]}
    return workload.model_copy(update={"data": workload.data.model_copy(update=change)})


@dataclass(slots=True)
class Pace:
    """How fast a fill goes, and how much is left of it. `clock` is `time.monotonic` but in tests.

    What was there already when it began does not count as fast.
    """

    clock: Callable[[], float] = time.monotonic
    _first: tuple[float, int] | None = None

    def words(self, done: int, total: int) -> str:
        """`filling at 12,000/s, 3 min 20 s left:`; without figures at the beginning."""
        from brownout.base.words import duration

        now = self.clock()
        if self._first is None:
            self._first = now, done
        since, before = self._first
        rate = (done - before) / (now - since) if now > since else 0.0
        if rate <= 0:
            return "filling:"
        share = f"{done / total:.0%}" if total else "all"
        left = duration(max(0.0, (total - done) / rate))
        return f"filling at {rate:,.0f}/s, {share} done, {left} left:"


def fill(
    workload: Workload,
    target: Mapping[str, Any],
    directory: Path,
    *,
    seed: int,
    places: Sequence[Place],
    progress: Callable[[str, int, int], None],
) -> Mapping[str, Any]:
    """Write the data set, verified by the database's own count; return `keys` and `seconds`.

    Raises `GeneratorError`; what was written by then is used by the next fill.
    """
    check_shares(workload, len(places))
    spec = workload.to_spec(directory=directory, seed=seed, writer=directory.name, **target)
    pace = Pace()
    with driven_from(places, directory) as generator:
        generator.open(spec)
        return generator.load(lambda done, total: progress(pace.words(done, total), done, total))


@dataclass(slots=True)
class Conditioning:
    """Watches a load until it is steady: hand it live events, ask whether it is `enough`."""

    window_s: float
    tolerance: float
    windows: list[Window] = field(default_factory=list)
    _ok: int = 0
    _slow: list[float] = field(default_factory=list)
    _since: float = 0.0

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take a live event of the generator: its rows, and the p99 of its last second."""
        self._ok += sum(int(row[4]) for row in event.get("series") or ())
        if event.get("p99_us") is not None:
            self._slow.append(float(event["p99_us"]))
        t = float(event["t"])
        if t - self._since >= self.window_s:
            middle = median(self._slow) if self._slow else None
            self.windows.append(Window(self._ok / (t - self._since), middle))
            self._ok, self._slow, self._since = 0, [], t

    def state(self) -> Steadiness:
        """Return whether it is steady by now."""
        return steadiness(self.windows, self.tolerance)

    def enough(self) -> bool:
        """Whether it is steady by now."""
        return self.state().steady
