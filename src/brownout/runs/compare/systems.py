"""Runs sorted into the systems that are compared, and what forbids to compare them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.measure.reading import value_of
from brownout.measure.subject import differences, load_of, subject_of
from brownout.runs.several import Finished

__all__ = ["MOST", "System", "mixtures", "remarks", "sort"]

#: So many lines can be told apart.
MOST = 6
#: What two systems may differ in, and the reader has to know.
_TOLD = ("environment", "members", "rate", "workload.name")


@dataclass(frozen=True, slots=True)
class System:
    """One system: what people call it, and its runs."""

    name: str
    runs: tuple[Finished, ...]

    @property
    def subject(self) -> Mapping[str, Any]:
        """What its runs were about."""
        return subject_of(self.runs[0].impact)

    @property
    def stand_in(self) -> bool:
        """Whether it is a stand-in of ours."""
        return bool(self.runs[0].impact.get("stand_in"))

    def median(self, measure: str, scope: str = "total") -> float | None:
        """The median over the runs, the higher of two; None where one does not know it."""
        values = [value_of(run.impact, measure, scope) for run in self.runs]
        known = [value for value in values if value is not None]
        return median_high(known) if known and len(known) == len(values) else None

    @property
    def baseline_tps(self) -> float | None:
        """What it served before the fault, per second; the median over the runs."""
        found = [(run.impact.get("baseline") or {}).get("tps") for run in self.runs]
        known = [float(tps) for tps in found if tps]
        return median_high(known) if known and len(known) == len(found) else None

    @property
    def typical(self) -> Finished:
        """The run that is drawn: that with the median of what was lost."""
        lost = [(value_of(run.impact, "lost_seconds") or 0.0, n) for n, run in enumerate(self.runs)]
        return self.runs[sorted(lost)[len(lost) // 2][1]]


def sort(runs: Sequence[tuple[str, Finished]]) -> list[System]:
    """Sort runs into systems: by the names given, else by cluster, version and subject.

    Raises `ConfigurationError` for other scenarios, unlike runs under one name, fewer than two
    systems or more than `MOST`.
    """
    problems = _of_other_scenarios([run for _, run in runs])
    groups: dict[str, list[Finished]] = {}
    for given, run in runs:
        groups.setdefault(given or _name(run, [other for _, other in runs]), []).append(run)
    for name, members in groups.items():
        problems += [
            f"{run.run_id} is called {name} as {members[0].run_id} is, but its {what} is another: "
            "give it another name"
            for run in members[1:]
            for what in _unlike(run, members[0])
        ]
    if not 2 <= len(groups) <= MOST:
        problems.append(
            f"found {len(groups)} systems, wanted 2 to {MOST}; NAME=RUN names one by hand"
        )
    if problems:
        raise ConfigurationError(problems)
    return [System(name, tuple(members)) for name, members in groups.items()]


def mixtures(systems: Sequence[System]) -> list[str]:
    """Say what is mixed that makes figures side by side mislead."""
    found = []
    kinds = {system.stand_in for system in systems}
    if len(kinds) == 2:
        names = ", ".join(s.name for s in systems if s.stand_in)
        found.append(f"stand-ins stand beside real systems: {names} is no database, and its "
                     "figures say nothing of one")  # fmt: skip
    if len(loops := {str(s.subject["loop"]) for s in systems}) > 1:
        found.append(f"loops are mixed ({', '.join(sorted(loops))}): a closed loop offers less "
                     "while it waits, so it loses less by its own account")  # fmt: skip
    for what, of in (("resolutions", _resolution), ("deadlines", _deadline)):
        if len(values := {of(system) for system in systems}) > 1:
            found.append(f"{what} are mixed ({', '.join(sorted(values))}): they decide every drop "
                         "and every loss")  # fmt: skip
    return found


def remarks(systems: Sequence[System]) -> list[str]:
    """Say what else differs: the main things with their values, settings of the load by name."""
    told = [
        f"{key}: " + ", ".join(f"{s.name} {s.subject.get(key)}" for s in systems)
        for key in _TOLD
        if len({str(s.subject.get(key)) for s in systems}) > 1
    ]
    first = load_of(systems[0].subject)
    unlike = dict.fromkeys(
        name
        for system in systems[1:]
        for name, *_ in differences(first, load_of(system.subject))
        if name not in _TOLD
    )
    return [*told, *([f"settings of the load differ: {', '.join(unlike)}"] if unlike else [])]


def _of_other_scenarios(runs: Sequence[Finished]) -> list[str]:
    first = subject_of(runs[0].impact)
    return [
        f"{run.run_id}: {name} is {own[name]}, but {first[name]} in {runs[0].run_id}; wanted one "
        "scenario"
        for run in runs[1:]
        for own in [subject_of(run.impact)]
        for name in ("scenario", "mode")
        if own[name] != first[name]
    ]


def _name(run: Finished, others: Sequence[Finished]) -> str:
    """`stone 6.0.5 on staging`, and more where another run would be called the same."""
    versions = run.impact.get("versions") or {}
    release = f" {versions['release']}" if versions.get("release") else ""
    name = _plain(run)
    unlike = dict.fromkeys(
        what for other in others if _plain(other) == name for what in _unlike(run, other)
    )
    subject = subject_of(run.impact)
    shown = [what for what in unlike if "." not in what] or list(unlike)
    more = "".join(f", {what} {subject[what]}" for what in shown if what in subject)
    return f"{name}{release}{more}"


def _plain(run: Finished) -> str:
    return f"{run.server} on {(run.impact.get('cluster') or {}).get('name')}"


def _unlike(run: Finished, other: Finished) -> list[str]:
    unlike = [name for name, *_ in differences(subject_of(run.impact), subject_of(other.impact))]
    return [*unlike, *(["server"] if run.server != other.server else [])]


def _resolution(system: System) -> str:
    settings = system.runs[0].impact.get("settings") or {}
    found = settings.get("resolution_s")
    return "0.1 s" if found is None else f"{found:g} s"


def _deadline(system: System) -> str:
    found = system.runs[0].impact.get("deadline_s")
    return "not known" if found is None else f"{found:g} s"
