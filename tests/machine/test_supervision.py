"""A supervisor would start a killed node again: it is told not to, or the plan says so."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import supervision
from brownout.machine.commands import LocalRunner
from brownout.machine.host import host_for
from brownout.machine.supervision import supervisor_of

DATABASE = "import time\nwhile True: time.sleep(1)"


def node_of(directory: Path, pid_file: Path) -> Node:
    program = directory / "db.py"
    spec = ProcessSpec(
        command=(sys.executable, str(program)), pid_file=pid_file, config_file=program
    )
    return Node(name="n1", address="127.0.0.1:1", host=spec)


@contextmanager
def supervised(command: list[str], where: Path) -> Iterator[None]:
    """Run a supervisor, and end it with all that it started."""
    process = subprocess.Popen(command, cwd=where, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)
        with_pid = where / "db" / "supervise" / "pid"
        if with_pid.is_file() and with_pid.read_text().strip():
            os.kill(int(with_pid.read_text()), signal.SIGKILL)


@pytest.mark.skipif(shutil.which("runsv") is None, reason="runit is not installed")
def test_a_node_of_runit_stays_down_after_a_kill_and_starts_by_sv(tmp_path: Path) -> None:
    service = tmp_path / "db"
    service.mkdir()
    (service / "db.py").write_text(DATABASE)
    run = service / "run"
    run.write_text(f"#!/bin/sh\nexec {sys.executable} {service}/db.py\n")
    run.chmod(run.stat().st_mode | stat.S_IXUSR)
    pid_file = service / "supervise" / "pid"
    node = node_of(service, pid_file)
    with supervised(["runsv", str(service)], tmp_path):
        await_true(lambda: pid_file.is_file() and host_for(node).running().running)
        host = host_for(node)
        assert f"held off by `sv once {service}`" in host.would("kill")
        proof = host.stop("kill")
        assert proof.evidence["supervisor"] == f"held off by `sv once {service}`"
        assert "restarted_as_pid" not in proof.evidence
        await_true(lambda: "down: " in _status(service))
        assert not host.running().running
        subprocess.run(["sv", "up", str(service)], check=True, capture_output=True)
        await_true(lambda: host_for(node).running().running)
        subprocess.run(["sv", "down", str(service)], check=True, capture_output=True)
        await_true(lambda: not host_for(node).running().running)


def _status(service: Path) -> str:
    return subprocess.run(["sv", "status", str(service)], capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("supervisord") is None, reason="supervisor is not installed")
def test_a_plan_says_that_supervisord_cannot_be_held_off(tmp_path: Path) -> None:
    (tmp_path / "db.py").write_text(DATABASE)
    pid_file = tmp_path / "db.pid"
    (tmp_path / "supervisord.conf").write_text(
        f"[supervisord]\nnodaemon=true\nlogfile={tmp_path}/log\npidfile={tmp_path}/pid\n"
        f"[program:db]\ncommand=/bin/sh -c 'echo $$ > {pid_file}; exec {sys.executable} "
        f"{tmp_path}/db.py'\nautorestart=true\nstartsecs=0\n"
    )
    node = node_of(tmp_path, pid_file)
    command = ["supervisord", "-c", str(tmp_path / "supervisord.conf")]
    with supervised(command, tmp_path):
        await_true(lambda: pid_file.is_file() and host_for(node).running().running)
        assert "supervisord (process " in host_for(node).would("kill")
        assert "cannot be told not to for one program" in host_for(node).would("kill")


def test_a_process_without_a_supervisor_has_none(tmp_path: Path) -> None:
    assert supervisor_of(LocalRunner(), os.getpid()) is None


def test_a_node_that_ends_while_its_supervisor_is_looked_for_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "db.py").write_text(DATABASE)
    node = node_of(tmp_path, tmp_path / "db.pid")
    with subprocess.Popen([sys.executable, str(tmp_path / "db.py")]) as process:
        (tmp_path / "db.pid").write_text(str(process.pid))
        await_true(lambda: host_for(node).running().running)

        def ends(*_: object) -> dict[str, str]:
            process.kill()
            process.wait()
            return {}

        monkeypatch.setattr(supervision, "hold", ends)
        assert host_for(node).stop("kill").already
