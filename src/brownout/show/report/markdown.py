"""A run in Markdown, for chats and pull requests: the verdict, the figures, the reasons."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.base.words import duration
from brownout.judge.analysis import analyze
from brownout.measure.measures import label
from brownout.run.directory import RunDirectory
from brownout.show.report import canary, story
from brownout.show.report.grid_text import escaped
from brownout.show.report.measured import bound, found
from brownout.show.report.results import met
from brownout.show.report.tiles import tiles
from brownout.show.report.words import pace

__all__ = ["render", "write_markdown"]

Impact = Mapping[str, Any]


def write_markdown(run: Path) -> str:
    """Return the run in `run` as Markdown; raises `RunDirectoryError` where it is none."""
    directory = RunDirectory.open(run)
    impact = directory.read_impact() if directory.impact.is_file() else analyze(directory.path)
    return render(impact, directory.run_id)


def render(impact: Impact, run_id: str) -> str:
    """Return `impact` as Markdown: what was done, a table, why the verdict is what it is."""
    verdict = str(impact["verdict"])
    sign, _ = story.VERDICTS[verdict]
    stand_in = " (stand-in)" if impact.get("stand_in") else ""
    lines = [
        f"### {sign} {verdict.upper()}: {_name(impact)}{stand_in}",
        "",
        escaped(story.headline(impact)),
        "",
        *_table(impact, stand_in),
        "",
        *(f"- {escaped(line)}" for line in story.felt(impact)),
        *_beside(impact),
        "",
        "**Why**",
        "",
        *(f"- {escaped(line)}" for line in story.why(impact)),
        "",
        f"<sub>{escaped(_circumstances(impact, run_id))}</sub>",
    ]
    return "\n".join(lines) + "\n"


def _beside(impact: Impact) -> list[str]:
    """What the canary saw, where the run had one."""
    seen = impact.get("canary")
    return [f"- {escaped(canary.summary(seen))}"] if seen else []


def _table(impact: Impact, stand_in: str) -> list[str]:
    """The tiles of the report's first screen, then every other limit."""
    deadline = impact.get("deadline_s")
    known = "not known" if deadline is None else duration(float(deadline))
    shown = tiles(impact)
    rows = [(t.name, t.value, t.limit, t.met.words if t.met else "") for t in shown]
    first = {(t.measure, "total") for t in shown}
    for slo in impact.get("slos") or []:
        if (slo["name"], slo["scope"]) not in first:
            rows.append(_limit(slo))
    if not rows:
        return ["Nothing was measured."]
    head = [f"| measure (deadline {known}){stand_in} | found | limit | |", "|---|--:|--:|---|"]
    return [*head, *("| " + " | ".join(map(escaped, row)) + " |" for row in rows)]


def _limit(slo: Mapping[str, Any]) -> tuple[str, str, str, str]:
    scope = "" if slo["scope"] == "total" else f" ({slo['scope']})"
    return label(slo["name"]) + scope, found(slo), bound(slo), met(slo["met"]).words


def _name(impact: Impact) -> str:
    experiment = impact.get("experiment") or {}
    mode = f" ({experiment['mode']})" if experiment.get("mode") else ""
    cluster = impact.get("cluster") or {}
    where = f" on {cluster['name']}" if cluster.get("name") else ""
    return f"{experiment.get('name') or 'run'}{mode}{where}"


def _circumstances(impact: Impact, run_id: str) -> str:
    cluster, load = impact.get("cluster") or {}, impact.get("load") or {}
    workload = (impact.get("workload") or {}).get("name")
    parts = [
        f"{cluster['members']} × {cluster['engine']}" if cluster.get("engine") else "",
        f"workload {workload}" if workload else "",
        pace(load),
        f"seed {impact['seed']}" if impact.get("seed") is not None else "",
        run_id,
    ]
    return " · ".join(part for part in parts if part)
