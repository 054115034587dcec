"""Put the page together: the material becomes what the template shows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base.words import duration
from brownout.measure.document import document_of
from brownout.show.report import plan, results, story, trust
from brownout.show.report.clocks import clocks
from brownout.show.report.data_table import data_table
from brownout.show.report.draw import draw
from brownout.show.report.faults import named
from brownout.show.report.figures import all_charts
from brownout.show.report.figures.frame import around, first_view
from brownout.show.report.grid import Cell, Column, Grid, flatten
from brownout.show.report.material import Material
from brownout.show.report.tiles import tiles
from brownout.show.report.timeline import numbered, timeline
from brownout.show.report.words import pace

__all__ = ["context", "deadline_words", "embedded", "eyebrow"]

CONTENTS = (
    ("time", "Over time"),
    ("recovery", "Recovery"),
    ("spectrum", "Response time"),
    ("limits", "Limits and measures"),
    ("events", "What happened"),
    ("ledger", "Acknowledged writes"),
    ("trust", "Validity"),
    ("setup", "How this run was made"),
)


def context(material: Material) -> dict[str, Any]:
    """Return the template's variables for one run."""
    charts = {
        key: draw(chart) | {"table": data_table(chart)}
        for key, chart in all_charts(material).items()
    }
    return {
        "charts": charts,
        "spectra": {
            "total": [key for key in charts if key.startswith("spectrum-total")],
            "parts": [key for key in charts if key.startswith(("spectrum-read", "spectrum-write"))],
        },
        "contents": CONTENTS,
        "missing": material.missing,
        "absent": list(material.missing.values()),
        "stand_in": material.stand_in,
        "deadline": deadline_words(material),
        "footer": _footer(material),
        "data": _data(material, charts),
        **_first_screen(material),
        **_results(material),
        **_setting(material),
    }


def _first_screen(material: Material) -> dict[str, Any]:
    """What happened to the cluster, what users felt, pass or fail and why."""
    impact = material.impact
    verdict = impact.verdict
    return {
        "title": _title(material),
        "version": _versions(material).get("brownout", ""),
        "eyebrow": eyebrow(material),
        "verdict": verdict,
        "verdict_sign": story.VERDICTS[verdict][0],
        "verdict_words": story.VERDICTS[verdict][1],
        "headline": story.headline(impact),
        "moments": numbered(timeline(impact), material.happenings),
        "felt": story.felt(impact),
        "why": story.why(impact),
        "tiles": tiles(impact),
    }


def _results(material: Material) -> dict[str, Any]:
    """What was found, and whether it can be believed."""
    faults = named(material.impact.faults)
    all_clocks = [clocks(fault, material.impact.slos, name) for name, fault in faults]
    return {
        "views": _views(material, faults),
        "clocks": [each for each in all_clocks if each is not None],
        "limits": results.limits(material),
        "measures": [results.measures(material.impact, fault, name) for name, fault in faults],
        "latencies": [results.latencies(fault, name) for name, fault in faults],
        "events": results.events(material),
        "errors": results.errors(material),
        "ledger": results.ledger(material),
        "validity": trust.validity(material),
        "baseline": trust.baseline(material),
        "noise": trust.noise(material),
        "health": trust.generator(material),
    }


def _setting(material: Material) -> dict[str, Any]:
    """How the run was made, and how to make it again."""
    command, note = plan.command(material)
    return {
        "plan": plan.plan(material),
        "command": command,
        "command_note": note,
        "setup": _setup(material),
    }


def deadline_words(material: Material) -> str:
    """`deadline 1 s`: it decided every result, so it heads every table and figure."""
    deadline = material.deadline_s
    return "deadline not known" if deadline is None else f"deadline {duration(deadline)}"


def _title(material: Material) -> str:
    name = material.impact.scenario or material.path.name
    stand_in = " (stand-in)" if material.stand_in else ""
    return f"{material.impact.verdict.upper()}: {name}{stand_in} · brownout"


def eyebrow(material: Material) -> str:
    """What was run, on what, with what: `node-wipe (kill) · staging, 3 … · seed 4711 · …`."""
    impact = material.impact
    mode = f" ({impact.mode})" if impact.mode else ""
    parts = [f"{impact.scenario or 'run'}{mode}"]
    if impact.cluster:
        parts.append(f"{impact.cluster_name}, {impact.members} × {impact.engine}")
    parts.append(f"{impact.workload_name or 'load'} {pace(impact.load)}".strip())
    parts.append(deadline_words(material))
    if impact.seed is not None:
        parts.append(f"seed {impact.seed}")
    created = material.generator.get("t0_wall") or material.metadata.get("created")
    if created:
        parts.append(str(created)[:16].replace("T", " ") + " UTC")
    return " · ".join(parts)


def _views(material: Material, faults: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    """The buttons that choose a part of the run, in the drawing's tenths of a second."""
    first = first_view(material)
    whole = (0.0, material.end)
    parts = [("Whole run", whole)]
    for (name, _), window in zip(faults, material.felt, strict=False):
        parts.append((name, around(material, [window])))
    if first not in [window for _, window in parts]:
        parts.append(("Around the faults", first))
    return [
        {"name": name, "start": round(10 * part[0]), "end": round(10 * part[1]),
         "first": part == first}
        for name, part in parts
    ]  # fmt: skip


def _setup(material: Material) -> list[Grid]:
    """Everything that was set, as it was resolved."""
    parts = {
        "Versions": _versions(material),
        "Cluster": material.metadata.get("cluster") or material.impact.cluster,
        "Workload": material.metadata.get("workload") or material.impact.workload,
        "Settings of the measures": material.metadata.get("settings"),
        "Driver": {key: material.generator[key] for key in ("driver", "driver_settings")
                   if key in material.generator},
        "Host of the load generator": material.metadata.get("host"),
    }  # fmt: skip
    return [
        Grid(name, [Column("setting"), Column("value", "wrap")],
             [[key, Cell(words, "code")] for key, words in flatten(part)])
        for name, part in parts.items()
        if part
    ]  # fmt: skip


def _versions(material: Material) -> dict[str, str]:
    return dict(material.metadata.get("versions") or {})


def _footer(material: Material) -> str:
    writer = _versions(material).get("brownout")
    by = f"brownout {writer}" if writer else "brownout"
    return (
        f"Made by {by} from the run directory {material.path.name}; `brownout report` makes it "
        "again. What every number means: docs/measures.md."
    )


def _data(material: Material, charts: Mapping[str, Any]) -> str:
    """What the script reads, safe inside a script element."""
    t0 = material.generator.get("t0_unix_ns")
    data = {
        "t0": None if t0 is None else t0 / 1e9,
        "impact": document_of(material.impact) if material.has_impact else {},
        "charts": {key: chart["data"] for key, chart in charts.items()},
    }
    return embedded(data)


def embedded(data: Mapping[str, Any]) -> str:
    """Return data as JSON that is safe inside a script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, default=str)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
