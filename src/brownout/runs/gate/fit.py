"""May these runs be held against this baseline? What forbids it, and what has to be said. Pure."""

from brownout.base.errors import ConfigurationError
from brownout.runs.gate.baseline import Baseline
from brownout.runs.run_set import LEAST, Runs

__all__ = ["check", "remarks"]


def check(runs: Runs, baseline: Baseline | None) -> None:
    """Raise `ConfigurationError` with every reason why the comparison would mean nothing."""
    if baseline is None:
        problems = [*runs.unfit(), *runs.unlike_limits()]
    else:
        pinned = {repeat.run for repeat in baseline.repeats}
        problems = runs.unfit(LEAST, baseline.subject, "the baseline")
        problems += runs.unlike_limits(baseline.limits, "the baseline" if baseline.limits else "")
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
    if baseline.limits is None:
        lines.append("the baseline does not say by which limits its runs were judged; pin it again")
    here = runs[0].impact.versions
    for name in sorted({*here, *baseline.versions}):
        before, now = baseline.versions.get(name), here.get(name)
        if before != now:
            lines.append(f"{name}: {now or 'none'}, baseline {before or 'none'}")
    clusters = sorted({run.cluster for run in runs})
    if clusters != [baseline.cluster]:
        lines.append(f"cluster: {', '.join(clusters)}, baseline {baseline.cluster}")
    return lines
