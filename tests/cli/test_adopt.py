"""`brownout adopt`: experiments of other people's actions, in the shapes that are published."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.forked_run import brownout


def python(name: str, module: str, function: str, **arguments: Any) -> dict[str, Any]:
    provider = {"type": "python", "module": module, "func": function, "arguments": arguments}
    return {"type": "action", "name": name, "provider": provider}


def process(name: str, path: str, arguments: Any) -> dict[str, Any]:
    provider = {"type": "process", "path": path, "arguments": arguments}
    return {"type": "action", "name": name, "provider": provider}


TERMINATE = python("terminate-pods", "chaosk8s.pod.actions", "terminate_pods", ns="db")
DRAIN = python("drain", "chaosk8s.node.actions", "drain_nodes", node="worker-1")
UNCORDON = python("uncordon", "chaosk8s.node.actions", "uncordon_node", node="worker-1")
STOP = python("stopping-now", "chaosaws.ec2.actions", "stop_instance", instance_id="i-1")
START = python("starting-again", "chaosaws.ec2.actions", "start_instances", instance_ids=["i-1"])
FIS = python("the-experiment", "chaosaws.fis.actions", "start_experiment", id="EXT1")
FIS_STOP = python("end-it", "chaosaws.fis.actions", "stop_experiment", id="EXT1")
RDS = python("fail-over", "chaosaws.rds.actions", "failover_db_cluster", db_cluster_identifier="x")
TOXIC = python("slow", "chaostoxi.toxic.actions", "create_latency_toxic", for_proxy="n1")
NO_TOXIC = python("fast-again", "chaostoxi.toxic.actions", "delete_toxic", for_proxy="n1")
MESH = process("pod-failure", "kubectl", ["apply", "-f", "chaos.yaml"])
NO_MESH = process("its-end", "kubectl", ["delete", "-f", "chaos.yaml"])
RESTART = process("restart-it", "docker", "restart db1")
ONE_BY_ONE = process("upgrade", "./rolling-upgrade.sh", "")
POST = {
    "type": "action",
    "name": "isolate",
    "provider": {"type": "http", "url": "http://agent/isolate/n1", "method": "POST"},
}
WAIT = process("wait-a-little", "sleep", "1")
ENABLE = python("enable-chaosmonkey", "chaosspring.actions", "enable_chaosmonkey")
ASSAULT = python("assaults", "chaosspring.actions", "change_assaults_configuration")


@pytest.mark.parametrize(
    ("method", "rollbacks", "breaks", "mends", "harmless"),
    [
        ([TERMINATE], [], ["terminate-pods"], None, None),
        ([DRAIN, WAIT], [UNCORDON], ["drain"], ["uncordon"], ["wait-a-little"]),
        ([STOP, START], [], ["stopping-now"], ["starting-again"], None),
        ([STOP], [START], ["stopping-now"], ["starting-again"], None),
        ([FIS], [FIS_STOP], ["the-experiment"], ["end-it"], None),
        ([RDS], [], ["fail-over"], None, None),
        ([TOXIC, NO_TOXIC], [NO_TOXIC], ["slow"], ["fast-again"], None),
        ([MESH, NO_MESH], [], ["pod-failure"], ["its-end"], None),
        ([RESTART], [], ["restart-it"], None, None),
        ([ONE_BY_ONE], [], ["upgrade"], None, None),
        ([POST], [], ["isolate"], None, None),
        ([ENABLE, ASSAULT], [], ["assaults"], None, ["enable-chaosmonkey"]),
    ],
    ids=lambda value: value[0]["name"] if value and isinstance(value[0], dict) else "",
)
def test_each_step_is_taken_for_what_its_name_says(
    method: list[Any], rollbacks: list[Any], breaks: Any, mends: Any, harmless: Any, tmp_path: Path
) -> None:
    theirs = {
        "version": "1.0.0",
        "title": "Theirs",
        "description": "An experiment of other people's actions.",
        "tags": ["theirs"],
        "method": method,
        "rollbacks": rollbacks,
    }
    (tmp_path / "theirs.json").write_text(json.dumps(theirs))
    ran = brownout("adopt", "theirs.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    adopted = json.loads((tmp_path / "theirs-brownout.json").read_text())
    (extension,) = adopted["extensions"]
    assert (extension["scenario"], extension["needs"]) == ("theirs", [])
    assert extension["breaks"] == breaks
    assert extension.get("mends") == mends
    assert extension.get("harmless") == harmless
    assert {key: adopted[key] for key in theirs} == theirs
    for name in breaks:
        assert [line for line in ran.stdout.splitlines() if "breaks" in line and name in line]


def adopt_plainly(where: Path, *options: str, suffix: str = ".json") -> Any:
    theirs = {"title": "t", "description": "d", "method": [WAIT, STOP], "rollbacks": []}
    text = json.dumps(theirs) if suffix == ".json" else yaml.safe_dump(theirs)
    (where / f"theirs{suffix}").write_text(text)
    return brownout("adopt", f"theirs{suffix}", *options, cwd=where)


def test_steps_cluster_limits_and_time_can_be_given(tmp_path: Path) -> None:
    ran = adopt_plainly(
        tmp_path, "--break", "stopping-now", "--cluster", "staging", "--effect-within", "2m",
        "--limits", "recovery_time=30,write.blackout=5", "-o", "ours.yaml", suffix=".yml",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    adopted = yaml.safe_load((tmp_path / "ours.yaml").read_text())
    assert adopted["configuration"]["cluster"]["default"] == "staging"
    assert adopted["configuration"]["limits"] == {"recovery_time": 30.0, "write.blackout": 5.0}
    (extension,) = adopted["extensions"]
    assert extension["effect_within_s"] == 120
    assert extension["harmless"] == ["wait-a-little"]


def test_what_this_machine_lacks_for_it_is_said_and_keeps_nothing_from_being_written(
    tmp_path: Path,
) -> None:
    ran = adopt_plainly(tmp_path)
    assert "before it can run here" in ran.stderr
    assert "chaosaws" in ran.stderr
    assert (tmp_path / "theirs-brownout.json").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--break", "stoping-now"), "has no action `stoping-now`; did you mean `stopping-now`?"),
        (("--limits", "recovery_time=soon"), "--limits: recovery_time: found 'soon'"),
        (("--effect-within", "soon"), "--effect-within: found 'soon'"),
        (("-o", "theirs.json"), "theirs.json: is there already"),
    ],
)
def test_bad_input_is_one_clear_error(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    ran = adopt_plainly(tmp_path, *options)
    assert ran.returncode == 64
    assert words in ran.stderr
    assert not (tmp_path / "theirs-brownout.json").exists()


def test_an_experiment_without_a_break_or_with_our_control_is_refused(tmp_path: Path) -> None:
    theirs = {"title": "t", "description": "d", "method": [WAIT], "rollbacks": []}
    (tmp_path / "calm.json").write_text(json.dumps(theirs))
    ran = brownout("adopt", "calm.json", cwd=tmp_path)
    assert ran.returncode == 64
    assert "name it with `--break`; the actions of the method are `wait-a-little`" in ran.stderr
    adopt_plainly(tmp_path)
    again = brownout("adopt", "theirs-brownout.json", cwd=tmp_path)
    assert again.returncode == 64
    assert "has the control `brownout.control` already" in again.stderr
