"""Ports for members that go and come back."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from brownout.base.errors import ClusterError
from brownout.databases.lab import ports
from brownout.databases.lab.ports import free_ports, reserve_ports

RESERVES = """
import sys
from pathlib import Path
from brownout.databases.lab.ports import reserve_ports
sys.stdin.readline()
print(*[port for _ in range(10) for port in reserve_ports(40, Path(sys.argv[1]))])
"""


@pytest.fixture(autouse=True)
def _own_reservations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    made = tmp_path / "owner"
    made.mkdir()
    return made


def test_they_are_different_and_free(owner: Path) -> None:
    found = reserve_ports(5, owner)

    assert len(set(found)) == 5
    for port in found:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))


def test_a_row_is_one(owner: Path) -> None:
    first, *more = reserve_ports(4, owner, in_a_row=True)
    assert more == [first + 1, first + 2, first + 3]


def test_no_outgoing_connection_can_be_given_one() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])

    assert first < 22_000 or max(free_ports(20)) < first


def test_a_port_in_use_is_left_out() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        taken = free_ports(1)[0]
        with socket.create_server(("127.0.0.1", taken)):
            assert taken not in free_ports(500)


def test_a_port_is_nobody_elses_as_long_as_its_owner_is_there(
    owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = reserve_ports(3, owner)
    monkeypatch.setattr(ports, "_candidates", lambda: mine)
    with pytest.raises(ClusterError, match="found only 0 free ports of 1"):
        reserve_ports(1, tmp_path)
    with pytest.raises(ClusterError, match="found only 0 free ports of 1"):
        free_ports(1)

    shutil.rmtree(owner)
    owner.mkdir()  # a lab that is brought up again is another owner
    assert reserve_ports(3, tmp_path) == mine


def test_processes_that_choose_at_the_same_time_choose_different_ones(tmp_path: Path) -> None:
    processes = []
    for name in "abc":
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", RESERVES, str(tmp_path / name)]
        processes.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    found = [port for process in processes for port in process.communicate()[0].split()]

    assert len(found) == len(set(found)) == 1200


def test_where_ports_cannot_be_reserved_the_error_says_what_to_do(
    owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        ClusterError, match=r"ports cannot be reserved in .*: Not a directory"
    ) as no:
        reserve_ports(1, owner)
    assert "XDG_STATE_HOME" in str(no.value)
