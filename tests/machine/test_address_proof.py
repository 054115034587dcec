"""Which process serves a node's address: proven by a connection that is seen at both ends."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster, Guards, Node, ProcessSpec
from brownout.machine.address_proof import served_by
from brownout.machine.host import host_for
from brownout.run.events import EventLog

#: Serves by a child of the process, as PostgreSQL does.
FORKING = """
import os, socket, sys, time
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), family=int(sys.argv[3]))
while True:
    link, _ = listener.accept()
    if os.fork() == 0:
        listener.close()
        link.recv(1)
        os._exit(0)
    link.close()
"""


@dataclass
class Servers:
    """Real servers of this test, each with the node that an inventory makes of it."""

    root: Path
    stack: ExitStack

    def start(self, name: str, program: str, host: str = "127.0.0.1") -> Node:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as free:
            free.bind((host, 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-c", program, host, str(port), str(int(family))]
        process = self.stack.enter_context(subprocess.Popen(command))
        self.stack.callback(process.kill)
        await_true(lambda: _listens(host, port))
        pid_file = self.root / f"{name}.pid"
        pid_file.write_text(str(process.pid))
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        spec = ProcessSpec(command=tuple(command), pid_file=pid_file)
        return Node(name=name, address=address, host=spec)


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1.0).close()
    except OSError:
        return False
    return True


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(tmp_path, stack)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_child_of_the_nodes_process_serves_its_address(servers: Servers, host: str) -> None:
    node = servers.start("n1", FORKING, host)
    assert served_by(node, [node]).by == "own"


def test_an_address_that_the_process_of_another_node_serves_is_found(servers: Servers) -> None:
    one, two = servers.start("n1", FORKING), servers.start("n2", FORKING)
    turned = [one.model_copy(update={"host": two.host}), two.model_copy(update={"host": one.host})]
    served = served_by(turned[0], turned)
    assert served.by == "other"
    assert "the process of node `n2` serves" in served.detail


def test_an_address_of_the_same_program_outside_the_inventory_is_found(servers: Servers) -> None:
    one, stranger = servers.start("n1", FORKING), servers.start("n9", FORKING)
    moved = one.model_copy(update={"address": stranger.address})
    assert served_by(moved, [moved]).by == "other"


def test_an_address_that_answers_though_no_process_of_the_node_is_found_is_another_ones(
    servers: Servers,
) -> None:
    """As where the server has changed its title, or `command` has a typing error."""
    node = servers.start("n1", FORKING)
    assert node.host is not None
    renamed = node.host.model_copy(update={"command": ("server", "of", "another", "name")})
    changed = node.model_copy(update={"host": renamed})
    served = served_by(changed, [changed])
    assert served.by == "other"
    assert "finds no process of node `n1`" in served.detail


def test_a_proxy_before_the_process_leaves_it_unknown(servers: Servers) -> None:
    one = servers.start("n1", FORKING)
    with subprocess.Popen(
        ["perl", "-MIO::Socket::INET", "-e",
         "$s = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', LocalPort => 0);"
         "$| = 1; print $s->sockport, qq{\\n}; while ($c = $s->accept) { push @all, $c }"],
        stdout=subprocess.PIPE, text=True,
    ) as proxy:  # fmt: skip
        assert proxy.stdout is not None
        port = int(proxy.stdout.readline())
        behind = one.model_copy(update={"address": f"127.0.0.1:{port}"})
        served = served_by(behind, [behind])
        proxy.kill()
    assert served.by == "unknown"
    assert "hides which process serves" in served.detail


def test_an_address_that_does_not_answer_and_a_node_without_a_host_are_unknown(
    servers: Servers,
) -> None:
    node = servers.start("n1", FORKING)
    assert served_by(node.model_copy(update={"host": None}), [node]).by == "unknown"
    silent = node.model_copy(update={"address": "127.0.0.1:1"})
    assert "does not answer" in served_by(silent, [silent]).detail


@pytest.mark.live
def test_an_inventory_with_the_hosts_of_two_nodes_exchanged_breaks_nothing(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    """The process of n3 under the address of n2: `deny_nodes: [n3]` would not protect it."""
    one, two, three = lab_etcd.nodes
    turned = lab_etcd.model_copy(
        update={
            "nodes": (
                one,
                two.model_copy(update={"host": three.host}),
                three.model_copy(update={"host": two.host}),
            ),
            "guards": Guards(deny_nodes=("n3",)),
        }
    )
    for node in turned.nodes[1:]:
        assert served_by(node, turned.nodes).by == "other"
    with closing(adapter_for(turned)) as adapter:
        events = EventLog(tmp_path / "events.ndjson")
        faults = Faults(turned, adapter, events, lambda t: t)
        with pytest.raises(Refused, match=naming("`n3`", turned.nodes[1].address)):
            faults.run("kill_node", turned.nodes[1])
    assert not (tmp_path / "events.ndjson").exists()
    assert all(host_for(node).running().running for node in lab_etcd.nodes)
