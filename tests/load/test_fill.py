"""Filling and conditioning: how much, how far, and when it is enough."""

from pathlib import Path

import pytest
from tests.runs.capacity.known import paced_server, workload

from brownout.base.errors import ConfigurationError
from brownout.load import workload as workloads
from brownout.load.fill import Conditioning, Pace, bytes_of, fill, sized
from brownout.load.place import Here
from brownout.load.session import run_load


def test_sizes_are_read_as_people_write_them() -> None:
    assert [bytes_of(text) for text in ("500MB", "1.5 TB", "20B", "3kB")] == [
        500_000_000, 1_500_000_000_000, 20, 3000,
    ]  # fmt: skip
    for text in ("10", "GB", "-3GB", "0GB", "1e9B"):
        with pytest.raises(ConfigurationError, match="--size"):
            bytes_of(text)


def test_a_workload_gets_as_many_records_as_are_wanted() -> None:
    own = workload()  # values of 64 bytes
    assert sized(own, 0, 0).data.keys == own.data.keys
    assert sized(own, 1234, 0).data.keys == 1234
    assert sized(own, 0, 64_000).data.keys == 1000
    assert sized(own, 0, 64_000).sla == own.sla


def test_several_data_sets_keep_their_proportions() -> None:
    own = workloads.parse({
        "data": {"sets": [{"name": "big", "keys": 3000, "value_bytes": [100, 300]},
                          {"name": "small", "keys": 1000, "value_bytes": 400}]},
        "streams": [{"name": "app", "set": "big", "mix": {"read": 100}, "rate": 1}],
    })  # fmt: skip
    assert [each.keys for each in sized(own, 40, 0).data.all_sets] == [30, 10]
    assert [each.keys for each in sized(own, 0, 10_000).data.all_sets] == [30, 10]
    with pytest.raises(ConfigurationError, match="a record of each data set at least"):
        sized(own, 1, 0)


def test_progress_says_rate_share_and_time_left_of_what_it_did_itself() -> None:
    now = 100.0
    pace = Pace(clock=lambda: now)
    assert pace.words(5000, 20_000) == "filling:"  # these were there already
    now = 110.0
    assert pace.words(10_000, 20_000) == "filling at 500/s, 50% done, 20 s left:"


def test_a_fill_says_how_far_it_is_and_ends_with_all_records(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with paced_server(tmp_path / "server", {"lanes": 2}) as target:
        done = fill(workload(), target, tmp_path / "fill", seed=1, places=(Here(),),
                    progress=lambda *words: told.append(words))  # fmt: skip
    assert done["keys"] == 500
    assert told[-1][1:] == (500, 500)


@pytest.mark.quiet
def test_a_load_ends_when_it_is_steady_and_not_before(tmp_path: Path) -> None:
    # More each second for 3 s, then all of the 300/s that are offered. The steps are far larger
    # than what a busy machine adds, so the load cannot be level before 5 s.
    effects = [{"at": at, "for": 1, "effect": "pace", "ops_per_s": 60 * (at + 1)}
               for at in range(3)]  # fmt: skip
    conditioning = Conditioning(0.5, 0.25)
    with paced_server(tmp_path / "server", {"latency_ms": 5, "effects": effects}) as target:
        few = {**target, "options": {"pool": 16}}  # little waits in the server when a step ends
        result = run_load(workload(300), few, tmp_path / "load", 30.0, seed=1,
                          on_live=conditioning.feed, enough=conditioning.enough)  # fmt: skip
    assert conditioning.state().steady
    assert 5.0 < result.stopped["end_t"] < 29.0
