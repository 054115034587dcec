"""May these runs be held against this baseline? What forbids it, and what has to be said. Pure."""

from collections import Counter

from brownout.base.errors import ConfigurationError
from brownout.runs.gate.baseline import Baseline, role_of
from brownout.runs.run_set import LEAST, Runs

__all__ = ["check", "remarks"]


def check(runs: Runs, baseline: Baseline | None) -> None:
    """Raise `ConfigurationError` with every reason why the comparison would mean nothing."""
    if baseline is None:
        problems = [*runs.unfit(), *runs.unlike_limits()]
    else:
        pinned = {repeat.run for repeat in baseline.repeats}
        problems = runs.unfit(LEAST, baseline.subject, "the baseline")
        problems += runs.unwritten()
        problems += runs.unlike_limits(baseline.limits, "the baseline")
        problems += _other_roles(runs, baseline)
        problems += [
            f"{run.run_id}: is one of the baseline's own runs, wanted new ones"
            for run in runs
            if run.run_id in pinned
        ]
    if problems:
        raise ConfigurationError(problems)


def remarks(runs: Runs, baseline: Baseline | None) -> list[str]:
    """Say what differs although it may, so that it is not overlooked."""
    dropped = list(dict.fromkeys(words for run in runs for words in run.dropped))
    if baseline is None:
        return ["no baseline: only the runs' own limits were judged", *dropped]
    lines = dropped
    here = runs[0].impact.versions
    for name in sorted({*here, *baseline.versions}):
        before, now = baseline.versions.get(name), here.get(name)
        if before != now:
            lines.append(f"{name}: {now or 'none'}, baseline {before or 'none'}")
    clusters = sorted({run.cluster for run in runs})
    if clusters != [baseline.cluster]:
        lines.append(f"cluster: {', '.join(clusters)}, baseline {baseline.cluster}")
    broken, pinned = _roles(runs, baseline)
    if broken != pinned:
        lines.append(f"broken: {_counted(broken)}, baseline {_counted(pinned)}")
    return lines


def _roles(runs: Runs, baseline: Baseline) -> tuple[Counter[str], Counter[str]]:
    """Return how often a node of each role was broken, now and in the baseline."""
    now = Counter(role for run in runs.judged if (role := role_of(run)))
    return now, Counter(repeat.role for repeat in baseline.repeats if repeat.role)


def _other_roles(runs: Runs, baseline: Baseline) -> list[str]:
    """Say where a random target met no role that the baseline's met."""
    now, before = _roles(runs, baseline)
    if not now or not before or set(now) & set(before):
        return []
    return [
        f"these runs broke {_counted(now)}, the baseline's {_counted(before)}: name the role on "
        "both sides, for example with --set target=primary"
    ]


def _counted(roles: Counter[str]) -> str:
    return ", ".join(f"{count} × {role}" for role, count in sorted(roles.items())) or "no role"
