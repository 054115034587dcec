"""Several load generators that are one: prepared together, started at one moment, added up.

What is done to all is done to all at once; what only one may do (claim the namespace, clean it up)
the first one does. One that is lost ends the load of all: what the others did is not what was
wanted, and is never shown as if it were.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeVar

from brownout.base.errors import GeneratorError
from brownout.base.files import private_directory
from brownout.load.generator import Generator, Progress
from brownout.load.group.live import LiveSum
from brownout.load.place import Place
from brownout.run.metadata import write_json
from brownout.run.parts.apart import generator_name, lost_words
from brownout.run.parts.merge import merge_ledger, merge_load
from brownout.run.parts.paths import FACTS, part_directories
from brownout.run.series import LiveSeries

__all__ = ["GeneratorGroup", "one_page"]

T = TypeVar("T")
#: From the command to the common start: all have to hear of it by then.
_LEAD_S: Final = 0.5
#: A generator under load speaks twice a second.
_SILENCE_S: Final = 10.0


@dataclass(slots=True)
class _PartFacts:
    """One generator, as in `parts.json`.

    `late_s` is how long after its moment it began, by its own clock. `start_s` is how much later
    than the first generator's its schedule began, by the comparison of the clocks at the start,
    `end_s` by that at the end, when they may have drifted apart; each may be off by its
    uncertainty. `lost` says why it was lost and `lost_t` when it was last heard of, by the run's
    clock. None is what is not known.
    """

    index: int
    where: str
    late_s: float | None = None
    start_s: float | None = None
    start_uncertainty_s: float | None = None
    end_s: float | None = None
    end_uncertainty_s: float | None = None
    lost_t: float | None = None
    lost: str | None = None


class GeneratorGroup:
    """As `Generator`, of which it has one for each of `places`; their files are in `parts/`."""

    def __init__(
        self,
        directory: Path,
        on_live: Callable[[Mapping[str, Any]], None] | None,
        places: Sequence[Place],
    ) -> None:
        self.live = LiveSeries()
        self.stopped: Mapping[str, Any] = {}
        self._directory, self._on_live = directory, on_live
        self._paths = part_directories(directory, len(places))
        self._facts = [_PartFacts(index, place.where) for index, place in enumerate(places)]
        self._sum, self._adding = LiveSum(len(places)), threading.Lock()
        self._running = False
        self._unmerged: set[str] = set()
        self._loads = True
        self._parts: list[Generator] = []
        private_directory(directory)
        try:
            for index, place in enumerate(places):
                self._parts.append(self._named(index, partial(self._make, index, place)))
        except BaseException:
            self.close()
            raise
        self.version = self._parts[0].version

    def _make(self, index: int, place: Place) -> Generator:
        return Generator(self._paths[index], lambda live: self._take(index, live), place)

    @property
    def alive(self) -> bool:
        """Whether every generator runs and talks to us; one that is lost is lost for good."""
        self._look()
        return not self.lost and all(generator.alive for generator in self._parts)

    @property
    def pids(self) -> list[int]:
        """The process id of each generator, on its machine."""
        return [generator.pid for generator in self._parts]

    @property
    def lost(self) -> list[str]:
        """What became of each generator that was lost, in a sentence."""
        lost = [asdict(part) for part in self._facts if part.lost is not None]
        return [lost_words(part, len(self._facts)) for part in lost]

    def obituary(self) -> str:
        """Say which generators were lost, once not all are alive any more."""
        return "; ".join(self.lost) or "the load generators have ended"

    def open(self, spec: Mapping[str, Any]) -> None:
        """Have each connect, as its part of `spec`."""
        of = len(self._parts)
        closed = [s["name"] for s in spec["streams"] if s.get("concurrency")]
        self.live, self._loads = LiveSeries(closed), bool(spec["data"]["load"])

        def one(index: int, generator: Generator) -> None:
            generator.open({
                **spec,
                "dir": str(self._paths[index]),
                "part": {"index": index, "of": of},
                "labels": {**spec.get("labels", {}), "part": str(index)},
            })  # fmt: skip

        self._each(one)

    def load(self, progress: Progress | None = None) -> Mapping[str, Any]:
        """Write the data set together: the first makes room, each fills its share."""
        if not self._loads:
            return {"keys": 0, "seconds": 0.0}
        begun, shared = time.monotonic(), _Progress(progress, len(self._parts))
        self._first(lambda first: first.load(step="begin"))
        loaded = self._each(lambda i, g: g.load(shared.of(i), "fill"))
        self._first(lambda first: first.load(step="end"))
        seconds = round(time.monotonic() - begun, 3)
        return {"keys": loaded[0]["keys"], "seconds": seconds}

    def start(self) -> None:
        """Begin all schedules at one moment of ours, told to each in its own clock's seconds."""
        off = max(self._each(lambda _, g: g.compare_clocks()))
        at = time.monotonic() + _LEAD_S + 4 * off
        _write_facts(self._directory, self._facts)
        self._unmerged = {"load", "ledger"}
        late = self._each(lambda _, g: g.start(at))
        self._running = True
        for part, seconds in zip(self._facts, late, strict=True):
            part.late_s = round(seconds, 6)
        self._compare("start")

    def now(self) -> float | None:
        """Return seconds since the start of the first generator's schedule; None before it."""
        return self._parts[0].now()

    def to_t(self, monotonic: float) -> float | None:
        """Return `t` of a moment of `time.monotonic()`, by the first generator's clock."""
        return self._parts[0].to_t(monotonic)

    @property
    def clock_uncertainty(self) -> float | None:
        """By how many seconds the worst known clock may be off; None before the start."""
        uncertainties = [generator.clock_uncertainty for generator in self._parts]
        return max((off for off in uncertainties if off is not None), default=None)

    @property
    def clock_jump_s(self) -> float:
        """By how many seconds a clock jumped against ours, the furthest; 0 where none did."""
        return max((generator.clock_jump_s for generator in self._parts), default=0.0)

    def metrics(self) -> str:
        """Return the metrics of all on one page, each labelled with its `part`."""
        return one_page(generator.metrics() for generator in self._parts)

    def stop(self) -> Mapping[str, Any]:
        """End all schedules and return what the merged `generator.json` says.

        Raises `GeneratorError` if a generator was lost; the others are stopped all the same.
        """
        if not self.stopped:
            self._look()
            self._running = False
            self._compare("end")
            self._each(self._stop_one)
            _write_facts(self._directory, self._facts)
            if self.lost:
                raise GeneratorError(self.obituary(), "see generator.log of each in `parts`")
            self.stopped = merge_load(self._directory)
            self._unmerged.discard("load")
        return self.stopped

    def verify(self, progress: Progress | None = None, copies: bool = False) -> Mapping[str, Any]:
        """Have each read back what it was promised. Returns keys, read and unread of all.

        With `copies` each first compares what every server has stored of its share.
        """
        shared = _Progress(progress, len(self._parts))
        results = self._each(lambda i, g: g.verify(shared.of(i), copies))
        merge_ledger(self._directory)
        self._unmerged.discard("ledger")
        return {name: sum(one[name] for one in results) for name in ("keys", "read", "unread")}

    def give_up(self) -> None:
        """End what each does now, as `verify` in another thread, which then raises."""
        for generator in self._parts:
            generator.give_up()

    def clean(self) -> None:
        """Remove from the database what the load made, and nothing else."""
        self._first(lambda first: first.clean())

    def close(self) -> None:
        """End every process whatever state it is in, and have all files here. Safe to repeat."""
        self._look()
        self._running = False
        try:
            self._each(lambda _, generator: generator.close())
        finally:
            unmerged, self._unmerged = self._unmerged, set()
            if unmerged:
                _write_facts(self._directory, self._facts)
            if "load" in unmerged:
                merge_load(self._directory)
            if "ledger" in unmerged:
                merge_ledger(self._directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, part: int, live: Mapping[str, Any]) -> None:
        """Add up live figures. In the reader thread of each generator."""
        with self._adding:
            together = self._sum.feed(part, live)
            if together is None:
                return
            self.live.feed(together)
            if self._on_live is not None:
                self._on_live(together)

    def _look(self) -> None:
        """Note which generators of a running load were lost, and when each was last heard of."""
        if not self._running:
            return
        for part, generator in zip(self._facts, self._parts, strict=True):
            if part.lost is not None:
                continue
            if not generator.alive:
                self._lose(part, generator.obituary())
            elif time.monotonic() - generator.heard > _SILENCE_S:
                self._lose(part, f"it said nothing for {_SILENCE_S:g} s")

    def _lose(self, part: _PartFacts, why: str) -> None:
        t = self.to_t(self._parts[part.index].heard)
        part.lost, part.lost_t = why, None if t is None else round(t, 3)

    def _stop_one(self, index: int, generator: Generator) -> None:
        """Stop one; on failure mark it lost, so that the rest are still stopped."""
        if self._facts[index].lost is None:
            try:
                generator.stop()
            except GeneratorError as error:
                self._lose(self._facts[index], str(error))

    def _compare(self, when: Literal["start", "end"]) -> None:
        """Write down how far the schedules are apart by the clocks as they are known now."""
        now = time.monotonic()
        here, off = self._parts[0].to_t(now), self._parts[0].clock_uncertainty
        for part, generator in zip(self._facts, self._parts, strict=True):
            there, uncertainty = generator.to_t(now), generator.clock_uncertainty
            if part.lost is None and None not in (here, off, there, uncertainty):
                later = round((here or 0.0) - (there or 0.0), 6)
                both = round((off or 0.0) + (uncertainty or 0.0), 6) if part.index else 0.0
                setattr(part, f"{when}_s", later)
                setattr(part, f"{when}_uncertainty_s", both)
        _write_facts(self._directory, self._facts)

    def _first(self, do: Callable[[Generator], T]) -> T:
        return self._named(0, lambda: do(self._parts[0]))

    def _each(self, do: Callable[[int, Generator], T]) -> list[T]:
        """Do something with all generators at once; raises all their errors as one."""
        if not self._parts:
            return []
        with ThreadPoolExecutor(len(self._parts)) as pool:
            asked = [
                pool.submit(self._named, index, partial(do, index, generator))
                for index, generator in enumerate(self._parts)
            ]
        errors = [one.exception() for one in asked]
        for error in errors:
            if error is not None and not isinstance(error, GeneratorError):
                raise error
        own = [error for error in errors if isinstance(error, GeneratorError)]
        if own:
            hints = dict.fromkeys(error.hint for error in own if error.hint)
            raise GeneratorError("; ".join(error.message for error in own), "; ".join(hints))
        return [one.result() for one in asked]

    def _named(self, index: int, do: Callable[[], T]) -> T:
        """Say of which generator an error is."""
        try:
            return do()
        except GeneratorError as error:
            name = generator_name(index, len(self._facts), self._facts[index].where)
            raise GeneratorError(f"{name}: {error.message}", error.hint) from error


class _Progress:
    """How far all are together, told once each has said how much it has to do."""

    def __init__(self, progress: Progress | None, parts: int) -> None:
        self._told, self._parts = progress, parts
        self._far: dict[int, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def of(self, part: int) -> Progress:
        def tell(done: int, total: int) -> None:
            with self._lock:
                self._far[part] = done, total
                if self._told is not None and len(self._far) == self._parts:
                    self._told(*(sum(column) for column in zip(*self._far.values(), strict=True)))

        return tell


def _write_facts(directory: Path, parts: Sequence[_PartFacts]) -> None:
    """Replace `parts.json` of the run at `directory`.

    It says how well the generators kept together, and which was lost. It is written at the start
    and again at the end, since it is recorded nowhere else: `brownout analyze` reads it.
    """
    document = {"of": len(parts), "parts": [asdict(part) for part in parts]}
    write_json(directory / FACTS, document)


def one_page(pages: Iterable[str]) -> str:
    """Return all samples of several pages in Prometheus's text format, family by family.

    Each generator labels its own with `part`; a family's comments may stand there only once.
    """
    comments: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for page in pages:
        for family, line in _lines(page):
            if line.startswith("#"):
                lines_of_family = comments.setdefault(family, [])
                if line not in lines_of_family:
                    lines_of_family.append(line)
            else:
                samples.setdefault(family, []).append(line)
    families = dict.fromkeys([*comments, *samples])
    lines = [x for f in families for x in (*comments.get(f, ()), *samples.get(f, ()))]
    return "".join(f"{line}\n" for line in lines)


def _lines(page: str) -> Iterator[tuple[str, str]]:
    """Yield each line with its family: samples follow their family's comments."""
    family = ""
    for line in page.splitlines():
        if line.startswith(("# HELP ", "# TYPE ")):
            family = line.split(" ", 3)[2]
        if line.strip() and (not line.startswith("#") or family):
            yield family, line
