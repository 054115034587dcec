"""Runs sorted into the systems that are compared, and what forbids to compare them. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.measure.subject import differences, roles_of
from brownout.runs.run_set import FinishedRun, Runs, median

__all__ = ["MOST", "System", "mixtures", "remarks", "sort"]

#: So many lines can be told apart.
MOST = 6
#: What two systems may differ in, and the reader has to know.
_TOLD = ("environment", "members", "rate", "workload.name")
#: Variables that change no fault; a limit alone may have set how long a milestone is awaited.
_OF_NO_FAULT = ("variables.canary", "variables.milestone_limit_s")
#: Of the measures' settings, the one that mixtures name.
_RESOLUTION = "settings.resolution_s"


@dataclass(frozen=True, slots=True)
class System:
    """One system: what people call it, and its runs."""

    name: str
    runs: Runs

    @property
    def subject(self) -> Mapping[str, Any]:
        """What its runs were about."""
        return self.runs[0].subject

    @property
    def baseline_tps(self) -> float | None:
        """What it served before the fault, per second; the median over the runs."""
        return median([run.impact.baseline.tps or None for run in self.runs])

    @property
    def driver(self) -> str:
        """The driver of its first run, with the settings that decide a failover."""
        return self.runs[0].driver

    @property
    def typical(self) -> FinishedRun:
        """The run that is drawn: that with the median of what was lost."""
        lost = [(run.value("lost_seconds") or 0.0, n) for n, run in enumerate(self.runs)]
        return self.runs[sorted(lost)[len(lost) // 2][1]]


def sort(runs: Sequence[tuple[str, FinishedRun]]) -> list[System]:
    """Sort runs into systems: by the names given, else by cluster, version and subject.

    Raises `ConfigurationError` for other scenarios, unlike runs under one name, fewer than two
    systems or more than `MOST`.
    """
    every = Runs(run for _, run in runs)
    problems = every.unlike(among=("scenario", "mode"))
    groups: dict[str, list[FinishedRun]] = {}
    for given, run in runs:
        groups.setdefault(given or _name(run, every), []).append(run)
    systems = [System(name, Runs(members)) for name, members in groups.items()]
    for system in systems:
        problems += [
            f"{problem}, which is called {system.name} too: give it another name"
            for problem in system.runs.unlike()
        ]
    if not 2 <= len(groups) <= MOST:
        problems.append(
            f"found {len(groups)} systems, wanted 2 to {MOST}; NAME=RUN names one by hand"
        )
    if problems:
        raise ConfigurationError(problems)
    return systems


def mixtures(systems: Sequence[System]) -> list[str]:
    """Say what is mixed that makes figures side by side mislead."""
    mixed = []
    kinds = {system.runs.stand_in for system in systems}
    if len(kinds) == 2:
        names = ", ".join(s.name for s in systems if s.runs.stand_in)
        mixed.append(f"stand-ins are compared with real systems: {names} is not a database, and "
                     "its figures say nothing about one")  # fmt: skip
    if len(loops := {str(s.subject["loop"]) for s in systems}) > 1:
        mixed.append(f"loops are mixed ({', '.join(sorted(loops))}): a closed loop offers less "
                     "while it waits, so it loses less by its own account")  # fmt: skip
    for what, of in (("resolutions", _resolution), ("deadlines", _deadline)):
        if len(values := {of(system) for system in systems}) > 1:
            mixed.append(f"{what} are mixed ({', '.join(sorted(values))}): they decide every drop "
                         "and every loss")  # fmt: skip
    for what, path in (("variables", "variables."), ("steps of the method", "method.")):
        if unlike := _unlike(systems, path, but=_OF_NO_FAULT):
            words = _in_words(systems, unlike)
            mixed.append(f"{what} are mixed ({words}): the experiment did not break the same")
    return mixed


def remarks(systems: Sequence[System]) -> list[str]:
    """Say what else differs, with the values; the settings of the load by name."""
    unlike = [name for name in _TOLD if len({str(s.subject.get(name)) for s in systems}) > 1]
    unlike += [name for name in _unlike(systems, "variables.") if name in _OF_NO_FAULT]
    unlike += _unlike(systems, "settings.", but=(_RESOLUTION,))
    notes = [_in_words(systems, [name]) for name in unlike]
    if len({s.driver for s in systems}) > 1:
        notes.append("driver: " + ", ".join(f"{s.name} {s.driver}" for s in systems))
    roles = {system.name: _roles(system) for system in systems}
    if len({words for words in roles.values() if words}) > 1:
        notes.append("broken: " + "; ".join(f"{name} {words}" for name, words in roles.items()))
    load = _unlike(systems, "workload.", but=_TOLD)
    return [*notes, *([f"settings of the load differ: {', '.join(load)}"] if load else [])]


def _unlike(systems: Sequence[System], path: str, but: Sequence[str] = ()) -> list[str]:
    """Return the names below `path` in which a system differs from the first, without `but`."""
    unlike = dict.fromkeys(
        name
        for system in systems[1:]
        for name, *_ in differences(systems[0].subject, system.subject)
    )
    return [name for name in unlike if name.startswith(path) and name not in but]


def _in_words(systems: Sequence[System], names: Sequence[str]) -> str:
    """`variables.downtime_s: before 5.0, after 60.0`."""
    return "; ".join(
        f"{name}: " + ", ".join(f"{s.name} {s.subject.get(name)}" for s in systems)
        for name in names
    )


def _roles(system: System) -> str:
    """Count the roles broken first, as `1 × primary, 3 × secondary`; empty without roles."""
    roles = [next(iter(roles_of(run.impact)), "") for run in system.runs]
    counts = Counter(role for role in roles if role)
    return ", ".join(f"{count} × {role}" for role, count in sorted(counts.items()))


def _name(run: FinishedRun, others: Runs) -> str:
    """`stone 6.0.5 on staging`, and more where another run would be called the same."""
    version = run.impact.versions.get("release")
    release = f" {version}" if version else ""
    name = _plain(run)
    unlike = dict.fromkeys(
        what for other in others if _plain(other) == name for what in run.differences(other)
    )
    subject = run.subject
    shown = [what for what in unlike if "." not in what] or list(unlike)
    more = "".join(f", {what} {subject[what]}" for what in shown if what in subject)
    return f"{name}{release}{more}"


def _plain(run: FinishedRun) -> str:
    return f"{run.server} on {run.cluster}"


def _resolution(system: System) -> str:
    resolution = system.runs[0].impact.settings.get("resolution_s")
    return "0.1 s" if resolution is None else f"{resolution:g} s"


def _deadline(system: System) -> str:
    deadline = system.runs[0].impact.deadline_s
    return "not known" if deadline is None else f"{deadline:g} s"
