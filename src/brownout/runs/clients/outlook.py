"""What is left of a comparison, and about how long it takes. Pure."""

import json
from statistics import median

from brownout.base.words import duration
from brownout.runs.clients.record import Record
from brownout.runs.clients.spec import Comparison
from brownout.show.report.grid import Grid, columns

__all__ = ["left_s", "plan_words"]

#: A lab up and down again.
LAB_S = 60.0
_HEADS = "client | command:wrap | options:wrap | rate:n | runs left:n"


def left_s(comparison: Comparison, record: Record | None) -> float:
    """Return about how many seconds are left; without a record, of the whole comparison."""
    took = [each.took_s for each in record.runs] if record is not None else []
    each_s = median(took) if took else comparison.takes_s
    runs = sum(_wanted(comparison, record, group) for group in comparison.groups)
    return runs * each_s + LAB_S if runs else 0.0


def plan_words(comparison: Comparison, record: Record | None) -> str:
    """Return the plan in words: each client with its settings, then how long all of it takes."""
    rows = [
        [
            row.name,
            " ".join(row.command),
            json.dumps(row.options) if row.options else "none",
            f"{comparison.rate if row.rate is None else row.rate:g}/s",
            str(_wanted(comparison, record, group)),
        ]
        for group, members in comparison.groups.items()
        for row in members
    ]
    runs = sum(_wanted(comparison, record, group) for group in comparison.groups)
    how = "all clients in one run" if comparison.together else "each client in runs of its own"
    lines = [
        comparison.title or comparison.name,
        f"{comparison.experiment} on {comparison.cluster}, {how}, beside the built-in driver at "
        f"{comparison.driver_rate:g}/s",
        f"{runs} runs: about {duration(left_s(comparison, record))}; at most {comparison.again} "
        "more for those that are not judged",
    ]
    return "\n\n".join([Grid("", columns(_HEADS), rows).plain(), "\n".join(lines)])


def _wanted(comparison: Comparison, record: Record | None, group: str) -> int:
    return comparison.repeats if record is None else record.wants(comparison, group)
