"""The figure of success pools buckets until enough operations are in them to speak of a share."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brownout.show.report.figures.outcomes import LEAST, ratio
from brownout.show.report.material import Material


def pooled(buckets: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """When each pool begins (s), and its share of ok (%): bucket by bucket, without numpy."""
    found, offered, begin, since = [], 0, 0, (0, 0)
    for bucket, (ok, not_ok) in enumerate(buckets):
        since = since[0] + ok, since[1] + ok + not_ok
        if (offered + ok + not_ok) // LEAST > offered // LEAST:
            found.append((begin / 10, 100 * since[0] / since[1]))
            begin, since = bucket + 1, (0, 0)
        offered += ok + not_ok
    return found


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60))
def test_a_pool_ends_where_another_twenty_operations_are_full(
    buckets: list[tuple[int, int]],
) -> None:
    ok, not_ok = np.array(buckets, dtype=float).T
    columns = {"t": np.arange(len(buckets)) / 10, "ok": ok, "offered": ok + not_ok}
    chart = ratio(Material(Path("run"), series={"total": columns}, outcomes={"total": columns}))
    if chart is None:
        assert not columns["offered"].any()
        return
    line = chart.rows[0].lines[0]
    assert list(zip(line.x.tolist(), line.y.tolist(), strict=True)) == pooled(buckets)
