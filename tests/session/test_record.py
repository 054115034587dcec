"""What run.json says of an experiment's variables, by which a gate tells runs apart."""

from brownout.session.plan_file import plan_of
from brownout.session.record import _variables


def test_a_run_records_the_variables_that_change_its_fault_and_none_that_only_one_run_has() -> None:
    plan, _ = plan_of("node-kill", ["cluster=lab-etcd", "downtime_s=3", "seed=7", "phase_s=2"])
    variables = _variables(plan)
    assert variables["downtime_s"] == 3
    assert {"canary", "milestone_limit_s"} <= set(variables)
    assert not {"seed", "phase_s", "cluster", "target", "limits", "confirm"} & set(variables)
