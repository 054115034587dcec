"""A real sshd for each test that wants one, and no connection left after it."""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.sshd import WHY_NOT, Sshd

from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Node
from brownout.machine.ssh import SshHost, SshSpec, pool

#: Listens on the port of its first argument, in several threads, until SIGTERM, and then for as
#: many seconds more as its second argument says.
LISTENS = """
import signal, socket, sys, threading, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for _ in range(8):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.sigwait([signal.SIGTERM])
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture(scope="session")
def _shared_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    server = Sshd(tmp_path_factory.mktemp("sshd")).start()
    try:
        yield server
    finally:
        pool.close_all()
        server.stop()


@pytest.fixture
def node_at(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Node]:
    """Make a node behind a sshd: a small real process; `host` changes its settings.

    The sshd is the test's own if it has one.
    """
    own = "sshd" in request.fixturenames
    sshd: Sshd = request.getfixturevalue("sshd" if own else "_shared_sshd")
    (port,) = reserve_ports(1, tmp_path)
    program = tmp_path / "listens.py"
    program.write_text(LISTENS, encoding="utf-8")
    pid_file, python = tmp_path / "node.pid", shlex.quote(sys.executable)

    def make(linger_s: float = 0.0, commands: Mapping[str, Any] | None = None, **host: Any) -> Node:
        settings = {
            "start": f"echo $$ > {pid_file}; exec {python} {program} {port} {linger_s}",
            "stop": f"kill -TERM $(cat {pid_file})",
            "pid_file": str(pid_file),
            "program": Path(sys.executable).name,
            "log_file": str(tmp_path / "node.log"),
            **(commands or {}),
        }
        spec = SshSpec.model_validate({**sshd.login(), "commands": settings, **host})
        return Node(name="n1", address=f"127.0.0.1:{port}", host=spec)

    return make


@pytest.fixture
def host(node_at: Callable[..., Node]) -> Iterator[SshHost]:
    """The host of a node that runs at the start and is gone after the test."""
    host = SshHost(node_at())
    host.start()
    yield host
    host.stop("kill")
