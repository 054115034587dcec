"""Each failure domain by itself: whether one stalled node starved the others."""

from dataclasses import replace

import numpy as np

from brownout.run.lanes import LaneKey
from brownout.show.report.axes import linear
from brownout.show.report.chart import STRIP, Chart, Row
from brownout.show.report.figures.frame import means, time_chart
from brownout.show.report.material import Columns, Material

__all__ = ["MOST_LANES", "by_lane"]

#: So many lanes are drawn, those with the most errors first; the table has all of them.
MOST_LANES = 12


def by_lane(material: Material) -> Chart | None:
    """What each lane served and failed to serve."""
    if not material.lanes:
        return None
    worst = sorted(material.lanes.items(), key=lambda item: (-item[1]["bad"].sum(), item[0]))
    names = material.node_names
    rows = [_strip(names.get(key.lane, ""), key, columns) for key, columns in worst[:MOST_LANES]]
    say = (
        "A lane is a failure domain: the server that an operation went to, or `unrouted` while "
        "none could be chosen, its reads and its writes apart. 1 s means; each on its own scale."
    )
    if len(worst) > MOST_LANES:
        say += f" The {MOST_LANES} with the most errors of {len(worst)}."
    return time_chart(material, "lanes", "Lanes", say, rows)


def _strip(node: str, key: LaneKey, columns: Columns) -> Row:
    ok = replace(means(columns, "ok", "served", "ok"), shape="area")
    bad = means(columns, "bad", "not served", "bad")
    top = float(np.nanmax(np.concatenate([ok.y, bad.y]), initial=1.0))
    note = f"{columns['offered'].sum():,.0f} offered, {columns['bad'].sum():,.0f} not served"
    name, address = (node, f"{key.lane}, ") if node else (key.lane, "")
    if key.op:
        name = f"{name}, {key.op}s"
    return Row((ok, bad), linear(top, unit="/s"), name=name, note=address + note, height=STRIP)
