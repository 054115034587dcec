"""A decision as people and programs read it: a table, Markdown, JSON, and cases for JUnit XML."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brownout.measure.measures import label, split
from brownout.runs.gate.decision import Comparison, Decision, Held
from brownout.runs.outcomes import cells as dotted
from brownout.runs.run_set import Runs, never
from brownout.runs.share import excluded_words
from brownout.show.report.grid import Cell, Grid, columns, escaped
from brownout.show.report.junit import Case
from brownout.show.report.values import NONE, signed
from brownout.show.report.words import STAND_IN

__all__ = ["as_document", "cases", "properties", "say", "summary", "title"]

SIGNS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "left out": "–"}


def title(decision: Decision, runs: Runs) -> str:
    """`PASS: gate of node-kill on staging, stone 6.0.5, 5 runs`."""
    what = f"gate of {runs[0].scenario} on {runs[0].cluster}, {runs[0].server}, {len(runs)} runs"
    return f"{decision.word.upper()}: {what}"


def say(decision: Decision, runs: Runs, remarks: Sequence[str]) -> str:
    """Return the decision for a terminal."""
    parts = [grid.plain() for grid in grids(decision)]
    stand_in = [STAND_IN] if runs.stand_in else []
    notes = [f"note: {each}" for each in (*remarks, *_spared(decision, runs), *_excluded(runs))]
    last = [title(decision, runs), *(f"  {reason}" for reason in decision.reasons)]
    return "\n\n".join([*parts, "\n".join([*notes, *stand_in, *last, *need(decision)])])


def summary(decision: Decision, runs: Runs, remarks: Sequence[str]) -> str:
    """Return the decision as Markdown."""
    stand_in = [f"**{STAND_IN}**"] if runs.stand_in else []
    notes = (*remarks, *_spared(decision, runs), *_excluded(runs))
    lines = [
        f"### {SIGNS[decision.word]} {escaped(title(decision, runs))}",
        *stand_in,
        "\n".join(f"- {escaped(reason)}" for reason in (*decision.reasons, *need(decision))),
        *(grid.markdown() for grid in grids(decision)),
        "\n".join(f"- note: {escaped(note)}" for note in notes),
        f"<sub>{escaped(', '.join(run.run_id for run in runs))}</sub>",
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def grids(decision: Decision) -> list[Grid]:
    """Return the tables of a decision: the limits, and the comparison."""
    tables = [Grid("Limits", columns("limit | scope | wanted:n | worst:n | met in:n | "),
                  [_limit_row(held) for held in decision.limits])]  # fmt: skip
    heads = "measure | baseline:n | now:n | worse by:n | 95 %:n | p:n | allowed:n | critical:n | "
    rows = [_row(each) for each in decision.comparisons]
    tables.append(Grid("Against the baseline, medians of the repeats", columns(heads), rows))
    return [grid for grid in tables if grid.rows]


def need(decision: Decision) -> list[str]:
    """Say how many repeats would decide what is open."""
    if not any(c.word == "inconclusive" for c in decision.comparisons):
        return []
    if decision.needed is None:
        return ["how many repeats would decide it is not known; more than 50, or data is missing"]
    return [f"about {decision.needed} repeats of either side would decide it"]


def as_document(decision: Decision, runs: Runs, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the decision as JSON data; what never came is the text `never`."""
    return {
        "schema_version": 1,
        "verdict": decision.word,
        "reasons": list(decision.reasons),
        "repeats_needed": decision.needed,
        "runs": [{"run": r.run_id, "verdict": r.verdict, "server": r.server} for r in runs],
        "left_out": list(decision.left_out),
        "limits": [{**never(asdict(held)), "verdict": held.word} for held in decision.limits],
        "comparisons": [
            {**never(asdict(each)), "medians": never(each.medians)} for each in decision.comparisons
        ],
        "notes": list(remarks),
    }


def _limit_row(held: Held) -> list[str]:
    bound = "≥" if held.direction == "at_least" else "≤"
    return [
        label(held.name), held.scope, f"{bound} {signed(held.name, held.limit)}",
        signed(held.name, held.value),
        f"{held.met} of {held.met + held.unmet + held.open}", f"{SIGNS[held.word]} {held.word}",
    ]  # fmt: skip


def _row(each: Comparison) -> list[str | Cell]:
    scope, measure = split(each.measure)
    name = label(measure) + ("" if scope == "total" else f" ({scope})")
    limits = [signed(measure, each.allowed), signed(measure, each.critical)]
    word = f"{SIGNS[each.word]} {each.word}"
    if each.shift is None or each.medians is None:
        return [name, NONE, NONE, NONE, each.detail or NONE, NONE, *limits, word]
    difference = each.shift
    interval = NONE
    if difference.low is not None and difference.high is not None:
        interval = f"{signed(measure, difference.low)} to {signed(measure, difference.high)}"
    medians = dotted(measure, [each.before, each.after])
    worse = signed(measure, difference.estimate)
    return [name, *medians, worse, interval, f"{each.p:.3f}", *limits, word]


def _spared(decision: Decision, runs: Runs) -> list[str]:
    return [
        f"left out, since it could not be judged: {run.run_id}: "
        f"{next(iter(run.impact.reasons), 'no reason is recorded')}"
        for run in runs
        if run.run_id in decision.left_out
    ]


def _excluded(runs: Runs) -> list[str]:
    return [excluded_words(len(runs.judged))] if runs.judged else []


def cases(decision: Decision, runs: Runs) -> list[Case]:
    """Return every thing that was judged, with what was seen of it.

    A case has the same name in every gate of the same experiment, so that a CI knows it again:
    the first run is `run 1`, whatever its id is.
    """
    group = f"brownout.{runs[0].scenario}"
    results = []
    for number, run in enumerate(runs, 1):
        word = "left out" if run.run_id in decision.left_out else run.verdict
        why = "; ".join(run.impact.reasons)
        seen = f"{run.run_id}: {run.verdict}\n{run.path}"
        name, took_s = f"run {number}", run.impact.load.duration_s or 0.0
        results.append(Case(f"{group}.run", name, word, why, seen, took_s))
    rows = iter([row for grid in grids(decision) for row in _rows(grid)])
    for held in decision.limits:
        name = held.name if held.scope == "total" else f"{held.scope}.{held.name}"
        results.append(Case(f"{group}.limit", name, held.word, _beyond(held), next(rows)))
    for each in decision.comparisons:
        why = _worse(each)
        results.append(Case(f"{group}.baseline", each.measure, each.word, why, next(rows)))
    return results


def _beyond(held: Held) -> str:
    """`total outage: worst 2.9 s, limit ≤ 0.5 s; not met in 5 of 5 runs`."""
    label_, _, limit, worst, *_ = _limit_row(held)
    runs = held.met + held.unmet + held.open
    state = f"open in {held.open}" if held.word == "inconclusive" else f"not met in {held.unmet}"
    return f"{label_}: worst {worst}, limit {limit}; {state} of {runs} runs"


def _worse(each: Comparison) -> str:
    """`worse than allowed: by 4 s, allowed 0.6 s, critical 1.5 s`."""
    if each.shift is None:
        return each.detail
    worse, allowed, critical = (
        signed(split(each.measure)[1], value)
        for value in (each.shift.estimate, each.allowed, each.critical)
    )
    return f"{each.detail}: by {worse}, allowed {allowed}, critical {critical}"


def properties(decision: Decision, runs: Runs) -> dict[str, str]:
    """Return what a CI may show beside the cases."""
    values = {
        "brownout.verdict": decision.word,
        "brownout.scenario": runs[0].scenario,
        "brownout.cluster": runs[0].cluster,
        "brownout.server": runs[0].server,
        "brownout.stand_in": str(runs.stand_in).lower(),
        "brownout.runs": ", ".join(run.run_id for run in runs),
    }
    if decision.needed is not None:
        values["brownout.repeats_needed"] = str(decision.needed)
    return values


def _rows(grid: Grid) -> list[str]:
    """Each row as `measure: …, baseline: …`."""
    return [
        ", ".join(f"{name}: {words}" if name else words for name, words in row.items())
        for row in grid.records()
    ]
