"""A run in Markdown, for chats and pull requests: the verdict, the figures, the reasons."""

from pathlib import Path

from brownout.base.words import duration
from brownout.judge.analysis import analyze
from brownout.measure.document import read_impact
from brownout.measure.impact import Impact, Judged
from brownout.measure.measures import label
from brownout.run.directory import RunDirectory
from brownout.show.report import story
from brownout.show.report.faults import named
from brownout.show.report.grid import Grid, columns, escaped
from brownout.show.report.results import met
from brownout.show.report.table import HEADS, rows
from brownout.show.report.tiles import tiles
from brownout.show.report.timeline import timeline
from brownout.show.report.values import bound, result
from brownout.show.report.words import pace

__all__ = ["render", "write_markdown"]


def write_markdown(run: Path) -> str:
    """Return the run in `run` as Markdown; raises `RunDirectoryError` if it is not a run."""
    directory = RunDirectory.open(run)
    impact = read_impact(directory) if directory.impact.is_file() else analyze(directory.path)
    return render(impact, directory.run_id)


def render(impact: Impact, run_id: str) -> str:
    """Return `impact` as Markdown: what was done, a table, why the verdict is what it is."""
    sign, _ = story.VERDICTS[impact.verdict]
    stand_in = " (stand-in)" if impact.stand_in else ""
    lines = [
        f"### {sign} {impact.verdict.upper()}: {_name(impact)}{stand_in}",
        "",
        escaped(story.headline(impact)),
        "",
        *_table(impact, stand_in),
        *_by_fault(impact),
        "",
        *(f"- {escaped(line)}" for line in story.felt(impact)),
        *_happened(impact),
        "",
        "**Why**",
        "",
        *(f"- {escaped(line)}" for line in story.why(impact)),
        "",
        f"<sub>{escaped(_circumstances(impact, run_id))}</sub>",
    ]
    return "\n".join(lines) + "\n"


def _happened(impact: Impact) -> list[str]:
    """Who was broken, who took over, when all was back."""
    moments = timeline(impact)
    if not moments:
        return []
    return ["", "**What happened**", "", *(f"- {escaped(moment.line)}" for moment in moments)]


def _table(impact: Impact, stand_in: str) -> list[str]:
    """The tiles of the report's first screen, then every other limit."""
    deadline = impact.deadline_s
    words = "not known" if deadline is None else duration(deadline)
    shown = tiles(impact)
    rows = [(t.name, t.value, t.limit, t.met.words if t.met else "") for t in shown]
    first = {(t.measure, "total") for t in shown}
    for slo in impact.slos:
        if (slo.name, slo.scope) not in first:
            rows.append(_limit(slo))
    if not rows:
        return ["Nothing was measured."]
    heads = columns(f"measure (deadline {words}){stand_in} | found:n | limit:n | ")
    return Grid("", heads, rows).markdown().splitlines()


def _by_fault(impact: Impact) -> list[str]:
    """A table of each fault under its name, where there are several."""
    if len(impact.faults) < 2:
        return []
    lines = []
    for place, (name, fault) in enumerate(named(impact.faults)):
        grid = Grid("", columns(" | ".join(HEADS)), rows(impact, fault, place))
        lines += ["", f"**{escaped(name)}**", "", *grid.markdown().splitlines()]
    return lines


def _limit(slo: Judged) -> tuple[str, str, str, str]:
    scope = "" if slo.scope == "total" else f" ({slo.scope})"
    return label(slo.name) + scope, result(slo), bound(slo), met(slo.met).words


def _name(impact: Impact) -> str:
    mode = f" ({impact.mode})" if impact.mode else ""
    where = f" on {impact.cluster_name}" if impact.cluster_name else ""
    return f"{impact.scenario or 'run'}{mode}{where}"


def _circumstances(impact: Impact, run_id: str) -> str:
    parts = [
        f"{impact.members} × {impact.engine}" if impact.engine else "",
        f"workload {impact.workload_name}" if impact.workload_name else "",
        pace(impact.load),
        f"seed {impact.seed}" if impact.seed is not None else "",
        run_id,
    ]
    return " · ".join(part for part in parts if part)
