"""Nodes whose processes are real and small, for the tests of process hosts."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Node, ProcessSpec

#: Listens on the port of its second argument, in several threads, until SIGTERM.
LISTENS = """
import signal, socket, sys, threading
server = socket.create_server(("127.0.0.1", int(sys.argv[2])))
for _ in range(8):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.sigwait([signal.SIGTERM])
"""


@pytest.fixture
def node_of(tmp_path: Path) -> Callable[..., Node]:
    """Make a node whose process is a command; its configuration file exists and is empty."""

    def make(command: Sequence[str], port: int = 1) -> Node:
        configuration = tmp_path / "node.conf"
        configuration.touch()
        host = ProcessSpec(
            pid_file=tmp_path / "node.pid",
            config_file=configuration,
            log_file=tmp_path / "node.log",
            command=tuple(command),
            stop_timeout_s=5.0,
        )
        return Node(name="n1", address=f"127.0.0.1:{port}", host=host)

    return make


@pytest.fixture
def waiting_node(tmp_path: Path, node_of: Callable[..., Node]) -> Node:
    """A node whose process does nothing and names its configuration file."""
    return node_of(["tail", "-f", str(tmp_path / "node.conf")])


@pytest.fixture
def listening_node(tmp_path: Path, node_of: Callable[..., Node]) -> Node:
    """A node whose process has several threads and listens."""
    (port,) = reserve_ports(1, tmp_path)
    program = tmp_path / "listens.py"
    program.write_text(LISTENS, encoding="utf-8")
    command = [sys.executable, str(program), str(tmp_path / "node.conf"), str(port)]
    return node_of(command, port)
