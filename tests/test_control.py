"""`chaos run` under our control: exit 0 means a computed pass and nothing else.

Each test is a way in which a bare `chaos run` would leave exit 0, or lose what happened.
"""

import json
import logging
import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, cast

import pytest
from chaoslib.types import Journal
from tests import chaos_runner as chaos
from tests.waiting import await_true

from brownout import control
from brownout.base.errors import RunDirectoryError
from brownout.base.wait import wait_until
from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.session.current import set_current
from brownout.session.interruption import Interruption
from brownout.session.session import Session

CLUSTER = "lab-etcd"  # a real database that fails over sooner than lab-mongodb

CAUSES = {signal.SIGTERM: "stopped by SIGTERM", signal.SIGINT: "stopped by Ctrl-C"}


@pytest.fixture(autouse=True)
def _on_etcd(lab_etcd: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_CLUSTER", CLUSTER)


def _whole(cluster: Cluster) -> bool:
    adapter = adapter_for(cluster)
    try:
        return wait_until(lambda: adapter.stable("whole").reached, 60)
    finally:
        adapter.close()


def test_a_failing_action_stops_the_method_at_once_and_is_never_a_pass(tmp_path: Path) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    experiment["method"][0]["provider"]["func"] = "wipe_node"  # refused: the node runs
    experiment["method"][0]["pauses"] = {"after": 3600}  # it would outlast the time-out
    ran = chaos.run(experiment, tmp_path)
    assert "not waiting 3600 s after kill-the-node" in ran.output
    assert ran.journal["run"][0]["activity"]["pauses"] == {"after": 3600}
    assert ran.code == 1
    assert "node is stopped" in ran.output
    assert any("node is stopped" in reason for reason in ran.impact["reasons"]), ran.impact
    assert not any("aborted" in reason for reason in ran.impact["reasons"])
    assert ran.impact["verdict"] == "inconclusive"
    assert [event for event in ran.events if event["type"] == "break"] == []


def test_what_came_late_because_brownout_was_stopped_is_not_the_databases_failure(
    tmp_path: Path,
) -> None:
    # By name: on a busy machine another node may be elected before a primary is killed.
    named = ("--var", "target=n2")
    process = chaos.start(chaos.quick(chaos.load("node-kill")), tmp_path, *chaos.GENTLY, *named)
    events = "runs/*/events.ndjson"
    killed = '"stage": "effective"'
    await_true(lambda: any(killed in path.read_text() for path in tmp_path.glob(events)), killed)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(5)  # three more than the node is meant to be down
    os.kill(process.pid, signal.SIGCONT)
    ran = chaos.finish(process, tmp_path)
    late = [event for event in ran.events if event["type"] == "contract"]
    assert {(event["name"], event["ok"]) for event in late} == {("lateness", False)}, ran.output
    conditions = {check["name"]: check for check in ran.impact["validity"]}
    assert conditions["contract_kept"]["ok"] is False
    assert "brownout itself was stopped or starved" in conditions["contract_kept"]["detail"]
    assert ran.impact["verdict"] != "pass"


#: Stops the run for some seconds between two of its steps, where no activity and no pause is.
STALLING = """
import os, subprocess, time

def before_activity_control(context, **kwargs):
    if context["name"] == "wait-until-changed":
        pid = os.getpid()
        subprocess.Popen(["sh", "-c", f"kill -STOP {pid}; sleep 4; kill -CONT {pid}"])
        time.sleep(0.5)
"""


@pytest.mark.matrix
def test_a_stop_between_two_steps_is_late_as_well(tmp_path: Path) -> None:
    (tmp_path / "stalling.py").write_text(STALLING)
    experiment = chaos.quick(chaos.load("node-kill"))
    stall = {"name": "stall", "provider": {"type": "python", "module": "stalling"}}
    experiment = {**experiment, "controls": [stall, *experiment["controls"]]}
    process = chaos.start(experiment, tmp_path, *chaos.GENTLY, env={"PYTHONPATH": str(tmp_path)})
    ran = chaos.finish(process, tmp_path)
    late = [event for event in ran.events if event["type"] == "contract"]
    assert {(event["name"], event["ok"]) for event in late} == {("lateness", False)}, ran.output
    assert ran.impact["verdict"] != "pass"


#: What a machine that was suspended for a minute between two steps shows: of brownout's own, that
#: more time went by since its boot; of the generator's, that its clock is behind.
SUSPENDED = {
    "brownout's machine": """
from brownout.base.wait import since_boot
def before_activity_control(context, **kwargs):
    if context["name"] == "wait-until-changed":
        import brownout.session.heartbeat as heartbeat
        heartbeat.since_boot = lambda: since_boot() + 60.0
""",
    "the generator's machine": """
from brownout.load.clock import GeneratorClock
add = GeneratorClock.add
def before_activity_control(context, **kwargs):
    if context["name"] == "wait-until-changed":
        GeneratorClock.add = lambda clock, sent, received, t: add(clock, sent, received, t - 60.0)
""",
}


@pytest.mark.matrix
@pytest.mark.parametrize("whose", SUSPENDED)
def test_what_a_suspended_machine_made_late_is_not_the_databases_failure(
    whose: str, tmp_path: Path
) -> None:
    (tmp_path / "suspended.py").write_text(SUSPENDED[whose])
    experiment = chaos.quick(chaos.load("node-kill"))
    control = {"name": "suspended", "provider": {"type": "python", "module": "suspended"}}
    experiment = {**experiment, "controls": [control, *experiment["controls"]]}
    process = chaos.start(experiment, tmp_path, *chaos.GENTLY, env={"PYTHONPATH": str(tmp_path)})
    ran = chaos.finish(process, tmp_path)
    late = [event for event in ran.events if event["type"] == "contract"]
    assert ("lateness", False) in {(event["name"], event["ok"]) for event in late}, ran.output
    assert ran.impact["verdict"] == "inconclusive", ran.output


@pytest.mark.matrix
def test_a_process_action_that_exits_1_is_never_a_pass(tmp_path: Path) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    step = {"type": "action", "name": "no", "provider": {"type": "process", "path": "false"}}
    experiment["method"].append(step)
    ran = chaos.run(experiment, tmp_path)
    assert ran.code == 1
    assert ran.impact["verdict"] == "inconclusive"
    assert "method_completed: action `no` failed" in ran.impact["reasons"]
    assert ran.journal["deviated"] is False
    assert "weakness" not in ran.output
    assert "(brownout: inconclusive)" in ran.output


@pytest.mark.matrix
def test_a_probe_that_is_not_met_after_the_method_fails_the_run_wherever_it_is_judged(
    tmp_path: Path,
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"), chaos.LEAST_BASELINE_S)
    (tmp_path / "errors_of_others.py").write_text(
        "from brownout.session.current import current\n"
        "def error_rate():\n"
        "    return 0.07 if current().faults.broke_something else 0.0\n"
    )
    provider = {"type": "python", "module": "errors_of_others", "func": "error_rate"}
    probe = {"type": "probe", "name": "error-rate", "tolerance": [0.0, 0.01], "provider": provider}
    experiment["steady-state-hypothesis"]["probes"].insert(1, probe)
    ran = chaos.run(experiment, tmp_path, *chaos.GENTLY, env={"PYTHONPATH": str(tmp_path)})
    assert ran.code == 1
    assert [slo["met"] for slo in ran.impact["slos"] if slo["met"] is False] == []
    assert ran.impact["verdict"] == "fail"
    assert any("`error-rate`" in reason for reason in ran.impact["reasons"]), ran.impact
    assert ran.directory is not None
    kept = json.loads((ran.directory / "journal.json").read_text())
    assert (kept["status"], kept["deviated"]) == (ran.journal["status"], True)


def test_an_unmet_baseline_is_never_a_pass_and_a_secret_that_was_used_is_in_no_file(
    tmp_path: Path,
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    probe = {
        "type": "probe",
        "name": "never-so",
        "tolerance": False,
        "provider": {
            "type": "python",
            "module": "brownout.probes.cluster",
            "func": "cluster_is_whole",
        },
    }
    experiment["steady-state-hypothesis"]["probes"].append(probe)
    experiment["secrets"] = {"mine": {"password": {"type": "env", "key": "MY_PASSWORD"}}}
    experiment["configuration"]["dynamic"] = {
        "type": "probe",
        "name": "asked-first",
        "provider": {
            "type": "python",
            "module": "platform",
            "func": "node",
            "secrets": ["mine"],
        },
    }
    ran = chaos.run(experiment, tmp_path, env={"MY_PASSWORD": "hunter2-in-clear"})
    assert ran.code == 1
    assert ran.impact["verdict"] == "inconclusive"
    assert [event for event in ran.events if event["type"] == "break"] == []
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    found = [str(path) for path in left if b"hunter2-in-clear" in path.read_bytes()]
    assert found == []


def test_the_ledger_is_read_back_though_a_milestone_was_not_reached_in_time(tmp_path: Path) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    experiment["configuration"]["milestone_limit_s"] = 5
    del experiment["configuration"]["downtime_s"]  # of the step that is left out
    kept = [step for step in experiment["method"] if step["name"] != "start-the-node"]
    ran = chaos.run({**experiment, "method": kept}, tmp_path, *chaos.GENTLY)
    assert "the cluster was not redundant again within 5 s" in ran.output
    redundant = ran.impact["faults"][0]["redundancy_time"]  # seen if the rollback was quick
    assert redundant is None or redundant[0] >= 5, ran.output
    ledger = ran.impact["ledger"]
    assert (ledger["state"], ledger["keys"], ledger["unread"]) == ("clean", 500, 0)
    assert ran.impact["verdict"] != "pass"
    assert ran.deeds == [(name, ran.deeds[0][1]) for name in ("kill_node", "start_node")]


def test_a_misspelt_scenario_ends_the_experiment_before_anything_is_touched(tmp_path: Path) -> None:
    experiment = chaos.load("node-kill")
    experiment["extensions"][0]["scenario"] = "node-kil"
    ran = chaos.run(experiment, tmp_path)
    assert ran.code == 1
    assert "did you mean node-kill?" in ran.output
    assert ran.directory is None


def test_a_log_that_does_not_go_to_a_terminal_has_no_colours(tmp_path: Path) -> None:
    experiment = chaos.load("node-kill")
    experiment["configuration"]["target"] = "no-such-node"
    lines = chaos.run(experiment, tmp_path).output.splitlines()
    assert len(lines) > 3
    assert [line for line in lines[1:] if "\x1b" in line] == []  # the first comes before us


def test_an_error_in_the_control_itself_ends_the_experiment_before_anything_is_touched(
    tmp_path: Path,
) -> None:
    experiment = chaos.load("node-kill")
    ran = chaos.run(experiment, tmp_path, env={"BROWNOUT_CLUSTER": "no-such-cluster"})
    assert ran.code == 1
    assert "no-such-cluster" in ran.output
    assert CLUSTER in ran.output
    assert ran.journal["status"] == "interrupted"
    assert ran.journal["run"] == []
    assert ran.directory is None


class Torn:
    """A run that was judged, and whose record then could not be written."""

    interruption = Interruption(())

    def close(self, journal: Journal, unmet: Any, settle: Callable[[str], None]) -> None:
        settle("pass")
        raise RunDirectoryError("impact.json: No space left on device")


def test_a_run_whose_result_could_not_be_written_is_never_a_pass() -> None:
    journal = {"status": "completed", "deviated": False}
    set_current(cast(Session, Torn()))
    control.after_experiment_control({}, journal)
    assert journal["status"] == "failed"


def test_a_log_call_of_others_whose_arguments_do_not_fit_fails_no_activity() -> None:
    control.validate_control({})
    logging.getLogger("chaostoolkit").warning("%d of %s", 1)


def test_a_misspelt_variable_is_refused_instead_of_dropped(tmp_path: Path) -> None:
    ran = chaos.run(chaos.load("stepdown"), tmp_path, "--var", "limts=blackout=1")
    assert ran.code == 1
    assert "limts" in ran.output
    assert ran.directory is None


@pytest.mark.matrix
def test_every_unmet_limit_is_reported_and_one_may_stand_in_a_tolerance_as_a_variable(
    tmp_path: Path,
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"), chaos.LEAST_BASELINE_S)
    experiment["configuration"]["my_limit"] = 0.0001
    first, *_, last = experiment["steady-state-hypothesis"]["probes"]
    probe = {**last, "name": "mine", "provider": {**last["provider"], "func": "redundancy_time"}}
    probe["tolerance"] = {
        "type": "probe",
        "name": "at-most",
        "provider": {
            "type": "python",
            "module": "brownout.probes.tolerances",
            "func": "at_most",
            "arguments": {"value": None, "limit": "${my_limit}"},
        },
    }
    experiment["steady-state-hypothesis"]["probes"] = [first, probe]
    limits = "limits=recovery_time=0.1,blackout=0.5,lost_operations=1"
    ran = chaos.run(experiment, tmp_path, *chaos.GENTLY, "--var", limits)
    assert ran.code == 1
    assert ran.impact["verdict"] == "fail"
    assert "deviated (brownout: fail)" in ran.output
    for step in (
        "method: start-the-node",
        "method: wait-until-redundant",
        "putting back: put-back",
    ):
        assert f"brownout: {step}" in ran.output, "the panel follows the steps"
    found = {slo["name"]: slo for slo in ran.impact["slos"] if slo["met"] is False}
    assert {"recovery_time", "blackout", "lost_operations"} <= set(found)
    for name in ("recovery_time", "blackout"):
        assert found[name]["limit_from"].startswith("--var")
    assert ran.journal["steady_states"]["before"]["steady_state_met"] is True
    assert ran.journal["steady_states"]["after"]["steady_state_met"] is False


def _await_event(where: Path, words: str, timeout_s: float = 120.0) -> None:
    events = "runs/*/events.ndjson"
    await_true(
        lambda: any(words in path.read_text() for path in where.glob(events)), words, timeout_s
    )


def _stopped_in_mid_fault(
    where: Path, sent: list[signal.Signals], distances: Random, more: dict[str, Any] | None = None
) -> chaos.Ran:
    """Kill a node and stop the run by signals, each up to a third of a second after another."""
    experiment = chaos.quick(chaos.load("node-kill"))
    wait: dict[str, Any] = experiment["method"][1]
    wait["provider"]["arguments"]["state"] = "redundant"  # it never is: the node stays down
    experiment["controls"] += [more] if more else []
    process = chaos.start(experiment, where, env={"PYTHONPATH": str(Path(__file__).parents[1])})
    try:
        _await_event(where, '"changed"')
        for each in sent:
            process.send_signal(each)
            time.sleep(distances.uniform(0, 0.35))  # the moment is what is tested
    finally:
        ran = chaos.finish(process, where, timeout_s=60)
    return ran


def _check_put_back(ran: chaos.Ran, lab: Cluster, *causes: str) -> None:
    assert ran.code != 0
    # A busy machine may leave the load unjudged or break a limit; what ended it is said anyway.
    assert ran.impact["verdict"] in ("aborted", "inconclusive", "fail")
    (abort,) = [event for event in ran.events if event["type"] == "abort"]
    assert abort["reason"] in causes
    assert "weakness" not in ran.output
    assert any("put" in line for line in ran.output.splitlines())
    assert [event["name"] for event in ran.events if event["type"] == "mend"][:1] == ["start_node"]
    assert _whole(lab)


@pytest.mark.parametrize(
    "sent", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.matrix)],
    ids=lambda sent: sent.name,
)  # fmt: skip
def test_a_signal_in_mid_fault_aborts_and_puts_everything_back(
    sent: signal.Signals, tmp_path: Path, lab_etcd: Cluster
) -> None:
    ran = _stopped_in_mid_fault(tmp_path, [sent], Random(0))
    _check_put_back(ran, lab_etcd, CAUSES[sent])
    names = [event["name"] for event in ran.events]
    assert names.index("put_back") < names.index("ledger_read"), "nothing delays the putting back"
    assert (ran.impact["ledger"]["state"], ran.impact["ledger"]["unread"]) == ("clean", 0)


def test_a_run_whose_terminal_is_closed_puts_everything_back_and_is_judged(
    tmp_path: Path, lab_etcd: Cluster
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    experiment["configuration"]["downtime_s"] = 600
    (tmp_path / "mine.json").write_text(json.dumps(experiment))
    given = {**os.environ, "BROWNOUT_RUNS": str(tmp_path / "runs"), "TERM": "xterm", "CI": ""}
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.execve(sys.executable, [sys.executable, "-m", "chaostoolkit", "run", "mine.json"], given)
    closed = Event()
    reader = Thread(target=_read_until, args=(closed, terminal))
    reader.start()
    _await_event(tmp_path, '"changed"')
    closed.set()
    reader.join()
    os.close(terminal)  # the kernel sends SIGHUP, and what is printed from here on fails
    _, status = os.waitpid(process, 0)
    (run,) = (tmp_path / "runs").iterdir()
    impact = json.loads((run / "impact.json").read_text())
    assert os.waitstatus_to_exitcode(status) != 0
    assert impact["verdict"] in ("aborted", "inconclusive", "fail")
    assert "stopped because its terminal was closed" in (run / "events.ndjson").read_text()
    assert _whole(lab_etcd)


def _read_until(closed: Event, terminal: int) -> None:
    while not closed.is_set():
        if select.select([terminal], [], [], 0.1)[0]:
            os.read(terminal, 4096)


@pytest.mark.matrix
def test_a_signal_and_another_where_no_rollback_follows_put_everything_back(
    tmp_path: Path, lab_etcd: Cluster
) -> None:
    module = {"type": "python", "module": "tests.interrupting"}
    ran = _stopped_in_mid_fault(
        tmp_path, [signal.SIGTERM], Random(1), {"name": "again", "provider": module}
    )
    assert "a second signal is sent" in ran.output
    _check_put_back(ran, lab_etcd, "stopped by SIGTERM")


@pytest.mark.matrix
def test_five_signals_in_mid_fault_put_everything_back(tmp_path: Path, lab_etcd: Cluster) -> None:
    sent = [signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGTERM]
    ran = _stopped_in_mid_fault(tmp_path, sent, Random(2))
    _check_put_back(ran, lab_etcd, *CAUSES.values())


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(12))
def test_two_signals_in_mid_fault_put_everything_back(
    seed: int, tmp_path: Path, lab_etcd: Cluster
) -> None:
    drawn = Random(seed)
    sent = drawn.choices([signal.SIGINT, signal.SIGTERM], k=2)
    ran = _stopped_in_mid_fault(tmp_path, sent, drawn)
    _check_put_back(ran, lab_etcd, *CAUSES.values())
