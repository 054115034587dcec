"""A long load by intervals, on a real load whose decay is scripted."""

from pathlib import Path

import numpy as np
import pytest
from tests.runs.capacity.known import paced_server, workload

from brownout.calibration.truth import read_truth
from brownout.load.session import run_load
from brownout.measure.trend import trend_of
from brownout.run.balance import HEADER
from brownout.run.longrun import intervals
from brownout.show.report import trend as words

pytestmark = pytest.mark.quiet  # it measures paces of a real load

#: So much the server can do a second in each second of the load; 300/s are offered.
PACES = (280, 260, 240, 220, 200, 180, 160, 140)


@pytest.fixture(scope="module")
def decayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("decay")
    effects = [{"at": at, "for": 1, "effect": "pace", "ops_per_s": pace}
               for at, pace in enumerate(PACES)]  # fmt: skip
    with paced_server(place / "server", {"lanes": 1, "effects": effects}) as target:
        # What waits in the server was given its pace when it came: with few, that is not long ago.
        few = {**target, "options": {"pool": 16}}
        run_load(workload(300, deadline_s=30.0), few, place / "load", len(PACES), seed=1)
    (place / "load" / "balance.csv").write_text(
        ",".join(HEADER) + "\n"
        "0.5,n1,100,1000,0,0\n0.5,n2,100,1000,0,0\n"
        "2.5,n1,300,3000,0,0\n"  # the other node did not answer
        "4.5,n1,500,5000,0,0\n4.5,n2,500,5000,0,0\n"
    )
    return place / "load"


def test_a_decay_is_measured_as_the_server_served_it(decayed: Path) -> None:
    rows = intervals(decayed, 1.0)
    truth = read_truth(decayed.parent / "server" / "truth.json")
    ticks = round(1 / truth.tick_s)
    served = truth.served[0][: ticks * len(PACES)].reshape(-1, ticks).sum(axis=1)
    assert all(served <= 1.08 * np.array(PACES))  # and fewer where the machine is busy
    tps = [row.tps for row in rows]
    # What is answered at the end of a second may be read in the next.
    assert np.cumsum(tps) == pytest.approx(np.cumsum(served), rel=0, abs=0.08 * max(PACES))
    starts = [row.start for row in rows]
    trend, expected = trend_of(starts, tps), trend_of(starts, list(served))
    assert trend is not None
    assert expected is not None
    assert trend.per_hour == pytest.approx(expected.per_hour, rel=0.08)
    assert not trend.steady


def test_percentiles_grow_while_the_queue_does(decayed: Path) -> None:
    p50 = [row.p50_us for row in intervals(decayed, 2.0)]
    assert all(value is not None for value in p50)
    assert (p50[0] or 0) < (p50[-1] or 0)


def test_a_size_that_one_node_does_not_tell_is_missing_and_not_smaller(decayed: Path) -> None:
    held = [(row.records, row.bytes) for row in intervals(decayed, 2.0)]
    assert held == [(200, 2000), (None, None), (1000, 10_000), (None, None)]


def test_it_is_shown_as_a_table_a_document_and_a_picture(decayed: Path) -> None:
    rows = intervals(decayed, 1.0)
    shown = words.render(rows)
    assert "throughput:" in shown
    assert "an hour" in shown
    assert words.document(rows, 1.0)["trends"]["tps"]["steady"] is False
    assert (words.svg("decay", rows) or "").count("<polyline") == 2
    assert "too short for a trend" in words.render(rows[:2])
