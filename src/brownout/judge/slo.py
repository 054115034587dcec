"""Limits on measures: read from `steady-state/slo/`, overridden on the way, each with its source.

    - measure: recovery_time
      limit: 10
      unit: s
      why: an election takes 2 to 3 s here; users retry for 10 s

A limit comes from `--var`, else from an OpenSLO file (`slo`), else the environment
(`BROWNOUT_LIMIT_RECOVERY_TIME=8`), else the experiment, else the file for its scenario and
database. `none` in place of a number drops it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError
from brownout.base.numbers import plain_number
from brownout.base.settings_file import load_yaml
from brownout.judge import slo_checks
from brownout.judge.slo_checks import item_problems, kind_of
from brownout.measure.measures import find

__all__ = [
    "DROPPED",
    "ENVIRONMENT_PREFIX",
    "Limit",
    "file_limits",
    "names",
    "parse",
    "place_problems",
    "resolve",
    "scenarios",
]

ENVIRONMENT_PREFIX = "BROWNOUT_LIMIT_"
#: In place of a limit's number: the limit is dropped.
DROPPED = "none"
_SHIPPED = files("brownout") / "steady-state" / "slo"
_SCOPES = ("total", "read", "write")


@dataclass(frozen=True, slots=True)
class Limit:
    """What a measure may be: at most (`availability` and its like: at least) `limit`.

    `limit` is in the measure's own unit; `limit_from` says who set it, `why` with what reason.
    """

    measure: str
    limit: float
    scope: str = "total"
    limit_from: str = ""
    why: str = ""

    @property
    def direction(self) -> str:
        """`at_most` or `at_least`."""
        measure = find(self.measure)
        return measure.direction if measure else "at_most"

    def as_dict(self) -> dict[str, Any]:
        """Return the limit as JSON data."""
        return asdict(self)


def names() -> list[str]:
    """Return the names of the limit files that come with brownout, `<scenario>.<database>`."""
    return sorted(
        item.name.removesuffix(".yaml")
        for item in _SHIPPED.iterdir()
        if item.name.endswith(".yaml")
    )


def resolve(
    *,
    scenario: str,
    database: str,
    streams: Iterable[str],
    experiment: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
    objectives: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> tuple[list[Limit], list[Limit]]:
    """Return every limit of a run, the one set nearest to the person, and those that were dropped.

    The mappings hold `measure` or `scope.measure` -> limit in the measure's own unit, or
    `DROPPED`; those of the environment its variables' names. A dropped limit is as it was, but
    `limit_from` says who dropped it. Raises `ConfigurationError` with every problem at once.
    """
    scopes = (*_SCOPES, *streams)
    problems: list[str] = []
    limits = {(limit.scope, limit.measure): limit for limit in file_limits(scenario, database)}
    for limit in limits.values():
        if limit.scope not in scopes:
            problems.append(_no_scope(f"{limit.limit_from}: {limit.measure}", limit.scope, scopes))
    dropped: dict[tuple[str, str], Limit] = {}
    for given in (
        *_by_name(experiment or {}, "experiment limits", "experiment"),
        *_by_variable(environment or {}, scopes),
        *_by_name(objectives or {}, "slo", "OpenSLO"),
        *_by_name(variables or {}, "--var limits", "--var limits"),
    ):
        place = given.scope, given.measure
        wrong = list(given.problems())
        problems += [f"{given.where}: {problem}" for problem in wrong]
        if given.scope not in scopes:
            problems.append(_no_scope(given.where, given.scope, scopes))
        if wrong or given.scope not in scopes:
            continue
        former = dropped.pop(place, None) or limits.get(place)
        if not given.drops:
            number, why = float(given.number), former.why if former else ""
            limits[place] = Limit(given.measure, number, given.scope, given.source, why)
        elif former:
            limits.pop(place, None)
            dropped[place] = replace(former, limit_from=given.source)
    if problems:
        raise ConfigurationError(problems)
    return list(limits.values()), list(dropped.values())


def scenarios() -> list[str]:
    """Return the scenarios that limits come with, on whatever database."""
    return sorted({name.rpartition(".")[0] for name in names()})


def file_limits(scenario: str, database: str) -> list[Limit]:
    """Return the limits that come with brownout for this scenario on this database, if any."""
    name = f"{scenario}.{database}"
    if name not in names():
        return []
    path = f"steady-state/slo/{name}.yaml"
    return parse((_SHIPPED / f"{name}.yaml").read_text("utf-8"), path)


def parse(text: str, source: str) -> list[Limit]:
    """Read limits from YAML; `source` is named in each limit and in every problem.

    Raises `ConfigurationError` with every problem at once.
    """
    try:
        data = load_yaml(text)
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        where = f"{source}:{place.line + 1}" if place else source
        raise ConfigurationError(
            f"{where}: is not YAML: {getattr(error, 'problem', None) or error}"
        ) from error
    if not isinstance(data, list):
        raise ConfigurationError(f"{source}: found {kind_of(data)}, wanted a list of limits")
    problems: list[str] = []
    limits: list[Limit] = []
    for number, item in enumerate(data):
        mistakes = list(item_problems(item))
        problems += [f"{source}: [{number}]{problem}" for problem in mistakes]
        if not mistakes:
            limits.append(_limit(item, source))
    places = [(limit.scope, limit.measure) for limit in limits]
    problems += [
        f"{source}: {measure} of {scope}: is limited twice; wanted one limit"
        for scope, measure in dict.fromkeys(p for p in places if places.count(p) > 1)
    ]
    if problems:
        raise ConfigurationError(problems)
    return limits


def place_problems(measure: str, scope: str, streams: Iterable[str]) -> list[str]:
    """Name all that is wrong with a measure and the scope that it is asked in."""
    scopes = (*_SCOPES, *streams)
    problems = list(slo_checks.place_problems(measure, scope))
    return problems if scope in scopes else [*problems, _no_scope(measure, scope, scopes)]


def _limit(item: Mapping[str, Any], source: str) -> Limit:
    """Make the limit of an item without problems, in its measure's own unit."""
    measure = find(item["measure"])
    unit = item.get("unit")
    factor = measure.unit.scales[unit] if measure and unit else 1.0
    value = round(item["limit"] * factor, 9)
    return Limit(item["measure"], value, item.get("scope", "total"), source, item["why"].strip())


@dataclass(frozen=True, slots=True)
class _Given:
    """One statement of a limit: `where` it stands for messages, `source` for the results."""

    measure: str
    scope: str
    raw: Any
    where: str
    source: str

    @property
    def drops(self) -> bool:
        return isinstance(self.raw, str) and self.raw.strip().lower() == DROPPED

    def problems(self) -> Iterator[str]:
        """Name all that is wrong with it."""
        if self.drops:
            return slo_checks.place_problems(self.measure, self.scope)
        return slo_checks.value_problems(self.measure, self.scope, self.number)

    @property
    def number(self) -> Any:
        """What was given, as a number if it is the text of one."""
        if not isinstance(self.raw, str):
            return self.raw
        try:
            return plain_number(self.raw)
        except ValueError:
            return self.raw


def _by_name(given: Mapping[str, Any], where: str, source: str) -> Iterator[_Given]:
    """Read limits by `measure` or `scope.measure`."""
    for name, raw in given.items():
        scope, measure = ("total", name) if find(name) else _split(name)
        yield _Given(measure, scope, raw, f"{where}: {name}", source)


def _by_variable(given: Mapping[str, Any], scopes: Sequence[str]) -> Iterator[_Given]:
    """Read limits by the name of an environment variable, `BROWNOUT_LIMIT_[<SCOPE>_]<MEASURE>`."""
    for variable, raw in given.items():
        scope, measure = _from_variable(variable.removeprefix(ENVIRONMENT_PREFIX), scopes)
        yield _Given(measure, scope, raw, variable, f"environment {variable}")


def _from_variable(name: str, scopes: Sequence[str]) -> tuple[str, str]:
    """Return the scope and measure that a variable stands for: its name has only underscores."""
    text = name.lower()
    for scope in ("", *sorted(scopes, key=len, reverse=True)):
        prefix = re.sub(r"[^a-z0-9]", "_", scope) + "_" if scope else ""
        rest = text.removeprefix(prefix)
        for measure in (rest, *_dotted(rest)):
            if text.startswith(prefix) and find(measure):
                return scope or "total", measure
    return "total", text


def _dotted(text: str) -> Iterator[str]:
    """Yield what `latency_during_p99_us` and `time_above_p99_10ms` may have been with dots."""
    yield re.sub(r"^(latency(?:_all)?)_(before|during|after)_", r"\1.\2.", text)
    yield re.sub(r"^time_above_", "time_above.", text)


def _split(name: str) -> tuple[str, str]:
    scope, dot, measure = name.partition(".")
    return (scope, measure) if dot else ("total", name)


def _no_scope(where: str, scope: str, scopes: Sequence[str]) -> str:
    return f"{where}: scope {scope!r} is unknown; wanted one of {', '.join(scopes)}"
