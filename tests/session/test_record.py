"""What run.json says of an experiment's variables and steps, by which a gate tells runs apart."""

from typing import Any

from tests.impacts import made

from brownout.inventory.model import Node
from brownout.measure.subject import subject_of
from brownout.runs.explore.method import experiment_of
from brownout.runs.explore.oracles import LIMITS
from brownout.runs.explore.schedule import Schedule, Step
from brownout.session.plan import Plan, make_plan
from brownout.session.plan_file import plan_of
from brownout.session.record import _experiment, _variables


def test_a_run_records_the_variables_that_change_its_fault_and_none_that_only_one_run_has() -> None:
    plan, _ = plan_of("node-kill", ["cluster=lab-etcd", "downtime_s=3", "seed=7", "phase_s=2"])
    variables = _variables(plan)
    assert variables["downtime_s"] == 3
    assert {"canary", "milestone_limit_s"} <= set(variables)
    assert not {"seed", "phase_s", "cluster", "target", "limits", "confirm"} & set(variables)


def test_two_schedules_of_an_exploration_are_two_experiments_and_a_repeat_is_none() -> None:
    def subject(lasts_s: float, seed: int) -> dict[str, Any]:
        kill, pause = (
            Step(fault, "primary", "redundant", 0, each)
            for fault, each in (("kill_node", 4.0), ("pause_node", lasts_s))
        )
        plan = planned(Schedule((kill, pause)), seed)
        n1 = Node(name="n1", address="127.0.0.1:1")
        return subject_of(made({"experiment": _experiment(plan, n1)}))

    def planned(schedule: Schedule, seed: int) -> Plan:
        experiment = experiment_of(
            schedule, cluster="lab-mongodb", limits=LIMITS, title=f"Schedule {seed}",
            description="two", settings={"seed": seed},
        )  # fmt: skip
        return make_plan(experiment, experiment["configuration"], {})

    assert subject(8.0, 1) == subject(8.0, 2)
    unlike = {name for name, value in subject(8.0, 1).items() if subject(2.0, 1)[name] != value}
    assert unlike
    assert {name.partition(".")[0] for name in unlike} == {"method"}


def test_a_step_is_recorded_with_all_that_decides_what_it_does_and_without_secrets() -> None:
    def step(provider: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"type": "action", "name": "a step", "provider": provider, **more}

    kill = {"type": "python", "module": "brownout.actions.node", "func": "kill_node"}
    steps = [
        step({**kill, "arguments": {"node": "target"}}, pauses={"before": 4, "after": 2}),
        step({"type": "process", "path": "curl", "arguments": "-u me:hunter2 http://a/b"}),
    ]
    document = {**plan_of("node-kill", [])[1], "method": steps, "configuration": {}}
    method = make_plan(document, {"cluster": "lab-etcd"}, {}).method
    assert method == (
        'after 4 s: kill_node {"node": "target"}, then 2 s', 'process curl "-u me:*** http://a/b"'
    )  # fmt: skip
