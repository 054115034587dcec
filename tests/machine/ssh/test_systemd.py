"""A node that is a systemd service, on a machine with a real systemd that can really reboot."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.machine.ssh.conftest import LISTENS
from tests.nspawn import Machine, machine
from tests.sshd import WHY_NOT
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.errors import HostError, Refused
from brownout.databases.lab.ports import reserve_ports
from brownout.faults import watch
from brownout.inventory.model import Node
from brownout.machine import cpu
from brownout.machine.commands import script
from brownout.machine.ssh import SshHost, SshSpec, pool
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.spec import Login

#: A supervisor that lets nothing stay dead, the worst case for a kill.
_NODE = """\
[Service]
ExecStart={python} -c {code} {port} 0
Restart=always
RestartSec={restart_s}
"""
#: What systemd makes of a SysV script, whose shell starts the node as a helper would.
_SYSV = """\
[Service]
Type=forking
RemainAfterExit=yes
GuessMainPID=no
KillMode=process
ExecStart=/bin/sh -c 'setsid nohup {python} /etc/systemd/system/listens.py {port} 0 & sleep 0.2'
ExecStop=-/usr/bin/pkill -f "^{python} /etc/systemd/system/listens.py"
"""
#: Several servers in one unit, and a unit that only stands for others.
_SEVERAL = """\
[Service]
Type=forking
GuessMainPID=no
ExecStart=/bin/sh -c 'setsid sleep 300 & setsid sleep 300 &'
"""
_UMBRELLA = """\
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
"""
_BROKEN = """\
[Service]
ExecStart=/bin/sh -c 'echo cannot open the volume; exit 4'
"""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> int:
    return reserve_ports(1, tmp_path_factory.mktemp("port"))[0]


@pytest.fixture(scope="module")
def computer(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Machine]:
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    code = '"' + LISTENS.replace("\n", "\\n").replace('"', '\\"') + '"'
    node = {"python": sys.executable, "code": code, "port": port}
    units = {
        "node.service": _NODE.format(**node, restart_s=0),
        "slow.service": _NODE.format(**node, restart_s=60),
        "broken.service": _BROKEN,
        "listens.py": LISTENS,
        "sysv.service": _SYSV.format(**node),
        "several.service": _SEVERAL,
        "umbrella.service": _UMBRELLA,
    }
    with machine(tmp_path_factory.mktemp("machine"), units) as computer:
        yield computer
        pool.close_all()


@pytest.fixture
def host_of(computer: Machine, port: int) -> Iterator[Callable[..., SshHost]]:
    """Make the host of a service; it is stopped after the test."""
    made = []

    def make(service: str = "node") -> SshHost:
        made.append(_host(computer, port, service))
        return made[-1]

    yield make
    for host in made:
        host.stop("kill")


HostOf = Callable[..., SshHost]


def _host(computer: Machine, port: int, service: str) -> SshHost:
    spec = SshSpec.model_validate({**computer.sshd.login(), "service": service})
    return SshHost(Node(name="n1", address=f"127.0.0.1:{port}", host=spec))


def test_a_service_is_started_and_stopped_as_systemd_does_it(host_of: HostOf) -> None:
    host = host_of()
    assert host.running().describe() == "not running"

    started = host.start()
    state = host.running()
    stopped = host.stop("clean")

    assert started.evidence["listening"]
    assert state.evidence["unit"] == "active (running)"
    assert (stopped.evidence["command"], stopped.evidence["state"]) == (
        "systemctl stop -- 'node'", "gone",
    )  # fmt: skip
    assert stopped.uncertainty_s < 5
    assert host.running().evidence["unit"] == "inactive (dead)"
    assert host.stop("clean").already


def test_a_killed_service_stays_down_although_systemd_would_restart_it(host_of: HostOf) -> None:
    host = host_of()
    host.start()

    proof = host.stop("kill")

    assert proof.evidence["signal"] == "SIGKILL"
    assert "restarted_as_pid" not in proof.evidence
    assert host.running().describe() == "not running"


def test_a_service_that_an_operator_starts_again_or_lets_run_is_seen(
    host_of: HostOf, computer: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "EVERY_S", 0.1)
    host = host_of()
    host.start()
    killed = watched(host, "kill_node", "start_node", host.stop("kill"), tmp_path / "killed")
    killed.await_looks(3)  # systemd, which restarts whatever ends, is held off
    _told(computer, "systemctl start node")
    assert "undo_after_s" not in killed.breach().detail

    paused = watched(host, "pause_node", "resume_node", host.pause(60), tmp_path / "paused")
    _told(computer, "systemctl kill --signal=CONT node")
    assert "undo_after_s" not in paused.breach().detail
    assert paused.undone(host.resume)["watched"]["until_undo"] is False


def _told(computer: Machine, command: str) -> None:
    """What an operator types on the machine."""
    login = Login.model_validate(computer.sshd.login())
    done = SshRunner(pool.connection_for(login)).run(script(command))
    assert not done.status, done.errors


def test_a_paused_service_is_resumed(host_of: HostOf) -> None:
    host = host_of()
    host.start()

    host.pause()
    assert host.running().paused
    host.resume()

    assert not host.running().paused


def test_a_service_gets_little_cpu_by_its_quota_and_has_its_own_again(host_of: HostOf) -> None:
    host, node = host_of(), Node(name="n1", address="127.0.0.1:1", host=host_of()._spec)
    host.start()
    host._runner.run(script("mount -o remount,rw /sys/fs/cgroup/cpu"))  # as on a real machine
    if reason := cpu.why_not(node, host):
        pytest.skip(f"NOT TESTED: CPUQuota: {reason}")
    try:
        proof = cpu.limit(node, host, 0.2, 120)
    except HostError as error:
        cpu.undo_on(node, host)
        assert _quota(host) == "infinity"
        pytest.skip(f"NOT TESTED: CPUQuota: this systemd may not use control groups: {error}")
    assert (proof.evidence["by"], proof.evidence["cpus"]) == ("systemd", 0.2)
    assert _quota(host) == "200ms"
    assert cpu.left_on(node, host) == "0.2 CPUs by systemd"
    assert not cpu.undo_on(node, host).already
    assert _quota(host) == "infinity"
    assert cpu.left_on(node, host) == ""


def _quota(host: SshHost) -> str:
    done = host._runner.run(script("systemctl show --property=CPUQuotaPerSecUSec --value -- node"))
    return done.output.strip()


def test_a_service_that_systemd_is_about_to_restart_is_not_wiped(
    host_of: HostOf, computer: Machine, tmp_path: Path
) -> None:
    host = host_of("slow")
    host.start()
    pid = host.running().pid
    _over_ssh(computer, f"kill -KILL {pid}")
    await_true(lambda: not host.running().running)

    with pytest.raises(Refused, match=r"systemd says that `slow` is activating \(auto-restart\)"):
        host.wipe([tmp_path])
    _over_ssh(computer, "systemctl stop slow")


def test_a_service_that_does_not_start_says_its_last_words(host_of: HostOf) -> None:
    with pytest.raises(HostError, match=r"node `n1` did not start: .*cannot open the volume"):
        host_of("broken").start()


def test_a_node_without_a_main_process_is_the_one_of_its_control_group(
    host_of: HostOf, computer: Machine
) -> None:
    host = host_of("sysv")
    assert host.start().evidence["listening"]
    pid = host.running().pid
    assert pid is not None
    assert host.stop("kill").evidence["pid"] == pid
    assert host.running().describe() == "not running"

    host.start()
    clean = host.stop("clean")
    assert (clean.evidence["state"], clean.already) == ("gone", False)

    host.start()  # it dies by itself, and its unit stays active
    _told(computer, f"kill -KILL {host.running().pid}")
    await_true(lambda: host.running().evidence["unit"] == "active (exited)")
    assert host.stop("kill").already
    assert host.start().evidence["listening"]


@pytest.mark.parametrize("unit", ["several", "umbrella"])
def test_a_unit_that_has_no_process_to_act_on_is_refused_and_not_called_gone(
    host_of: HostOf, computer: Machine, unit: str
) -> None:
    _told(computer, f"systemctl start {unit}")
    host = _host(computer, 1, unit)
    for act in (host.running, lambda: host.stop("kill"), host.start):
        with pytest.raises(HostError, match=naming(f"`{unit}`", "pid_file")):
            act()
    _told(computer, f"systemctl stop {unit}")
    assert host.running().describe() == "not running"


def test_a_service_that_is_not_there_is_named(computer: Machine) -> None:
    with pytest.raises(HostError, match=naming("`mongodb`", "`service`")):
        _host(computer, 1, "mongodb").running()


def test_a_reboot_is_done_when_the_machine_is_in_its_next_boot(host_of: HostOf) -> None:
    host = host_of()
    host.start()
    before, asked = host.machine, time.monotonic()

    proof = host.reboot()

    assert proof.evidence["boot_id"] != proof.evidence["boot_id_before"]
    assert asked <= proof.effective_monotonic - proof.uncertainty_s
    assert proof.effective_monotonic <= time.monotonic()
    assert host.machine != before
    assert not host.running().running  # nobody enabled it
    assert host.start().evidence["state"] == "running"


def _over_ssh(computer: Machine, command: str) -> None:
    """Do something on the machine behind the host's back."""
    runner = SshRunner(pool.connection_for(Login.model_validate(computer.sshd.login())))
    assert runner.run(script(command)).status == 0
