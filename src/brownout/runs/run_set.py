"""A set of finished runs: read, found to be of one kind or not, and how their measures are spread.

Whatever looks at several runs (repeat, sweep, gate, compare, history) does so by `Runs`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median as _middle
from typing import Any, Self

import numpy as np

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.base.words import duration
from brownout.measure.document import read_impact, read_verdict
from brownout.measure.impact import NEVER, Impact
from brownout.measure.measures import is_at_least, measures, split
from brownout.measure.subject import Subject, differences, records_variables, subject_of
from brownout.run.directory import RunDirectory
from brownout.run.kept import began_in
from brownout.run.metadata import read_json
from brownout.show.report.words import pace

__all__ = ["JUDGED", "LEAST", "FinishedRun", "Runs", "Spread", "counted", "median", "never"]
__all__ += ["verdict_of"]

#: Verdicts of runs that say something of the fault; a repeat with another one is made again.
JUDGED = ("pass", "fail")
#: With fewer repeats an interval would be a guess, and a difference could be chance.
LEAST = 5
_RESAMPLES = 10_000
_SEED = 20_260_101
_UNKNOWN = datetime.fromtimestamp(0, UTC)
#: What makes a release where the test did not name one.
_RELEASES = ("release", "server")


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that is over: its directory and what it found.

    `began` is when its directory was made, the beginning of 1970 if unknown. `occasion` is
    what it was part of, a game day perhaps; only the history knows.
    """

    path: Path
    impact: Impact
    began: datetime = _UNKNOWN
    occasion: str | None = None

    @classmethod
    def read(cls, name: Path | str) -> Self:
        """Read a run by path, name or `latest`; raises `RunDirectoryError` where it has no result.

        It may be a directory that was given another name.
        """
        directory = RunDirectory.find(name)
        impact = read_impact(directory)
        began = began_in(impact.run_id or directory.run_id)
        if began is None:
            try:
                created = str(read_json(directory.run_json).get("created"))
                began = datetime.fromisoformat(created).astimezone(UTC)
            except ValueError:
                began = _UNKNOWN
        return cls(directory.path, impact, began)

    @property
    def is_dated(self) -> bool:
        """Whether it is known when it began."""
        return self.began != _UNKNOWN

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self.impact.run_id or self.path.name

    @property
    def verdict(self) -> str:
        """The run's own verdict."""
        return self.impact.verdict

    @property
    def scenario(self) -> str:
        """The experiment's name."""
        return self.impact.scenario or "run"

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.impact.cluster_name or "unknown"

    @property
    def server(self) -> str:
        """What was tested, with its version."""
        return self.impact.server

    @property
    def versions(self) -> dict[str, str]:
        """The version of each program that took part, the load's driver included."""
        driver = {"driver": self.impact.driver.words} if self.impact.driver else {}
        return {name: str(of) for name, of in {**self.impact.versions, **driver}.items()}

    @property
    def driver(self) -> str:
        """The driver of its clients with its version, and the settings that decide a failover."""
        client = self.impact.driver
        if client is None:
            return "not known"
        settings = {**client.retries, **client.settings}
        return f"{client.words} ({', '.join(f'{name} {v}' for name, v in settings.items())})"

    @property
    def release(self) -> str:
        """`v1.4 · stone 6.0.5`: what a change of is a new release."""
        versions = self.impact.versions
        return " · ".join(str(versions[name]) for name in _RELEASES if versions.get(name))

    @property
    def subject(self) -> Subject:
        """All that decides whether its figures may stand beside another's, but the version."""
        return subject_of(self.impact)

    @property
    def kind(self) -> str:
        """`node-kill (kill) on staging, workload orders, 300/s open loop, deadline 1 s`.

        A stand-in is named. Figures are rounded: `Runs.groups` knows what is alike.
        """
        impact = self.impact
        mode = f" ({impact.mode})" if impact.mode else ""
        parts = [
            f"{self.scenario}{mode} on {self.cluster}",
            f"workload {impact.workload_name}" if impact.workload_name else "",
            pace(impact.load),
            "" if impact.deadline_s is None else f"deadline {duration(impact.deadline_s)}",
            "STAND-IN" if impact.stand_in else "",
        ]
        return ", ".join(part for part in parts if part)

    @property
    def limits(self) -> dict[str, float]:
        """The number of each limit that it was judged by, by `scope.measure` or of the total."""
        return {
            slo.name if slo.scope == "total" else f"{slo.scope}.{slo.name}": slo.limit
            for slo in self.impact.slos
        }

    @property
    def dropped(self) -> list[str]:
        """Each limit that came with brownout or the experiment and was dropped for this run."""
        return [
            f"the limit on {each.get('measure')} was dropped ({each.get('limit_from')})"
            for each in self.impact.dropped_limits
        ]

    @property
    def is_judged(self) -> bool:
        """Whether it passed or failed, rather than being inconclusive or aborted."""
        return self.verdict in JUDGED

    def value(self, measure: str) -> float | None:
        """Return a measure, `scope.measure` or of the total; `NEVER` where it never came about."""
        scope, name = split(measure)
        return self.impact.value(name, scope)

    def differences(self, other: Self) -> list[str]:
        """Name each thing in which two runs differ, the version of what was tested too."""
        unlike = [name for name, *_ in differences(self.subject, other.subject)]
        return [*unlike, *(["server"] if self.server != other.server else [])]


@dataclass(frozen=True, slots=True)
class Spread:
    """One measure over repeats, in its own unit; `values` in the order of the repeats.

    `never` counts repeats in which it did not come about, as a recovery that was not seen; those
    are beyond every value. `low` and `high` bound the median with 95 %, None for few repeats.
    """

    measure: str
    values: tuple[float, ...]
    never: int
    median: float | None
    worst: float | None
    low: float | None
    high: float | None


class Runs(tuple[FinishedRun, ...]):
    """Finished runs, in the order that the caller chose."""

    __slots__ = ()

    @classmethod
    def read(cls, names: Sequence[Path | str]) -> Self:
        """Read runs by path, name or `latest`; raises `ConfigurationError` with every problem."""
        runs: list[FinishedRun] = []
        problems: list[str] = []
        for name in names:
            try:
                runs.append(FinishedRun.read(name))
            except RunDirectoryError as error:
                problems.append(str(error))
        places = [run.path.resolve() for run in runs]
        ids = [run.run_id for run in runs]
        problems += [
            f"{run.path}: is given twice, wanted each run once: one fault is one repeat"
            for n, run in enumerate(runs)
            if places[n] in places[:n] or ids[n] in ids[:n]
        ]
        if problems:
            raise ConfigurationError(problems)
        return cls(runs)

    @property
    def dates(self) -> str:
        """`2026-11-22 to 2026-11-25`: the first and the last day on which one of them began."""
        days = sorted({f"{run.began:%Y-%m-%d}" for run in self if run.is_dated})
        return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "unknown date"

    @property
    def stand_in(self) -> bool:
        """Whether one of them is a stand-in's."""
        return any(run.impact.stand_in for run in self)

    @property
    def judged(self) -> "Runs":
        """Those that passed or failed."""
        return Runs(run for run in self if run.is_judged)

    @property
    def verdicts(self) -> str:
        """`pass`, `4 pass, 1 fail`."""
        return counted(run.verdict for run in self)

    def groups(self) -> "dict[str, Runs]":
        """Return the runs that are alike, by their kind; only they may be compared by themselves.

        They differ in nothing but the version of what was tested: a node that is lost costs more at
        a higher rate. Where two groups are of one kind, each name says how they differ.
        """
        by_kind: dict[str, list[list[FinishedRun]]] = {}
        for run in self:
            groups = by_kind.setdefault(run.kind, [])
            alike = (g for g in groups if not differences(g[0].subject, run.subject))
            group = next(alike, None)
            if group is None:
                groups.append([run])
            else:
                group.append(run)
        return {
            f"{kind}{words}": Runs(group)
            for kind, groups in sorted(by_kind.items())
            for group, words in zip(groups, _told_apart(groups), strict=True)
        }

    def values(self, measure: str) -> list[float | None]:
        """Return a measure of each run; None where a run does not know it."""
        return [run.value(measure) for run in self]

    def median(self, measure: str) -> float | None:
        """Return the median of a measure; None where one of the runs does not know it."""
        return median(self.values(measure))

    def unlike(
        self, subject: Subject | None = None, of: str = "", among: Collection[str] = ()
    ) -> list[str]:
        """Name all that keeps them from being of one kind, with the values; `among` chooses things.

        They are to be as the first run, or have the `subject` that `of` has. What was tested is to
        be of one version, unless `among` leaves `server` out.
        """
        if not self:
            return []
        first = self[0]
        wanted = first.subject if subject is None else subject
        problems = []
        for run in self:
            differing = [(*each, of or first.run_id) for each in differences(wanted, run.subject)]
            if run.server != first.server:
                differing.append(("server", first.server, run.server, first.run_id))
            problems += [
                f"{run.run_id}: {name} is {own}, but {other} in {where}"
                for name, other, own, where in differing
                if name in among or not among
            ]
        return problems

    def unlike_limits(self, limits: Mapping[str, float] | None = None, of: str = "") -> list[str]:
        """Name each limit that a run has otherwise than the first run, or than `limits` of `of`."""
        if not self:
            return []
        wanted = self[0].limits if limits is None else limits
        return [
            f"{run.run_id}: its limit on {name} is {run.limits.get(name, 'none')}, but "
            f"{wanted.get(name, 'none')} in {of or self[0].run_id}"
            for run in self
            for name in dict.fromkeys([*wanted, *run.limits])
            if run.limits.get(name) != wanted.get(name)
        ]

    def unwritten(self) -> list[str]:
        """Name each run that does not say with which variables it was made."""
        return [
            f"{run.run_id}: was recorded by an older brownout, which did not write down the "
            "variables of the experiment; make the run again"
            for run in self
            if not records_variables(run.impact)
        ]

    def unfit(self, least: int = 1, subject: Subject | None = None, of: str = "") -> list[str]:
        """Say why they cannot be judged together: too few, without a limit, not of one kind."""
        few = (
            f"found {len(self)} runs, wanted at least {least}: the replicate is a fault, and fewer "
            "cannot show a difference"
        )
        without = [run.run_id for run in self if not run.impact.slos]
        return [
            *([few] if len(self) < least else []),
            *(f"{name}: no limit was set, wanted one at least: nothing was judged"
              for name in without),
            *self.unlike(subject, of),
        ]  # fmt: skip

    def spreads(self) -> list[Spread]:
        """Return the spread of each measure that there is; a repeat counts by its worst fault.

        One in which nothing was proven to be broken tells nothing of a fault.
        """
        names = [m.name for m in measures().values() if m.main or m.name == "worst_second"]
        return [spread for spread in map(self.spread, names) if spread is not None]

    def spread(self, measure: str) -> Spread | None:
        """Return the spread of one measure; None where no repeat has a value."""
        return _spread(measure, [r.value(measure) for r in self if r.impact.effective_faults])


def _told_apart(groups: Sequence[Sequence[FinishedRun]]) -> list[str]:
    """Return for each group of one kind what only it has: `, rate 0.6`; nothing for a single one.

    The first three things are named; groups that these do not tell apart are counted.
    """
    first, *others = (group[0].subject for group in groups)
    names = dict.fromkeys(name for other in others for name, *_ in differences(first, other))
    words = [
        "".join(f", {name} {subject.get(name)}" for name in [*names][:3])
        for subject in (first, *others)
    ]
    return [
        f"{text}, group {words[:n].count(text) + 1}" if words.count(text) > 1 else text
        for n, text in enumerate(words)
    ]


def median(values: Sequence[float | None]) -> float | None:
    """Return the middle value, of an even number the mean of the middle two.

    The mean of a value and `NEVER` is `NEVER`. None where there is no value, or one is not known.
    """
    measured = [value for value in values if value is not None]
    return float(_middle(measured)) if measured and len(measured) == len(values) else None


def counted(verdicts: Iterable[str]) -> str:
    """`pass` where all agree, else how often each is there: `4 pass, 1 fail`."""
    words = list(verdicts)
    if len(set(words)) == 1:
        return words[0]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def never(value: Any) -> Any:
    """Return data as JSON can have it: what never came about is the text `never`."""
    if isinstance(value, float) and np.isinf(value):
        return "never"
    if isinstance(value, Mapping):
        return {key: never(item) for key, item in value.items()}
    return [never(item) for item in value] if isinstance(value, list | tuple) else value


def verdict_of(path: Path) -> str:
    """Return the verdict of a run or a game day, or why it has none."""
    if not (path / "gameday.json").is_file() and not (path / "run.json").is_file():
        return "load only"
    try:
        if (path / "gameday.json").is_file():
            return str(read_json(path / "gameday.json").get("verdict") or "not judged")
        return read_verdict(RunDirectory(path)) or "not judged"
    except RunDirectoryError:
        return "unreadable"


def _spread(measure: str, values: Sequence[float | None]) -> Spread | None:
    """What never came lies beyond all that did, whichever way is worse."""
    worse = -NEVER if is_at_least(measure) else NEVER
    measured = tuple(value for value in values if value is not None and value != NEVER)
    if not measured:
        return None
    ranked = [*measured, *[worse] * values.count(NEVER)]
    ends = (min if worse < 0 else max)(ranked), *_interval(ranked)
    figures = map(_finite, (float(_middle(ranked)), *ends))
    return Spread(measure, measured, len(ranked) - len(measured), *figures)


def _interval(ranked: Sequence[float]) -> tuple[float | None, float | None]:
    """The percentile bootstrap of the median."""
    if len(ranked) < LEAST:
        return None, None
    random = np.random.default_rng(_SEED)
    drawn = random.choice(np.asarray(ranked, np.float64), (_RESAMPLES, len(ranked)))
    drawn = np.sort(drawn, axis=1)
    medians = np.sort((drawn[:, (len(ranked) - 1) // 2] + drawn[:, len(ranked) // 2]) / 2)
    low, high = medians[[int(0.025 * _RESAMPLES), int(0.975 * _RESAMPLES)]]
    return float(low), float(high)


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
