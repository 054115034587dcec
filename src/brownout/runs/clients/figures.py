"""What each client of a comparison met, and in a sentence what that comes to.

Pure, but for `results_of`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.measure.impact import NEVER
from brownout.measure.measures import described
from brownout.run.directory import RunDirectory
from brownout.run.ledger import classify
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.metadata import read_json
from brownout.runs.clients.record import Record
from brownout.runs.clients.spec import DRIVER, Comparison, Row
from brownout.runs.run_set import JUDGED, FinishedRun
from brownout.show.report.values import NONE, signed

__all__ = [
    "RECOVERED",
    "SERVED",
    "Cure",
    "Meeting",
    "Result",
    "cure_of",
    "finding",
    "results_of",
    "span",
    "times",
]

SERVED = "client_recovered_time"
RECOVERED = "recovery_time"
PROMOTED = "promoted_time"


@dataclass(frozen=True, slots=True)
class Meeting:
    """One client in one run. Times in seconds since the fault's effect; None: not measured.

    `served` is when the client was served again (0 without a total outage, `NEVER` if the run
    ended first), and `recovered` when its last dip ended, which is later where a part of its
    operations failed for longer. `driver` is when the built-in driver was served again, `promoted`
    when the database had a new primary, and `rejoined` when all of its nodes were members again.
    `lost` counts its acknowledged writes that are gone, `observed_s` how long the run lasted after
    the effect. `program` is what the client called itself.
    """

    run: FinishedRun
    served: float | None
    recovered: float | None
    driver: float | None
    promoted: float | None
    rejoined: float | None
    errors: Mapping[str, float]
    lost: int | None
    observed_s: float
    program: str = ""

    @property
    def later(self) -> float | None:
        """How long after the database's new primary it was served again, where both are known."""
        if not self.served or not self.promoted or not isfinite(self.promoted):
            return None
        return self.served - self.promoted


@dataclass(frozen=True, slots=True)
class Result:
    """One client with all of its runs that count."""

    row: Row
    meetings: tuple[Meeting, ...] = ()

    def times(self, measure: str) -> list[float]:
        """When it was `SERVED` again, or had `RECOVERED`, in each run of which that is known."""
        values = [m.served if measure == SERVED else m.recovered for m in self.meetings]
        return [value for value in values if value is not None]

    @property
    def served(self) -> list[float]:
        """When it was served again in each run of which that is known."""
        return self.times(SERVED)

    @property
    def never(self) -> int:
        """In how many runs it was never served again."""
        return self.served.count(NEVER)

    @property
    def is_partly_out(self) -> bool:
        """Whether a part of its operations failed for longer than all of them, in most runs."""
        both = [(m.served, m.recovered) for m in self.meetings if m.served is not None]
        longer = [s for s, r in both if r is not None and r > s + _noise(RECOVERED)]
        return 2 * len(longer) > len(self.meetings)

    @property
    def errors(self) -> Mapping[str, float]:
        """Its operations that failed in all runs, by cause, the most frequent first."""
        causes: Counter[str] = Counter()
        for each in self.meetings:
            causes.update(each.errors)
        return dict(causes.most_common())


@dataclass(frozen=True, slots=True)
class Cure:
    """Another set of options of the same command that was sooner in every run, by a measure."""

    result: Result
    setting: str
    measure: str


def results_of(comparison: Comparison, record: Record) -> list[Result]:
    """Read the runs of a comparison; raises `ConfigurationError` with every run that is gone."""
    problems: list[str] = []
    results = []
    for group, rows in comparison.groups.items():
        runs = []
        for each in record.of(group):
            if each.verdict in JUDGED:
                try:
                    runs.append(FinishedRun.read(record.path / each.run))
                except RunDirectoryError as error:
                    problems.append(str(error))
        met = [run for run in runs if run.impact.effective_faults]
        results += [Result(row, tuple(_meeting(run, row.name) for run in met)) for row in rows]
    if problems:
        raise ConfigurationError(problems, "a comparison needs all of its runs, as they were")
    return results


def cure_of(result: Result, results: Iterable[Result]) -> Cure | None:
    """Return the options of the same command that made the greatest difference, if any did.

    Every run with them was served again sooner than every run without, by more than noise; or,
    where no options did that, recovered sooner.
    """
    same = [each for each in results if each.row.command == result.row.command]
    for measure in (SERVED, RECOVERED):
        better = [each for each in same if _is_sooner(each, result, measure)]
        if better:
            best = min(better, key=lambda each: median(each.times(measure)))
            return Cure(best, _difference(result.row, best.row), measure)
    return None


def finding(result: Result, cure: Cure | None = None) -> str:
    """Return in a sentence what a client met, and the setting that made the difference."""
    served = result.served
    if not served:
        return f"`{result.row.name}`: not measured."
    parts = [_served_words(result)]
    lossy = [each.lost for each in result.meetings if each.lost]
    if lossy:
        writes = f"{sum(lossy):,} acknowledged write{'s' * (sum(lossy) != 1)} lost"
        parts.append(f"{writes} in {len(lossy)} of {_runs(len(result.meetings))}")
    if cure is not None:
        parts.append(f"with {cure.setting} {_cure_words(cure)}")
    return f"`{result.row.name}`: {'; '.join(parts)}."


def span(values: Sequence[float]) -> str:
    """Return the median of times with the lowest and the highest: `2.1 s (1.9 s to 2.4 s)`."""
    middle, low, high = (
        signed(SERVED, value) for value in (median(values), min(values), max(values))
    )
    return middle if low == high else f"{middle} ({low} to {high})"


def times(result: Result, measure: str) -> str:
    """Return when a client was back by a measure: the span of its runs, or that it never was."""
    values = result.times(measure)
    came = [value for value in values if value != NEVER]
    if not came:
        return "never" if values else NONE
    return span(came) if len(came) == len(values) else f"{span(came)}, or never"


def _served_words(result: Result, again: bool = False) -> str:
    served = result.served
    total, came = len(served), [value for value in served if value != NEVER]
    if not came:
        observed = min(each.observed_s for each in result.meetings)
        return (
            f"never served again in {total} of {_runs(total)}, in at least "
            f"{signed(SERVED, observed)} that were observed"
        )
    late = [each for each in result.meetings if each.served is not None and isfinite(each.served)]
    later = [each.later for each in late if each.later is not None]
    if not any(served):
        words = "no total outage"
    elif len(later) == len(came) and min(later) > 0:
        words = f"served again {span(later)} after the database had a new primary"
    else:
        words = f"served again {span(came)} after the fault"
    if result.is_partly_out:
        words += f", {_recovered_words(result)}"
    if result.never:
        rest = "the other" if len(came) == 1 else "the others"
        return f"never served again in {result.never} of {_runs(total)}, in {rest} {words}"
    return words if again else f"{words}, in {total} of {_runs(total)}"


def _cure_words(cure: Cure) -> str:
    if cure.measure == SERVED:
        return _served_words(cure.result, again=True)
    return _recovered_words(cure.result)


def _recovered_words(result: Result) -> str:
    recovered = result.times(RECOVERED)
    came = [value for value in recovered if value != NEVER]
    gone = len(recovered) - len(came)
    if not came:
        return "never recovered"
    words = f"its last dip ended {span(came)} after the fault"
    return f"never recovered in {gone} of {_runs(len(recovered))}, else {words}" if gone else words


def _runs(count: int) -> str:
    return f"{count} run{'s' * (count != 1)}"


def _is_sooner(one: Result, other: Result, measure: str) -> bool:
    ours, theirs = one.times(measure), other.times(measure)
    if not ours or not theirs or len(theirs) < len(other.meetings):
        return False
    return max(ours) + _noise(measure) < min(theirs)


def _noise(measure: str) -> float:
    kind = described(measure)
    return kind.unit.apart if kind else 1.0


def _difference(row: Row, other: Row) -> str:
    """Return the options of `other` that `row` has otherwise, and those that it leaves out."""
    changed = [
        f"`{name}: {json.dumps(value)}`"
        for name, value in other.options.items()
        if name not in row.options or row.options[name] != value
    ]
    without = [f"without `{name}`" for name in row.options if name not in other.options]
    return " and ".join([*changed, *without]) or f"the settings of `{other.name}`"


def _meeting(run: FinishedRun, name: str) -> Meeting:
    errors: Counter[str] = Counter()
    for fault in run.impact.effective_faults:
        scope = fault.scopes.get(name)
        errors.update(scope.losses.errors if scope else {})
    return Meeting(
        run,
        run.value(f"{name}.{SERVED}"),
        run.value(f"{name}.{RECOVERED}"),
        run.value(f"{DRIVER}.{SERVED}"),
        run.value(PROMOTED),
        run.value("rejoin_time"),
        dict(errors),
        _lost(run, name),
        min(fault.until - (fault.effective or 0.0) for fault in run.impact.effective_faults),
        _program(run, name),
    )


def _lost(run: FinishedRun, name: str) -> int | None:
    """Return the acknowledged writes of one stream that are gone; None where it is not known."""
    ledger = run.impact.ledger
    if ledger.state == "clean":
        return 0
    lines = list(read_ledger_lines(RunDirectory(run.path).ledger_lines))
    own = [line for line in lines if line.get("stream") == name]
    keys = [line for line in own if "key" in line]
    reads = [line for line in own if "read" in line]
    end = [{**line, "keys": len(keys), "read": len(reads)} for line in lines if line.get("end")]
    return classify([*keys, *reads, *end]).lost_writes


def _program(run: FinishedRun, name: str) -> str:
    try:
        settings = read_json(RunDirectory(run.path).generator).get("driver_settings") or {}
        return str((settings.get("clients") or {}).get(name, {}).get("name", ""))
    except RunDirectoryError:
        return ""
