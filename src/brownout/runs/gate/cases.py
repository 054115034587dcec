"""A decision as test cases for JUnit XML: each run, each limit, each comparison is one."""

from collections.abc import Sequence

from brownout.runs.gate.judging import Decision
from brownout.runs.gate.words import grids
from brownout.runs.several import Finished
from brownout.show.report.grid import Grid
from brownout.show.report.junit import Case

__all__ = ["cases", "properties"]


def cases(decision: Decision, runs: Sequence[Finished]) -> list[Case]:
    """Return every thing that was judged, with what was seen of it."""
    found = []
    for run in runs:
        word = "left out" if run.run_id in decision.left_out else run.verdict
        why = "; ".join(map(str, run.impact["reasons"]))
        found.append(Case("run", run.run_id, word, why, str(run.path)))
    rows = {grid.caption: _rows(grid) for grid in grids(decision)}
    limits, compared = rows.get("Limits", []), [r for k, v in rows.items() if k != "Limits"
                                                for r in v]  # fmt: skip
    for held, seen in zip(decision.limits, limits, strict=True):
        name = held.name if held.scope == "total" else f"{held.scope}.{held.name}"
        found.append(Case("limit", name, held.word, f"not met in {held.unmet} runs", seen))
    for each, seen in zip(decision.comparisons, compared, strict=True):
        found.append(Case("baseline", each.measure, each.word, each.detail, seen))
    return found


def properties(decision: Decision, runs: Sequence[Finished]) -> dict[str, str]:
    """Return what a CI may show beside the cases."""
    impact = runs[0].impact
    found = {
        "brownout.verdict": decision.word,
        "brownout.scenario": str((impact.get("experiment") or {}).get("name")),
        "brownout.cluster": str((impact.get("cluster") or {}).get("name")),
        "brownout.server": runs[0].server,
        "brownout.stand_in": str(bool(impact.get("stand_in"))).lower(),
        "brownout.runs": ", ".join(run.run_id for run in runs),
    }
    if decision.needed is not None:
        found["brownout.repeats_needed"] = str(decision.needed)
    return found


def _rows(grid: Grid) -> list[str]:
    """Each row as `measure: …, baseline: …`."""
    return [
        ", ".join(
            f"{column.name}: {cell.words}" if column.name else cell.words
            for column, cell in zip(grid.columns, row, strict=True)
        )
        for row in grid.styled()
    ]
