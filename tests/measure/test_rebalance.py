"""What a planned change cost: time and data moved by the nodes' own word, throughput meanwhile."""

import numpy as np
import pytest
from tests.measure.signals import flat_level, make_signal

from brownout.measure.rebalance import Rebalance, Span, rebalance_of
from brownout.measure.settings import MeasureSettings
from brownout.run.balance import Balance, Holding

LAB = MeasureSettings.lab()
LEVEL = flat_level(100.0)
FLAT = make_signal([10] * 600, [10] * 600)
#: Effect at 20 s, redundant at 30 s, the episode's end at 35 s, the load's at 60 s.
SPAN = Span(20.0, 30.0, 35.0, 60.0)


def look(t: float, **nodes: tuple[int, int, int | None, int | None]) -> Balance:
    return Balance(t, {name: Holding(*held) for name, held in nodes.items()})


#: 1,000 records of 1 kB with two copies on two nodes; a third one takes its share.
ADDED = [
    look(19.5, n1=(1000, 1_000_000, 0, 0), n2=(1000, 1_000_000, 0, 0)),
    look(20.5, n1=(1000, 1_000_000, 300, 0), n2=(1000, 1_000_000, 300, 0), n3=(0, 0, 600, 0)),
    look(25.5, n1=(800, 800_000, 90, 0), n2=(800, 800_000, 90, 0), n3=(400, 400_000, 180, 400)),
    look(27.5, n1=(680, 680_000, 4, 0), n2=(670, 670_000, 0, 0), n3=(650, 650_000, 4, 650)),
    look(28.5, n1=(667, 667_000, 0, 0), n2=(667, 667_000, 0, 0), n3=(666, 666_000, 0, 666)),
    look(40.0, n1=(667, 667_000, 0, 0), n2=(667, 667_000, 0, 0), n3=(700, 700_000, 0, 700)),
]


def test_the_rebalance_ends_between_the_last_look_that_moved_and_the_first_that_did_not() -> None:
    assert rebalance_of(ADDED, FLAT, LEVEL, SPAN, LAB).rebalance_time == pytest.approx((7.5, 8.5))


def test_records_are_those_that_rebalancing_brought_until_it_ended() -> None:
    found = rebalance_of(ADDED, FLAT, LEVEL, SPAN, LAB)
    assert (found.records_moved, found.records_counted) == (666, True)
    assert found.bytes_moved == 666_000
    assert found.records_moved_per_s == pytest.approx(666 / 8.5)
    assert found.bytes_moved_per_s == pytest.approx(666_000 / 8.5)


def test_without_a_count_records_are_what_nodes_gained() -> None:
    uncounted = [
        Balance(l.t, {n: Holding(h.records, h.bytes, h.to_move) for n, h in l.nodes.items()})
        for l in ADDED  # noqa: E741
    ]
    found = rebalance_of(uncounted, FLAT, LEVEL, SPAN, LAB)
    assert (found.records_moved, found.records_counted) == (666, False)


def test_a_counter_that_began_anew_is_added_up() -> None:
    looks = [
        look(19.0, n1=(0, 0, 0, 500)),
        look(21.0, n1=(0, 0, 9, 520)),
        look(22.0, n1=(0, 0, 9, 30)),  # its node was restarted
        look(23.0, n1=(0, 0, 0, 40)),
    ]
    assert rebalance_of(looks, FLAT, LEVEL, SPAN, LAB).records_moved == 20 + 30 + 10


def test_what_still_moves_at_the_end_has_no_time() -> None:
    moving = [each for each in ADDED if each.t < 28]
    found = rebalance_of(moving, FLAT, LEVEL, SPAN, LAB)
    assert (found.rebalance_time, found.records_moved_per_s) == (None, None)
    assert found.records_moved == 650


def test_what_nobody_looked_at_is_not_measured() -> None:
    assert rebalance_of([], FLAT, LEVEL, SPAN, LAB) == Rebalance()


def test_nobody_tells_what_is_left_and_so_the_time_is_not_known() -> None:
    looks = [look(19.0, n1=(5, 50, None, None)), look(22.0, n1=(9, 90, None, None))]
    found = rebalance_of(looks, FLAT, LEVEL, SPAN, LAB)
    assert (found.rebalance_time, found.records_moved, found.bytes_moved) == (None, 4, 40)


def test_throughput_while_moving_is_its_mean_until_redundancy_is_back() -> None:
    ok = np.full(600, 10)
    ok[200:250] = 6  # 40 % for half of the ten seconds
    signal = make_signal(ok.tolist(), [10] * 600)
    found = rebalance_of(ADDED, signal, LEVEL, SPAN, LAB)
    assert found.throughput_while_moving == pytest.approx(0.8)
    never = SPAN._replace(redundant=None)
    assert rebalance_of(ADDED, signal, LEVEL, never, LAB).throughput_while_moving is None


def test_capacity_is_measured_in_closed_loop_only() -> None:
    ok = [10] * 300 + [12] * 300
    closed = rebalance_of(ADDED, make_signal(ok), LEVEL, SPAN, LAB)
    assert closed.capacity_ratio == pytest.approx(1.2)
    assert rebalance_of(ADDED, FLAT, LEVEL, SPAN, LAB).capacity_ratio is None
