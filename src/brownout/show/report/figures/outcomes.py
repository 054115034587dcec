"""How operations ended, by when they were meant to start: what a user who came then met."""

import numpy as np

from brownout.show.report.axes import linear
from brownout.show.report.chart import STRIP, Chart, Floats, Level, Line, Row
from brownout.show.report.figures.frame import time_chart
from brownout.show.report.material import Columns, Material

__all__ = ["CLASSES", "ends", "ratio"]

#: The ends that are not `ok`, in words.
CLASSES = {
    "late": "late: succeeded after the deadline",
    "failed": "failed: known not to have taken effect",
    "in_doubt": "in doubt: writes whose effect is unknown",
    "shed": "shed: no free slot before the deadline, never sent",
    "missed": "missed: not scheduled in time by the generator itself",
}
SCOPES = (("total", "all"), ("read", "reads"), ("write", "writes"))
#: A bucket with fewer operations says too little by itself; it is pooled with the next.
LEAST = 20


def ratio(material: Material) -> Chart | None:
    """The share that was served, of those that were meant to start in each moment."""
    lines = [
        Line(words, scope, *_pooled(material.outcomes[scope]), unit=" %", digits=2)
        for scope, words in SCOPES
        if scope in material.outcomes and material.outcomes[scope]["offered"].any()
    ]
    if not lines:
        return None
    row = Row(tuple(lines), linear(100.0, unit=" %"), (Level(99.0, "dip below 99 %", "faint"),))
    say = (
        "Of the operations due to start at each moment, the share that succeeded within the "
        "deadline. Dips are found here, because this ratio has no arrival noise."
    )
    return time_chart(material, "success", "Success by intended start", say, [row])


def ends(material: Material) -> Chart | None:
    """Each way not to be served, as a strip."""
    columns = material.outcomes.get("total")
    if columns is None:
        return None
    rows = [_strip(columns, name, words) for name, words in CLASSES.items() if columns[name].any()]
    if not rows:
        return None
    say = "By intended start; each class on its own scale."
    return time_chart(material, "ends", "How unsuccessful operations ended", say, rows)


def _strip(columns: Columns, name: str, words: str) -> Row:
    counts = columns[name]
    note = f"{counts.sum():,.0f} in all, at most {counts.max():,.0f} in 0.1 s"
    line = Line(name.replace("_", " "), name, columns["t"], counts, "area", " in 0.1 s")
    return Row((line,), linear(float(counts.max())), name=words, note=note, height=STRIP)


def _pooled(columns: Columns) -> tuple[Floats, Floats]:
    """`t` and ok ÷ offered in %, buckets pooled until at least `LEAST` were offered."""
    offered, ok = np.cumsum(columns["offered"]), np.cumsum(columns["ok"])
    if not len(offered) or offered[-1] < LEAST:
        return columns["t"][:0], columns["t"][:0]
    marks = np.flatnonzero(np.diff(offered // LEAST, prepend=0))
    starts = np.concatenate([[0], marks[:-1] + 1])
    done = np.diff(np.concatenate([[0], ok[marks]]))
    wanted = np.diff(np.concatenate([[0], offered[marks]]))
    return columns["t"][starts], 100 * done / wanted
