"""Containers stopped, paused and started for real, through the real SDK and a recorded API."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, SIGUSR1
from typing import Any

import pytest
from tests.machine.docker.boxes import AHEAD_S, Box
from tests.machine.docker.recorded import RecordedEngine
from tests.waiting import await_true

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine import procfs
from brownout.machine.docker import DockerHost, DockerSpec, container, undo
from brownout.machine.docker.container import checked, locate
from brownout.machine.docker.engine import connected
from brownout.machine.host import host_class

NodeOf = Callable[..., Node]


def _frozen(box: Box) -> bool:
    return box.process is not None and procfs.thread_states(box.process.pid) == {"T"}


def test_an_inventory_finds_it_by_its_kind() -> None:
    assert host_class("docker") is DockerHost


def test_a_container_is_known_by_its_id_and_its_start(host: DockerHost, box: Box) -> None:
    state = host.running()

    assert (state.running, state.paused) == (True, False)
    assert box.process is not None
    assert state.pid == box.process.pid
    assert state.evidence["container_id"] == box.id[:12]
    assert state.evidence["started_at"] == box.started
    assert host.machine == f"container {box.id}"


def test_a_kill_is_proven_by_when_the_engine_saw_the_end(host: DockerHost, box: Box) -> None:
    before = time.monotonic()
    proof = host.stop("kill")

    assert box.process is None
    assert box.exit_code == 137
    assert before <= proof.effective_monotonic <= time.monotonic()
    # The engine's clock is an hour ahead, and compared with ours by asking for the time.
    assert 0 <= proof.uncertainty_s <= time.monotonic() - before < AHEAD_S
    assert (proof.evidence["signal"], proof.evidence["state"]) == ("SIGKILL", "gone")
    assert not host.running().running
    assert host.stop("kill").already


def test_a_container_that_ends_by_itself_just_before_its_kill_is_gone(
    host: DockerHost, box: Box, engine: RecordedEngine
) -> None:
    def ends() -> None:
        engine.dies(box)
        box.gone.wait()

    engine.when_asked["POST"] = ends
    assert host.stop("kill").evidence["state"] == "gone"


def test_a_clean_stop_lets_it_end_by_itself(host: DockerHost, box: Box) -> None:
    assert host.stop("clean").evidence["signal"] == "SIGTERM"
    assert box.exit_code == 0


def test_a_clean_stop_sends_the_signal_that_the_image_wants(
    engine: RecordedEngine, node_of: NodeOf
) -> None:
    waits = "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(0)); signal.pause()"
    command = [sys.executable, "-c", f"import signal, sys; {waits}"]
    engine.start_ready(engine.add("n1", command, config={"StopSignal": "SIGUSR1"}), SIGUSR1)
    host = DockerHost(node_of())

    assert host.stop("clean").evidence["signal"] == "SIGUSR1"
    assert not host.running().running


def test_a_container_that_does_not_hear_the_signal_is_not_killed_instead(
    engine: RecordedEngine, node_of: NodeOf
) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    box = engine.add("n1", [sys.executable, "-c", deaf])
    engine.start_ready(box)
    host = DockerHost(node_of(stop_timeout_s=0.2))

    with pytest.raises(HostError, match=r"still runs 0.2 s after SIGTERM .*or kill it"):
        host.stop("clean")
    assert box.running


def test_a_killed_container_stays_down_though_its_policy_is_to_restart_it(
    engine: RecordedEngine, node_of: NodeOf, box: Box
) -> None:
    box.policy = "always"
    engine.start(box)
    host = DockerHost(node_of())
    born = box.started
    engine.dies(box)
    await_true(lambda: box.running and box.started != born)  # that is what the policy does

    proof = host.stop("kill")

    assert proof.evidence["restart_policy"] == "always"
    assert "restarted_as_pid" not in proof.evidence
    assert not host.running().running
    assert box.restarts == 1


def test_a_start_is_proven_and_safe_to_repeat(host: DockerHost, box: Box) -> None:
    host.stop("kill")
    first = box.started

    assert host.start().evidence["state"] == "running"
    assert box.started != first
    assert host.start().already


def test_a_container_that_ends_at_once_was_not_started(
    engine: RecordedEngine, node_of: NodeOf
) -> None:
    engine.add("n1", ["/bin/sh", "-c", "echo no such file >&2; exit 3"])

    with pytest.raises(HostError, match=r"ended at once with status 3; its log ends: no such"):
        DockerHost(node_of()).start()


def test_what_the_engine_refuses_is_said_in_its_words(
    engine: RecordedEngine, node_of: NodeOf
) -> None:
    engine.add("n1", ["/usr/bin/no-such-program"])

    with pytest.raises(HostError, match=r"docker: the engine at unix://.* says: .*no such file"):
        DockerHost(node_of()).start()


def test_a_paused_container_stands_still_until_it_is_resumed(host: DockerHost, box: Box) -> None:
    proof = host.pause()

    assert _frozen(box)
    assert host.running().paused
    assert proof.evidence["undo_after_s"] == 120
    assert host.pause().already
    assert not host.resume().already
    assert not _frozen(box)
    assert host.resume().already
    assert procfs.identify(proof.evidence["undo_pid"]) is None


def test_a_pause_whose_switch_ran_out_before_it_is_ended_at_once(
    host: DockerHost, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = undo.arm

    def late(*arguments: Any) -> int:
        switch = arm(*arguments)
        os.kill(switch, SIGKILL)  # as where we lose the processor for so long
        await_true(lambda: procfs.identify(switch) is None, "its end")
        return switch

    monkeypatch.setattr(undo, "arm", late)
    with pytest.raises(HostError, match="undo_after_s"):
        host.pause(60)
    assert not host.running().paused


def test_a_paused_container_goes_on_by_itself_without_us(
    host: DockerHost, box: Box, engine: RecordedEngine, node_of: NodeOf
) -> None:
    """Whoever paused it is gone; so is every connection."""
    node = node_of().model_dump(mode="json")
    script = (
        "import json, sys; from brownout.machine.docker import DockerHost, DockerSpec; "
        "from brownout.inventory.model import Node; data = json.loads(sys.argv[1]); "
        "data['host'] = DockerSpec.model_validate(data['host']); "
        "DockerHost(Node.model_validate(data)).pause(20)"
    )
    subprocess.run([sys.executable, "-c", script, json.dumps(node)], check=True, timeout=60)

    await_true(lambda: engine.asked.count(f"POST /containers/{box.id}/unpause") == 1)
    asked = [line for line in engine.asked if "pause" in line]
    assert asked == [f"POST /containers/{box.id}/{act}" for act in ("pause", "unpause")]
    await_true(lambda: not box.paused and not _frozen(box))


def test_the_switch_leaves_a_later_life_of_the_container_alone(
    host: DockerHost, box: Box, engine: RecordedEngine, node_of: NodeOf
) -> None:
    settings = node_of().host
    assert isinstance(settings, DockerSpec)
    with connected(settings) as client:
        first = locate(client, "n1", "n1")
    engine.kill(box, "SIGKILL")
    engine.start(box)
    engine.pause(box)

    undo.arm(settings, first, 0.1)

    await_true(lambda: undo.armed(first) == [])
    assert box.paused


def test_a_second_pause_has_a_switch_of_its_own_and_only_one(
    host: DockerHost, box: Box, engine: RecordedEngine
) -> None:
    first = host.pause().evidence["undo_pid"]
    engine.unpause(box)  # by somebody else
    second = host.pause().evidence["undo_pid"]

    assert procfs.identify(first) is None
    assert procfs.identify(second) is not None
    host.stop("kill")
    assert procfs.identify(second) is None


def test_a_paused_container_is_killed_but_not_stopped_cleanly(host: DockerHost, box: Box) -> None:
    host.pause()
    with pytest.raises(Refused, match="it is paused and would not hear it"):
        host.stop("clean")
    host.stop("kill")
    assert not box.running


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_what_does_not_run_is_not_paused_or_resumed(
    engine: RecordedEngine, box: Box, node_of: NodeOf, act: str
) -> None:
    with pytest.raises(HostError, match="it is not running; start it"):
        getattr(DockerHost(node_of()), act)()


def test_a_reboot_is_skipped(host: DockerHost) -> None:
    proof = host.reboot()
    assert proof.skipped
    assert "no machine of its own" in proof.evidence["reason"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"host": {"AutoRemove": True}}, "is removed when it stops, with its data; make it withou"),
        ({"config": {"Labels": {"com.docker.swarm.task.id": "x"}}}, "is a task of a swarm"),
    ],
)
def test_a_container_that_would_not_stay_as_we_leave_it_is_refused(
    engine: RecordedEngine, node_of: NodeOf, change: dict[str, dict[str, object]], reason: str
) -> None:
    engine.start(engine.add("n1", [sys.executable, "-c", "input()"], **change))
    for act in ("stop", "start", "pause"):
        with pytest.raises(Refused, match=reason):
            getattr(DockerHost(node_of()), act)(*(["kill"] if act == "stop" else []))


def test_a_plan_says_what_would_be_done_and_nothing_is(
    host: DockerHost, box: Box, engine: RecordedEngine
) -> None:
    before = len(engine.asked)
    told = {act: host.would(act) for act in ("stop", "kill", "pause", "resume", "start", "reboot")}

    assert told["kill"] == f"SIGKILL to container n1 ({box.id[:12]}) of {engine.address}"
    assert told["stop"].startswith("SIGTERM to container n1")
    assert told["pause"].startswith("docker pause container n1")
    assert host.would("wipe", [Path("/data/db")]).startswith("empty /data/db in the volumes of")
    assert {line.split()[0] for line in engine.asked[before:]} == {"GET"}


def test_an_unknown_container_is_named_with_where_to_look(
    engine: RecordedEngine, node_of: NodeOf
) -> None:
    with pytest.raises(HostError, match=r"has no container `gone`; `docker ps --all` shows"):
        DockerHost(node_of("gone")).running()


def test_a_container_that_is_always_restarted_is_refused(
    host: DockerHost, node_of: NodeOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(node_of().host) as client:  # type: ignore[arg-type]
        found = replace(locate(client, "n1", "n1"), restarting=True, exit_code=1)
        monkeypatch.setattr(container, "locate", lambda *_: found)
        with pytest.raises(Refused, match="ended with status 1"):
            checked(client, "n1", "n1")


def test_a_container_is_seen_by_how_the_engine_started_it(
    host: DockerHost, box: Box, tmp_path: Path
) -> None:
    box.config |= {
        "Entrypoint": ["/run.sh"],
        "Cmd": ["etcd", "--name", "n1"],
        "Env": ["ETCD_DATA_DIR=/d=1", "SECRET=x"],
        "WorkingDir": "/w",
    }
    seen = host.footprint(("ETCD_DATA_DIR",))
    assert seen is not None
    assert seen.command == ("/run.sh", "etcd", "--name", "n1")
    assert seen.variables == {"ETCD_DATA_DIR": "/d=1"}
    assert (seen.directory, seen.files) == (Path("/w"), ())
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert host.resolved([tmp_path / "link" / "journal"]) == [tmp_path / "data" / "journal"]
    host.stop("kill")
    assert host.footprint() is None
