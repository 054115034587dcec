"""What decides whether two runs may stand beside each other."""

from typing import Any

from tests.impacts import made

from brownout.measure.subject import differences, subject_of


def run(version: str = "1.0", **settings: Any) -> dict[str, Any]:
    streams = [{"name": "app", "rate": 80, **settings}]
    return {"experiment": {"name": "node-kill"}, "cluster": {"database": "mongodb"},
            "workload": {"name": "lab", "streams": streams},
            "versions": {"brownout": version}}  # fmt: skip


def unlike(one: dict[str, Any], other: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return differences(subject_of(made(one)), subject_of(made(other)))


def test_every_setting_of_the_load_counts_under_its_path() -> None:
    assert unlike(run(), run()) == []
    assert unlike(run(), run(rate=60)) == [("workload.streams.0.rate", 80, 60)]


def test_a_stream_more_is_a_difference() -> None:
    more = run(version="2.0")
    more["workload"]["streams"].append({"name": "audit"})
    assert unlike(run(), more) == [("workload.streams.count", 1, 2)]


def test_a_setting_that_an_older_brownout_did_not_know_is_none() -> None:
    assert unlike(run(), run(version="2.0", jitter=0.1)) == []
    assert unlike(run(), run(jitter=0.1)) == [("workload.streams.0.jitter", None, 0.1)]
