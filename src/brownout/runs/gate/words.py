"""A decision as people and programs read it: a table, Markdown for a pull request, JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brownout.measure.measures import label
from brownout.measure.reading import split
from brownout.runs.gate.judging import Comparison, Decision, Held
from brownout.runs.several import Finished
from brownout.show.report.grid import Grid, columns
from brownout.show.report.measured import NONE, worded
from brownout.show.report.words import STAND_IN

__all__ = ["as_document", "grids", "need", "say", "summary", "title"]

SIGNS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "left out": "–"}


def title(decision: Decision, runs: Sequence[Finished]) -> str:
    """`PASS: gate of node-kill on staging, stone 6.0.5, 5 runs`."""
    impact = runs[0].impact
    cluster = (impact.get("cluster") or {}).get("name") or "a cluster"
    scenario = (impact.get("experiment") or {}).get("name") or "run"
    return (
        f"{decision.word.upper()}: gate of {scenario} on {cluster}, {runs[0].server}, "
        f"{len(runs)} runs"
    )


def say(decision: Decision, runs: Sequence[Finished], remarks: Sequence[str]) -> str:
    """Return the decision for a terminal."""
    from brownout.show.report.grid_text import plain

    parts = [plain(grid) for grid in grids(decision)]
    stand_in = [STAND_IN] if runs[0].impact.get("stand_in") else []
    told = [f"note: {remark}" for remark in (*remarks, *_spared(decision))]
    last = [title(decision, runs), *(f"  {reason}" for reason in decision.reasons)]
    return "\n\n".join([*parts, "\n".join([*told, *stand_in, *last, *need(decision)])])


def summary(decision: Decision, runs: Sequence[Finished], remarks: Sequence[str]) -> str:
    """Return the decision as Markdown."""
    from brownout.show.report.grid_text import escaped, markdown

    stand_in = [f"**{STAND_IN}**"] if runs[0].impact.get("stand_in") else []
    lines = [
        f"### {SIGNS[decision.word]} {escaped(title(decision, runs))}",
        *stand_in,
        "\n".join(f"- {escaped(reason)}" for reason in (*decision.reasons, *need(decision))),
        *(markdown(grid) for grid in grids(decision)),
        "\n".join(f"- note: {escaped(r)}" for r in (*remarks, *_spared(decision))),
        f"<sub>{escaped(', '.join(run.run_id for run in runs))}</sub>",
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def grids(decision: Decision) -> list[Grid]:
    """Return the tables of a decision: the limits, and the comparison."""
    found = [Grid("Limits", columns("limit | scope | wanted:n | worst:n | met in:n | "),
                  [_limit_row(held) for held in decision.limits])]  # fmt: skip
    heads = "measure | baseline:n | now:n | worse by:n | 95 %:n | p:n | allowed:n | critical:n | "
    rows = [_row(each) for each in decision.comparisons]
    found.append(Grid("Against the baseline, medians of the repeats", columns(heads), rows))
    return [grid for grid in found if grid.rows]


def need(decision: Decision) -> list[str]:
    """Say how many repeats would decide what is open."""
    if not any(c.word == "inconclusive" for c in decision.comparisons):
        return []
    if decision.needed is None:
        return ["how many repeats would decide it is not known; more than 50, or data is missing"]
    return [f"about {decision.needed} repeats of either side would decide it"]


def as_document(
    decision: Decision, runs: Sequence[Finished], remarks: Sequence[str]
) -> dict[str, Any]:
    """Return the decision as JSON data; what never came is the text `never`."""
    return {
        "schema_version": 1,
        "verdict": decision.word,
        "reasons": list(decision.reasons),
        "repeats_needed": decision.needed,
        "runs": [{"run": r.run_id, "verdict": r.verdict, "server": r.server} for r in runs],
        "left_out": list(decision.left_out),
        "limits": [{**_finite(asdict(held)), "verdict": held.word} for held in decision.limits],
        "comparisons": [
            {**_finite(asdict(each)), "medians": _finite(each.medians)}
            for each in decision.comparisons
        ],
        "notes": list(remarks),
    }


def _limit_row(held: Held) -> list[str]:
    bound = "≥" if held.direction == "at_least" else "≤"
    value = NONE if held.value is None else _value(held.name, held.value)
    return [
        label(held.name), held.scope, f"{bound} {_value(held.name, held.limit)}", value,
        f"{held.met} of {held.met + held.unmet + held.open}", f"{SIGNS[held.word]} {held.word}",
    ]  # fmt: skip


def _row(each: Comparison) -> list[str]:
    scope, measure = split(each.measure)
    name = label(measure) + ("" if scope == "total" else f" ({scope})")
    limits = [_value(measure, each.allowed), _value(measure, each.critical)]
    word = f"{SIGNS[each.word]} {each.word}"
    if each.shift is None or each.medians is None:
        return [name, NONE, NONE, NONE, each.detail or NONE, NONE, *limits, word]
    found = each.shift
    interval = NONE
    if found.low is not None and found.high is not None:
        interval = f"{_value(measure, found.low)} to {_value(measure, found.high)}"
    return [
        name, *(_value(measure, median) for median in each.medians),
        _value(measure, found.estimate), interval, f"{each.p:.3f}", *limits, word,
    ]  # fmt: skip


def _value(measure: str, value: float) -> str:
    """A value or a difference with its unit; a sign before it where it is below 0."""
    if math.isinf(value):
        return "never" if value > 0 else "any"
    words = worded(measure, abs(value))
    return f"-{words}" if value < 0 and round(value, 6) else words


def _spared(decision: Decision) -> list[str]:
    return [f"left out, since it could not be judged: {name}" for name in decision.left_out]


def _finite(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "never"
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
