"""What can be seen of even arrivals: five operations of the slowest, and a bucket."""

import numpy as np
import pytest
from tests.measure.signals import make_series
from tests.measure.views import data_of, view

from brownout.measure.failover import client_recovered_time
from brownout.measure.lanes import partial_outage
from brownout.measure.resolution import resolutions
from brownout.measure.settings import MeasureSettings
from brownout.run.events import Event

LAB = MeasureSettings.lab()
KILLED = Event(1, "break", "kill_node", "n1", requested=30.0, effective=30.0)


@pytest.mark.parametrize(
    ("slowest", "partial", "client"),
    [(400, 0.2, 0.4), (60, 0.2, 0.4), (30, 0.3, 0.4), (10, 0.6, 0.6), (5, 1.1, 1.1), (1, 5.1, 5.1)],
)
def test_the_slowest_of_all_that_is_looked_at_counts(
    slowest: int, partial: float, client: float
) -> None:
    def lane(rate: int, dark: tuple[float, float] = (0.0, 0.0)) -> dict[str, np.ndarray]:
        starts = np.arange(rate * 40) / rate
        served = (starts < dark[0]) | (starts >= dark[1])
        bucket = np.floor(starts * 10 + 1e-6).astype(int)
        offered = np.bincount(bucket, minlength=400)
        ok = np.bincount(bucket[served], minlength=400)
        return {"offered": offered, "ok": ok, "bad": offered - ok, "pending": np.zeros(400, int)}

    quick = lane(400)
    for begin in 30 + np.arange(20) / 37:  # wherever in a bucket it begins
        for length, measured in ((partial, partial_outage), (client, client_recovered_time)):
            slow = lane(slowest, (begin, begin + length))
            total = quick["offered"] + slow["offered"], quick["ok"] + slow["ok"]
            series = make_series(*(counts.tolist() for counts in total))
            data = data_of(series, LAB, (KILLED,), {"a": slow, "b": quick})
            seen = view(data, 30.0, 40.0)
            assert measured(seen, data) not in (0.0, (0.0, 0.0)), (begin, length)
    found = resolutions(data, seen.level)
    assert found["partial_outage", "total"] == pytest.approx(partial)
    assert found["client_recovered_time", "total"] == pytest.approx(client)
    assert found["client_recovered_time", "app"] == pytest.approx(0.4)


def test_what_had_no_part_in_the_baseline_is_not_waited_for() -> None:
    new = np.arange(400) // 300
    lanes = {"new": {"offered": new, "ok": new, "bad": 0 * new, "pending": 0 * new}}
    data = data_of(make_series([80] * 400, [80] * 400), LAB, lanes=lanes)
    assert resolutions(data, view(data, 30.0, 40.0).level)["partial_outage", "total"] == 0.2
