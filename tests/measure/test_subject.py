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


def broken(select: str, target: str = "n1", **evidence: str) -> dict[str, Any]:
    event = {"type": "break", "name": "kill_node", "node": target, "evidence": evidence}
    experiment = {"name": "node-kill", "select": select, "target": target, "variables": {"a": 1}}
    return {**run(), "experiment": experiment, "faults": [{"events": [event]}]}


def test_the_role_that_was_broken_counts_however_the_node_was_named() -> None:
    primary = broken("primary", role="primary", role_asked="primary")
    assert unlike(primary, broken("n1", role="primary")) == []
    assert unlike(primary, broken("master", role="primary", role_asked="primary")) == []
    secondary = ("target", "primary", "secondary")
    assert unlike(primary, broken("secondary", role="secondary", role_asked="secondary")) == [
        secondary
    ]
    assert unlike(primary, broken("n2", "n2", role="secondary")) == [secondary]


def test_a_random_target_is_random_whichever_role_it_met() -> None:
    assert unlike(broken("random", role="primary"), broken("random", role="secondary")) == []


def test_each_variable_counts_unless_one_run_is_from_before_they_were_written_down() -> None:
    one, other, old = (broken("primary") for _ in range(3))
    other["experiment"]["variables"] = {"a": 2}
    del old["experiment"]["variables"]
    assert unlike(one, other) == [("variables.a", 1, 2)]
    assert unlike(one, old) == []


def test_each_step_of_the_method_counts_unless_one_run_is_from_before_they_were_written_down() -> (
    None
):
    one, other, old = (broken("primary") for _ in range(3))
    one["experiment"]["method"] = ["kill_node n1", "start_node n1"]
    other["experiment"]["method"] = ["kill_node n1", "after 4 s: start_node n1"]
    assert unlike(one, one) == []
    assert unlike(one, other) == [("method.1", "start_node n1", "after 4 s: start_node n1")]
    assert unlike(one, old) == []
