"""May these runs be held against this baseline? What forbids it, and what has to be said. Pure."""

from collections.abc import Sequence

from brownout.base.errors import ConfigurationError
from brownout.measure.subject import differences, subject_of
from brownout.runs.gate.baseline import NO_LIMIT, Baseline
from brownout.runs.repeats.distribution import LEAST
from brownout.runs.several import Finished

__all__ = ["check", "remarks"]


def check(runs: Sequence[Finished], baseline: Baseline | None) -> None:
    """Raise `ConfigurationError` with every reason why the comparison would mean nothing."""
    problems = [f"{run.run_id}: {NO_LIMIT}" for run in runs if not run.impact["slos"]]
    wanted = baseline.subject if baseline else subject_of(runs[0].impact)
    of = "the baseline" if baseline else runs[0].run_id
    for run in runs:
        problems += [
            f"{run.run_id}: {name} is {found}, but {pinned} in {of}"
            for name, pinned, found in differences(wanted, subject_of(run.impact))
        ]
    servers = sorted({run.server for run in runs})
    if len(servers) > 1:
        problems.append(f"found runs of {' and of '.join(servers)}, wanted one version: give the "
                        "others to a gate of their own")  # fmt: skip
    if baseline is not None:
        problems += _against(runs, baseline)
    if problems:
        raise ConfigurationError(problems)


def remarks(runs: Sequence[Finished], baseline: Baseline | None) -> list[str]:
    """Say what differs and may, so that nobody overlooks it."""
    if baseline is None:
        return ["no baseline: only the runs' own limits were judged"]
    said = []
    here = dict(runs[0].impact.get("versions") or {})
    for name in sorted({*here, *baseline.versions}):
        before, now = baseline.versions.get(name), here.get(name)
        if before != now:
            said.append(f"{name}: {now or 'none'}, baseline {before or 'none'}")
    clusters = sorted({str((run.impact.get("cluster") or {}).get("name")) for run in runs})
    if clusters != [baseline.cluster]:
        said.append(f"cluster: {', '.join(clusters)}, baseline {baseline.cluster}")
    return said


def _against(runs: Sequence[Finished], baseline: Baseline) -> list[str]:
    problems = []
    if len(runs) < LEAST:
        problems.append(
            f"found {len(runs)} runs, wanted at least {LEAST}: the replicate is a fault, and "
            "fewer cannot show a difference"
        )
    pinned = {repeat.run for repeat in baseline.repeats}
    problems += [
        f"{run.run_id}: is one of the baseline's own runs, wanted new ones"
        for run in runs
        if run.run_id in pinned
    ]
    return problems
