"""What it costs that a node comes back."""

import pytest
from tests.measure.signals import make_series
from tests.measure.views import data_of, view

from brownout.measure.disturbance import return_disturbance
from brownout.measure.settings import MeasureSettings
from brownout.run.events import Event

LAB = MeasureSettings.lab()
KILLED = Event(1, "break", "kill_node", "n1", requested=30.0, effective=30.0)
STARTED = Event(2, "mend", "start_node", "n1", requested=35.0, effective=35.2)


@pytest.mark.parametrize(
    ("ok", "cost"),
    [
        ([80] * 300 + [0] * 10 + [80] * 90, 0.0),  # a dip at the fault only
        ([80] * 300 + [0] * 10 + [80] * 50 + [0] * 15 + [80] * 25, 1.5),  # and one at the return
        ([80] * 300 + [0] * 60 + [80] * 40, 0.0),  # one that was going on when it returned
    ],
)
def test_dips_that_began_after_the_return_are_counted(ok: list[int], cost: float) -> None:
    data = data_of(make_series([80] * 400, ok), LAB, events=(KILLED, STARTED))
    assert return_disturbance(view(data, 30.0, 40.0), data) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("first", "cost"),
    [(350, 1.5), (351, 1.4), (349, 0.0)],  # in its bucket, after it, before it
)
def test_a_dip_in_the_bucket_of_the_return_began_with_it(first: int, cost: float) -> None:
    resumed = Event(2, "mend", "resume_node", "n1", requested=35.04, effective=35.05)
    ok = [80] * first + [0] * (365 - first) + [80] * 35
    data = data_of(make_series([80] * 400, ok), LAB, events=(KILLED, resumed))
    assert return_disturbance(view(data, 30.0, 40.0), data) == pytest.approx(cost)


def test_a_fault_in_which_no_node_returned_has_none() -> None:
    ok = [80] * 300 + [0] * 10 + [80] * 90
    data = data_of(make_series([80] * 400, ok), LAB, events=(KILLED,))
    assert return_disturbance(view(data, 30.0, 40.0), data) is None
