"""Faults by others: steps of an experiment that are not brownout's, measured as its own."""

import contextlib
import json
import stat
import sys
import time
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from tests import chaos_runner as chaos

from brownout.base.errors import ClusterError, NoAnswer
from brownout.cli.adoption import adopt
from brownout.databases.adapter import adapter_for
from brownout.faults.others.account import Seen
from brownout.inventory.model import Cluster
from brownout.run import contract
from brownout.run.events import EventLog, read_events
from brownout.session.external import (
    ExternalFaults,
    ExternalSteps,
    external_steps,
    provided_by,
)
from brownout.session.milestones import Crossing

KILL = {"type": "action", "name": "kill", "provider": {"type": "process", "path": "./kill.sh"}}
START = {"type": "action", "name": "start", "provider": {"type": "process", "path": "./start.sh"}}
OURS = {
    "type": "action",
    "name": "ours",
    "provider": {"type": "python", "module": "brownout.actions.node", "func": "kill_node"},
}
ASKED = {
    "type": "probe",
    "name": "outage",
    "tolerance": True,
    "provider": {"type": "python", "module": "brownout.probes.impact", "func": "blackout"},
}


def read(extension: dict[str, Any], **experiment: Any) -> tuple[ExternalSteps, list[str]]:
    problems: list[str] = []
    whole = {"method": [KILL, START, OURS], "rollbacks": [], **experiment}
    return external_steps(whole, extension, problems), problems


def test_a_step_is_named_in_breaks_or_mends_or_is_any_other_step() -> None:
    steps, problems = read({"breaks": ["kill"], "mends": ["start"], "effect_within_s": 120})
    assert problems == []
    assert [steps.kind(name) for name in ("kill", "start", "look")] == ["break", "mend", "step"]
    assert steps.effect_within_s == 120
    assert bool(steps)
    assert steps.awaits_mend
    assert not read({})[0]


@pytest.mark.parametrize(
    ("extension", "problem"),
    [
        ({"breaks": ["kil"]}, "`kil` is not a step of the method; did you mean `kill`?"),
        ({"breaks": ["ours"]}, "`ours` is an activity of brownout, which records itself"),
        ({"breaks": "kill"}, "found 'kill', wanted a list of names of steps"),
        ({"breaks": [1]}, "found [1], wanted a list of names of steps"),
        ({"breaks": ["kill"], "mends": ["kill"]}, "`kill` is also in `mends` or `harmless`"),
        ({"breaks": ["kill"], "effect_within_s": 0}, "found 0, wanted seconds above 0"),
        ({"breaks": ["kill"], "effect_within_s": True}, "found True, wanted seconds above 0"),
    ],
)
def test_what_is_wrong_with_the_names_is_said(extension: dict[str, Any], problem: str) -> None:
    assert [found for found in read(extension)[1] if problem in found]


@pytest.mark.parametrize(
    ("module", "function"), [("impact", "blackout"), ("cluster", "cluster_is_whole")]
)
def test_mends_that_come_after_the_measuring_are_refused(module: str, function: str) -> None:
    mended_late = {"method": [KILL], "rollbacks": [START]}
    extension = {"breaks": ["kill"], "mends": ["start"]}
    assert read(extension, **mended_late)[1] == []
    provider = {"type": "python", "module": f"brownout.probes.{module}", "func": function}
    asked = {**ASKED, "provider": provider}
    hypothesis = {"steady-state-hypothesis": {"title": "served", "probes": [asked]}}
    (problem,) = read(extension, **mended_late, **hypothesis)[1]
    assert "ends the measuring before the rollbacks" in problem


def test_who_does_a_step_is_said_without_its_arguments_and_passwords() -> None:
    http = {"type": "http", "url": "http://user:secret@host:8474/proxies?token=secret"}
    assert provided_by({"provider": {**http, "method": "POST"}}) == "POST host/proxies"
    process = {"type": "process", "path": "ssh", "arguments": "-p secret n1"}
    assert provided_by({"provider": process}) == "process ssh"
    assert provided_by(OURS) == "brownout.actions.node.kill_node"


#: What an operator's own script does: kill the leader, and start it again some seconds later.
SCRIPT = """
import os, pathlib, signal, subprocess, sys, time
import yaml
inventory = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
from brownout.databases.adapter import adapter_for
from brownout.inventory import inventory as inventories
adapter = adapter_for(inventories.load(sys.argv[1]))
(leader,) = [member.node for member in adapter.members() if member.role == "primary"]
host = {node["name"]: node["host"] for node in inventory["nodes"]}[leader]
pid = int(pathlib.Path(host["pid_file"]).read_text())
time.sleep(1)
os.kill(pid, signal.SIGKILL)
pathlib.Path("killed").write_text(str(time.time()))
time.sleep(2)
with open(os.devnull) as nothing:
    started = subprocess.Popen(
        host["command"], cwd=host["working_directory"], start_new_session=True,
        stdin=nothing, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
pathlib.Path(host["pid_file"]).write_text(str(started.pid))
"""


def by_script(where: Path, cluster: Cluster, **extension: Any) -> dict[str, Any]:
    """An experiment whose only action is a script of its own."""
    from brownout.infra.lab import status

    script = where / "restart-leader.py"
    script.write_text(f"#!{sys.executable}\n{SCRIPT}")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    inventory = status(cluster.name).directory / "inventory.yaml"
    experiment = chaos.quick(
        {
            "title": "A script restarts the leader",
            "description": "A step of another tool breaks; brownout measures.",
            "configuration": {"limits": {"recovery_time": 60, "lost_writes": 0}},
            "extensions": [
                {"name": "brownout", "scenario": "their-restart", "needs": [], **extension}
            ],
            "controls": [
                {
                    "name": "brownout",
                    "provider": {"type": "python", "module": "brownout.control"},
                }
            ],
            "method": [
                {
                    "type": "action",
                    "name": "restart-leader",
                    "provider": {
                        "type": "process",
                        "path": str(script),
                        "arguments": [str(inventory)],
                    },
                }
            ],
            "rollbacks": [],
        },
        chaos.LEAST_BASELINE_S,
    )
    experiment["configuration"]["cluster"] = cluster.name
    return experiment


@pytest.mark.live
def test_what_a_script_of_the_users_breaks_is_measured_from_its_effect_and_put_back_by_nobody(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run(by_script(tmp_path, lab_etcd, breaks=["restart-leader"]), tmp_path)
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    (event,) = fault["events"]
    assert event["evidence"]["by"].startswith("process ")
    assert event["evidence"]["seen"] == "the members changed"
    assert event["requested"] < event["effective"] < event["ended"]
    second_0 = datetime.fromisoformat(ran.impact["started"]).timestamp()
    killed = float((tmp_path / "killed").read_text()) - second_0
    assert abs(event["effective"] - killed) < event["uncertainty"] + 0.1
    assert event["uncertainty"] < (event["ended"] - event["requested"]) / 2  # else it knew nothing
    assert fault["blackout"] > 0.2
    assert fault["recovery_time"] > 0
    assert fault["redundancy_time"] is not None
    assert not [e for e in ran.events if e["type"] == "mend"]
    assert "restart-leader, by process" in ran.output
    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.code == 0


@pytest.mark.matrix
def test_a_script_that_is_not_declared_is_named_as_what_may_have_broken_something(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    experiment = by_script(tmp_path, lab_etcd)
    experiment["extensions"][0]["needs"] = ["kill"]
    experiment["runtime"] = {"rollbacks": {"strategy": "always"}}
    ran = chaos.run(experiment, tmp_path)
    assert ran.impact["verdict"] == "inconclusive"
    assert [reason for reason in ran.impact["reasons"] if "name it in `breaks`" in reason]


@pytest.mark.matrix
def test_a_fault_that_only_the_rollbacks_mend_is_measured_until_they_have(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    experiment = by_script(tmp_path, lab_etcd, breaks=["kill"], mends=["start"])
    kill, start = SCRIPT.split("time.sleep(2)\n")
    head = "import json, subprocess, sys, os, pathlib\n"
    mend = tmp_path / "start.py"
    (tmp_path / "kill.py").write_text(
        f"#!{sys.executable}\n{kill}pathlib.Path('host.json').write_text(__import__('json')"
        ".dumps(host))\n"
    )
    mend.write_text(
        f"#!{sys.executable}\n{head}host = json.loads(pathlib.Path('host.json').read_text())\n"
        f"{start}"
    )
    (action,) = experiment["method"]
    for name in ("kill", "start"):
        path = tmp_path / f"{name}.py"
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        part = "method" if name == "kill" else "rollbacks"
        provider = {**action["provider"], "path": str(path)}
        experiment[part] = [{**action, "name": name, "provider": provider}]
    experiment["method"][0]["pauses"] = {"after": 3}
    ran = chaos.run(experiment, tmp_path)
    (fault,) = ran.impact["faults"]
    assert [(e["type"], e["name"]) for e in fault["events"]] == [
        ("break", "kill"),
        ("mend", "start"),
    ]
    assert fault["redundancy_time"] is not None
    assert ran.impact["verdict"] == "pass", ran.output


@pytest.mark.matrix
def test_a_break_outside_the_experiment_is_marked_and_measured(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    experiment = by_script(tmp_path, lab_etcd, harmless=["restart-leader"])
    mark = {
        "type": "action",
        "name": "note-it",
        "provider": {
            "type": "python",
            "module": "brownout.actions.mark",
            "func": "mark_break",
            "arguments": {"name": "restart-by-hand", "by": "the operator"},
        },
    }
    experiment["method"].insert(0, mark)
    ran = chaos.run(experiment, tmp_path)
    (event,) = ran.impact["faults"][0]["events"]
    assert (event["name"], event["evidence"]["by"]) == ("restart-by-hand", "the operator")
    assert event["effective"] > event["requested"]
    assert ran.impact["faults"][0]["blackout"] > 0.2
    assert json.loads((tmp_path / "journal.json").read_text())["status"] == "completed", ran.output


@pytest.mark.matrix
def test_a_proxy_that_chaostoolkit_toxiproxy_closes_is_measured_as_another_client_sees_it(
    lab_slow: Cluster, tmp_path: Path
) -> None:
    """The other client is pymongo alone: one majority write after the other, and their times."""
    proxies = {node.name: getattr(node.host, "proxy", None) for node in lab_slow.nodes}
    (control,) = {proxy.control for proxy in proxies.values() if proxy is not None}
    adapter = adapter_for(lab_slow)
    (primary,) = [member.node for member in adapter.members() if member.role == "primary"]
    adapter.close()

    def step(what: str, **more: Any) -> dict[str, Any]:
        provider = {
            "type": "python",
            "module": "chaostoxi.proxy.actions",
            "func": f"{what}_proxy",
            "arguments": {"proxy_name": primary},
        }
        return {"type": "action", "name": f"{what}-the-proxy", "provider": provider, **more}

    theirs = {
        "title": "The way to the primary is closed",
        "description": "By actions of chaostoolkit-toxiproxy.",
        "configuration": {"toxiproxy_url": f"http://{control}", "cluster": lab_slow.name},
        "method": [step("disable"), step("enable", pauses={"before": 6})],
        "rollbacks": [step("enable")],
    }
    (tmp_path / "theirs.json").write_text(json.dumps(theirs))
    adopted = adopt(tmp_path / "theirs.json", limits={"recovery_time": 60, "lost_writes": 0})
    addresses = ",".join(node.address for node in lab_slow.nodes)
    with Alone(f"mongodb://{addresses}/?replicaSet={lab_slow.name}") as alone:
        ran = chaos.run(chaos.quick(adopted.experiment, chaos.LEAST_BASELINE_S), tmp_path)
    (fault,) = ran.impact["faults"]
    assert [(e["type"], e["name"]) for e in fault["events"]] == [
        ("break", "disable-the-proxy"),
        ("mend", "enable-the-proxy"),
        ("mend", "enable-the-proxy"),  # the rollback does it once more
    ]
    assert ran.impact["verdict"] == "pass", ran.output
    outage = fault["scopes"]["write"]["longest_blackout"]
    print(f"write outage {outage:.2f} s, of the other client {alone.longest_s:.2f} s")
    assert outage == pytest.approx(alone.longest_s, abs=1.0)


def following(tmp_path: Path, *, awaits_mend: bool = False) -> ExternalFaults:
    """The steps of others in a run that has a fault of another tool, and may have its end."""
    return ExternalFaults(
        ExternalSteps(marks=True, awaits_mend=awaits_mend),
        EventLog(tmp_path / "events.ndjson"),
        to_t=lambda t: t,
        before_break=lambda: None,
        change=lambda: Crossing("changed"),
    )


CUT = "NetworkChaos shop/cut"


def test_what_is_unknown_to_have_begun_is_settled_only_once_it_has_ended(tmp_path: Path) -> None:
    external = following(tmp_path, awaits_mend=True)

    def lost() -> Seen:
        raise NoAnswer(f"{CUT}: whether it did begin within 120 s is not known")

    with pytest.raises(NoAnswer):
        external.follow("break", CUT, "Chaos Mesh", lost)
    assert not external.settled()
    assert external.effects_known()  # nobody has to wait for an effect
    with pytest.raises(NoAnswer):
        external.follow("mend", CUT, "Chaos Mesh", lost)
    assert not external.settled()
    now = time.monotonic()
    external.follow("mend", CUT, "Chaos Mesh", lambda: Seen(now - 0.1, now))
    assert external.settled()


def test_a_fault_that_is_known_not_to_have_begun_needs_no_mend(tmp_path: Path) -> None:
    external = following(tmp_path, awaits_mend=True)

    def never_began() -> Seen:
        raise ClusterError(f"{CUT} did not begin within 120 s")

    with pytest.raises(ClusterError):
        external.follow("break", CUT, "Chaos Mesh", never_began)
    assert external.settled()


def test_a_fault_that_was_not_the_one_that_was_meant_breaks_its_contract_once(
    tmp_path: Path,
) -> None:
    external = following(tmp_path, awaits_mend=True)
    paused = "it was paused"
    external.follow("break", CUT, "Chaos Mesh", lambda: Seen(1.0, 2.0, {}, paused))
    external.follow("mend", CUT, "Chaos Mesh", lambda: Seen(3.0, 4.0, {}, paused))
    (breach,) = contract.breaches(read_events(tmp_path / "events.ndjson"))
    assert (breach.clause, breach.detail, breach.allowed) == (
        contract.DURATION, f"{CUT}: it was paused", False
    )  # fmt: skip


def test_a_fault_of_another_tool_is_followed_only_once_it_was_seen_to_begin(
    tmp_path: Path,
) -> None:
    external = following(tmp_path)

    def never_began() -> Seen:
        raise ClusterError("PodChaos shop/kill-one did not begin within 5 s")

    with pytest.raises(ClusterError):
        external.follow("break", "PodChaos shop/kill-one", "chaos-mesh", never_began)
    assert not external.followed("PodChaos shop/kill-one")
    external.follow("break", "PodChaos shop/kill-one", "chaos-mesh", lambda: Seen(1.0, 2.0))
    assert external.followed("PodChaos shop/kill-one")


class Alone:
    """A client that knows nothing of brownout; `longest_s` is its longest time without a write."""

    def __init__(self, uri: str) -> None:
        self._uri, self._stop = uri, Event()
        self._thread = Thread(target=self._write, daemon=True)
        self.longest_s = 0.0

    def __enter__(self) -> "Alone":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)

    def _write(self) -> None:
        client: Any = MongoClient(
            self._uri, w="majority", wTimeoutMS=1000, socketTimeoutMS=1000, retryWrites=False,
            serverSelectionTimeoutMS=200,
        )  # fmt: skip
        last = time.monotonic()
        while not self._stop.is_set():
            with contextlib.suppress(PyMongoError):
                client.alone.writes.insert_one({"at": time.time()})
                now = time.monotonic()
                self.longest_s, last = max(self.longest_s, now - last), now
            time.sleep(0.02)
        client.drop_database("alone")
        client.close()
