"""A pinned baseline: what some repeats of a good version measured, and how much worse is allowed.

It is a YAML file that people read, change and keep beside their code. The values of each repeat
are in it, so the runs themselves may go. A digest covers all that was measured.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings import Settings
from brownout.base.settings_file import parse_yaml, read_text
from brownout.measure.measures import find, split
from brownout.measure.subject import roles_of
from brownout.measure.unit import OPERATIONS
from brownout.run.events import wall_clock
from brownout.run.metadata import digest_of
from brownout.runs.run_set import LEAST, FinishedRun, Runs, median

__all__ = ["Baseline", "Compared", "Repeat", "default_measures", "pin", "read", "role_of", "write"]

#: What is compared by default; each further measure makes a decision need more repeats.
#: Availability is not among them: it rises with the time that an episode takes to be redundant.
DEFAULT_MEASURES = (
    "tps_drop",
    "blackout",
    "recovery_time",
    "redundancy_time",
    "lost_seconds",
)
#: No allowance is larger than so many times what was pinned, or than so many times the least that
#: counts as pinned: a system that is that much worse is another one, which limits are for.
_MOST_TIMES = 10
_HEAD = """\
# A pinned baseline for `brownout gate`, made by `brownout baseline pin`.
# `allowed` and `critical` are yours to change: by how much, in the measure's own unit, the best
# estimate may be worse, and how much worse must be ruled out; `must_have_data`, too. Everything
# else was measured, and `digest` covers it: pin anew instead of changing it.
"""
#: What people may change in each measure.
_OF_PEOPLE = ("allowed", "critical", "must_have_data")


class Compared(Settings):
    """A measure that the gate compares, `scope.measure` or total; limits in its own unit."""

    measure: str
    allowed: float = Field(ge=0, allow_inf_nan=False, strict=True)
    critical: float = Field(ge=0, allow_inf_nan=False, strict=True)
    must_have_data: bool = True

    @field_validator("measure")
    @classmethod
    def _is_a_measure(cls, name: str) -> str:
        if find(split(name)[1]) is None:
            raise ValueError("not a measure; `docs/measures.md` lists them all")
        return name


class Repeat(Settings):
    """One run of the baseline: its name and its values; `.inf` is a wait that never ended.

    `role` is that of the node that was broken, None where the database has none.
    """

    run: str
    role: str | None = None
    values: Mapping[str, float | None]


class Baseline(Settings):
    """What is pinned; `subject` is what the runs were about, `limits` what they were judged by.

    `limits` has the number of each, by `scope.measure`. `digest` covers all but what people may
    change.
    """

    schema_version: Literal[2] = 2
    pinned: str
    subject: Mapping[str, Any]
    cluster: str
    versions: Mapping[str, str]
    limits: Mapping[str, float]
    measures: tuple[Compared, ...] = Field(min_length=1)
    repeats: tuple[Repeat, ...]
    digest: str = ""

    def measured_digest(self) -> str:
        """Return the digest of all that was measured."""
        data = self.model_dump(mode="python", exclude={"digest"})
        for compared in data["measures"]:
            for name in _OF_PEOPLE:
                del compared[name]
        return digest_of(data)

    def values(self, measure: str) -> list[float | None]:
        """The values of a measure, one a repeat."""
        return [repeat.values.get(measure) for repeat in self.repeats]

    def median(self, measure: str) -> float | None:
        """The median of a measure, None where it was not pinned."""
        return median(self.values(measure))


def pin(runs: Runs, measures: Sequence[str], allowed: float, critical: float) -> Baseline:
    """Make a baseline of runs; its limits are these shares of each measure's median.

    Raises `ConfigurationError` with everything that is wrong with the runs: too few, not of one
    kind, not passed, a measure that they do not have.
    """
    problems = [
        *runs.unfit(LEAST),
        *runs.unwritten(),
        *runs.unlike_limits(),
        *(f"{run.run_id}: its verdict is {run.verdict}, wanted pass: a baseline is of what is good"
          for run in runs if run.verdict != "pass"),
        *_unmeasured(runs, measures),
    ]  # fmt: skip
    for name, share in (("--allowed", allowed), ("--critical", critical)):
        if not 0 <= share <= _MOST_TIMES:
            wanted = f"wanted a share of the median, 0 to {_MOST_TIMES}"
            problems.append(f"{name}: found {share:g}, {wanted}")
    if critical < allowed:
        problems.append(f"--critical: found {critical:g}, wanted at least --allowed, {allowed:g}")
    if problems:
        raise ConfigurationError(problems)
    repeats = tuple(
        Repeat(
            run=run.run_id, role=role_of(run), values={name: run.value(name) for name in measures}
        )
        for run in runs
    )
    pinned = Baseline(
        pinned=wall_clock(),
        subject=runs[0].subject,
        cluster=runs[0].cluster,
        versions=dict(runs[0].impact.versions),
        limits=runs[0].limits,
        measures=tuple(_compared(name, repeats, allowed, critical) for name in measures),
        repeats=repeats,
    )
    if problems := _inconsistent(pinned):
        raise ConfigurationError(problems, "--measure says what else to compare")
    return pinned.model_copy(update={"digest": pinned.measured_digest()})


def role_of(run: FinishedRun) -> str | None:
    """Return the role of the node that a run broke, of several all; None where there are none."""
    return ", ".join(sorted(set(roles_of(run.impact)))) or None


def default_measures(runs: Runs) -> list[str]:
    """Return what is compared by default: what every run has a value of."""
    return [name for name in DEFAULT_MEASURES if runs.median(name) is not None]


def write(baseline: Baseline, path: Path, over: bool = False) -> None:
    """Write the file; one that is there is written over only if that is wanted."""
    if path.exists() and not over:
        raise ConfigurationError(
            f"{path}: is there already and is not written over", "say --force to pin anew"
        )
    data = yaml.safe_dump(baseline.model_dump(mode="python"), sort_keys=False, allow_unicode=True)
    try:
        path.write_text(_HEAD + data, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from error


def read(path: Path) -> Baseline:
    """Read a pinned baseline; raises `ConfigurationError` with all that is wrong in it."""
    data = parse_yaml(read_text(path, "baseline"), str(path))
    _refuse_older(path, data)
    try:
        baseline = Baseline.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(
            [f"{path}: {problem}" for problem in from_validation(error, Baseline)],
            "`brownout baseline pin` makes such a file",
        ) from error
    problems = [f"{path}: {problem}" for problem in _inconsistent(baseline)]
    if baseline.digest != baseline.measured_digest():
        problems.append(
            f"{path}: what was measured was changed after it was pinned: its digest is "
            f"{baseline.digest[:12] or 'missing'}, wanted {baseline.measured_digest()[:12]}; only "
            f"{', '.join(_OF_PEOPLE)} may be changed by hand. Restore the file, or pin it anew"
        )
    if problems:
        raise ConfigurationError(problems)
    return baseline


def _refuse_older(path: Path, data: Mapping[str, Any]) -> None:
    """Raise for a baseline from before its subject held the target and the variables."""
    repeats = data.get("repeats")
    if data.get("schema_version") != 1 or not isinstance(repeats, list):
        return
    runs = [each.get("run") for each in repeats if isinstance(each, Mapping)]
    raise ConfigurationError(
        f"{path}: was pinned by an older brownout and does not say which target and variables its "
        f"runs had, so a primary could be compared with a secondary: {', '.join(map(str, runs))}",
        f"make {LEAST} runs of the good version with this brownout, and "
        f"`brownout baseline pin RUN… -o {path} --force`; then set `allowed` and `critical` again",
    )


def _unmeasured(runs: Runs, measures: Sequence[str]) -> list[str]:
    problems = []
    for name in measures:
        if find(split(name)[1]) is None:
            problems.append(f"--measure: found {name!r}, wanted a measure of docs/measures.md")
            continue
        without = [run.run_id for run in runs if run.value(name) is None]
        if without:
            problems.append(f"--measure: {name}: there is no data in {', '.join(without)}")
    return problems


def _compared(name: str, repeats: Sequence[Repeat], allowed: float, critical: float) -> Compared:
    """The limits of a measure: shares of its median, but at least what can be resolved."""
    measure = find(split(name)[1])
    middle = median([repeat.values[name] for repeat in repeats]) or 0.0
    floor = measure.unit.floor if measure else 1.0
    size = 0.0 if math.isinf(middle) else abs(middle)
    return Compared(
        measure=name,
        allowed=round(max(floor, allowed * size), 6),
        critical=round(max(2 * floor, critical * size), 6),
    )


def _inconsistent(baseline: Baseline) -> list[str]:
    problems = []
    if len(baseline.repeats) < LEAST:
        problems.append(f"repeats: found {len(baseline.repeats)}, wanted at least {LEAST}")
    for compared in baseline.measures:
        where = f"measures: {compared.measure}"
        values = baseline.values(compared.measure)
        numbers = [value for value in values if value is not None and not math.isnan(value)]
        if len(numbers) < len(values) or not numbers:
            problems.append(f"{where}: not every repeat has a value; pin it anew")
        else:
            problems += [f"{where}: {problem}" for problem in _impossible(compared, numbers)]
        if compared.critical < compared.allowed:
            problems.append(
                f"{where}: critical is {compared.critical:g}, wanted at least what is allowed, "
                f"{compared.allowed:g}"
            )
    names = [compared.measure for compared in baseline.measures]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems += [f"measures: {name}: is defined twice" for name in twice]
    return problems


def _impossible(compared: Compared, values: Sequence[float]) -> Iterator[str]:
    """Say which values cannot have been measured, and which allowances nothing could exceed."""
    name = split(compared.measure)[1]
    measure = find(name)
    waits = name.startswith("latency_all.") or (measure is not None and measure.waits_for)
    for value in values:
        if value < 0 or (math.isinf(value) and not waits):
            yield f"found {value:g} in a repeat, wanted a number of 0 or more"
    never, middle = sum(map(math.isinf, values)), median(values) or 0.0
    if math.isinf(middle):
        yield f"it did not come about in {never} of {len(values)} repeats, so nothing is worse"
        return
    unit = measure.unit if measure else OPERATIONS
    most = _MOST_TIMES * max(middle, unit.minimum_pinned)
    times = f"{_MOST_TIMES} times what was pinned: whatever may be that much worse needs a limit"
    for setting in ("allowed", "critical"):
        value = getattr(compared, setting)
        if unit.maximum is not None and value >= unit.maximum:
            yield (
                f"{setting} is {value:g}, wanted less than {unit.maximum:g}: a {unit.name} "
                "cannot get worse by more"
            )
        elif unit.maximum is None and value > most:
            yield f"{setting} is {value:g}, wanted at most {most:g}, {times}"
