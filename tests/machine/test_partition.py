"""A node in a real network namespace is cut off from the others, both ways, and joined again."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.links import partitionable
from tests.namespaces import node_at as node
from tests.namespaces import waiting_switches
from tests.waiting import await_true

from brownout.base.errors import Refused, Unsupported
from brownout.base.wait import wait_until
from brownout.databases.lab import network as lab_network
from brownout.databases.lab.network import Place
from brownout.machine import network, partition
from brownout.machine.host import host_for

WHY_NOT = network.why_not()
rooted = pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: partitions: {WHY_NOT}")
PORT = 5000
#: Answers what it is told on its own address; in the namespace of the node.
ECHO = f"""
import socket, sys, threading
listener = socket.create_server((sys.argv[1], {PORT}))
def echo(there):
    while got := there.recv(100):
        there.sendall(got)
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""
#: Whether each address answers, from where this runs.
ASK = f"""
import socket, sys
for address in sys.argv[1:]:
    try:
        with socket.create_connection((address, {PORT}), 0.5) as there:
            there.settimeout(0.5)
            there.sendall(b"x")
            print(int(there.recv(1) == b"x"))
    except OSError:
        print(0)
"""
Places = dict[str, Place]


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Places]:
    """Three namespaces on one bridge, each with a server that answers; gone after the test."""
    with contextlib.ExitStack() as stack:
        stack.callback(lab_network.remove, tmp_path)
        made = lab_network.make(tmp_path, ["n1", "n2", "n3"])
        for place in made.values():
            server = _inside(place, ECHO, place.address)
            stack.callback(server.communicate)
            stack.callback(server.kill)
        for place in made.values():
            _await_answer(place.address)
        yield made


def _inside(place: Place, code: str, *words: str) -> subprocess.Popen[str]:
    command = [*network.enter(place.namespace), sys.executable, "-c", code, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _await_answer(address: str) -> None:
    with wait_until(
        lambda: socket.create_connection((address, PORT), 1), 20, 0.02, despite=OSError
    ):
        pass


def reaches(place: Place, *others: Place) -> list[bool]:
    """Whether a server in the namespace of each of `others` answers one in that of `place`."""
    told = _inside(place, ASK, *(other.address for other in others)).communicate()[0]
    return [line == "1" for line in told.split()]


@rooted
def test_it_is_cut_off_both_ways_while_we_reach_it_and_the_others_each_other(
    places: Places,
) -> None:
    first, second, third = places.values()
    host = partitionable(node(first))
    proof = host.partition([f"{second.address}:1", f"{third.address}:2"], 60)
    assert proof.evidence["from"] == [second.address, third.address]
    assert not proof.already
    assert reaches(first, second, third) == [False, False]
    assert reaches(second, first, third) == [False, True]
    socket.create_connection((first.address, PORT), 1).close()
    assert host.cut_off() == [second.address, third.address]
    evidence = dict(host.heal_partition().evidence)
    assert evidence.pop("dropped_packets") > 0
    assert evidence == {"state": "joined", "rules": {"incoming": "", "outgoing": ""}}
    assert reaches(first, second, third) == [True, True]
    assert reaches(second, first) == [True]


@rooted
def test_an_open_connection_hangs_and_goes_on_after_the_healing(places: Places) -> None:
    first, second, _ = places.values()
    code = f"""
import socket, sys
there = socket.create_connection(("{second.address}", {PORT}), 5)
print("open", flush=True)
sys.stdin.readline()
there.sendall(b"x")
there.settimeout(1)
try:
    there.recv(1)
    print("answered", flush=True)
except TimeoutError:
    print("hangs", flush=True)
sys.stdin.readline()
there.settimeout(30)
print(there.recv(1).decode(), flush=True)
"""
    host = partitionable(node(first))
    command = [*network.enter(first.namespace), sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdin
        assert client.stdout
        assert client.stdout.readline() == "open\n"
        host.partition([f"{second.address}:1"], 600)
        client.stdin.write("\n")
        client.stdin.flush()
        assert client.stdout.readline() == "hangs\n"
        host.heal_partition()
        client.stdin.write("\n")
        client.stdin.flush()
        assert client.stdout.readline() == "x\n"


@rooted
def test_it_heals_by_itself_after_the_limit_and_no_switch_is_left(places: Places) -> None:
    first, second, _ = places.values()
    host = partitionable(node(first))
    host.partition([f"{second.address}:1"], 60)
    proof = host.partition([f"{second.address}:1"], 1)
    assert proof.already  # and the limit is the later one's
    assert len(waiting_switches(first, partition.FILTER.mark)) == 1
    await_true(lambda: not host.cut_off(), "the end of the cut")
    assert reaches(first, second) == [True]
    await_true(lambda: not waiting_switches(first, partition.FILTER.mark), "the end of its switch")
    assert host.heal_partition().already


@rooted
def test_healing_ends_the_switch_and_is_safe_to_repeat(places: Places) -> None:
    first, second, _ = places.values()
    host = partitionable(node(first))
    host.partition([f"{second.address}:1"], 600)
    assert not host.heal_partition().already
    assert waiting_switches(first, partition.FILTER.mark) == []
    assert host.heal_partition().already


@rooted
@pytest.mark.parametrize(
    ("peer", "why"),
    [
        ("300.1.1.1", "`300.1.1.1` has no address there"),
        ("nowhere.invalid", "`nowhere.invalid` has no address there"),
        ("127.0.0.1", "`127.0.0.1` is an address of its own machine"),
    ],
)
def test_what_cannot_be_cut_is_cut_from_nobody(places: Places, peer: str, why: str) -> None:
    first, second, _ = places.values()
    host = partitionable(node(first))
    with pytest.raises(Refused, match=f"node `n1` is not cut off: {why}"):
        host.partition([f"{second.address}:1", f"{peer}:1"], 60)
    assert host.cut_off() == []
    assert waiting_switches(first, partition.FILTER.mark) == []
    assert reaches(first, second) == [True]


@rooted
def test_rules_of_others_stay_as_they_are(places: Places) -> None:
    first, second, third = places.values()
    enter = network.enter(first.namespace)
    theirs = "add table inet filter { chain input { type filter hook input priority 0; } ; }"
    subprocess.run([*enter, "nft", theirs], check=True)
    before = subprocess.run([*enter, "nft", "list", "ruleset"], capture_output=True, check=True)
    host = partitionable(node(first))
    host.partition([f"{second.address}:1"], 60)
    host.partition([f"{third.address}:1"], 60)
    assert host.cut_off() == [third.address]
    host.heal_partition()
    after = subprocess.run([*enter, "nft", "list", "ruleset"], capture_output=True, check=True)
    assert after.stdout == before.stdout


@rooted
def test_an_address_of_the_newer_internet_protocol_is_cut_as_well(places: Places) -> None:
    first = places["n1"]
    host = partitionable(node(first))
    host.partition(["[2001:db8::7]:27017", "198.18.255.9:27017"], 60)
    assert host.cut_off() == ["198.18.255.9", "2001:db8::7"]
    assert not host.heal_partition().already


@rooted
def test_a_network_goes_without_a_trace_with_its_switches(tmp_path: Path) -> None:
    made = lab_network.make(tmp_path, ["n1", "n2"])
    first, second = made.values()
    partitionable(node(first)).partition([f"{second.address}:1"], 600)
    parts = lab_network.left(tmp_path)
    assert len(parts) == 4
    (switch,) = waiting_switches(first, partition.FILTER.mark)
    lab_network.remove(tmp_path)
    assert lab_network.left(tmp_path) == []
    await_true(lambda: not Path("/proc", switch).exists(), "the end of the switch")
    assert not {path.name for path in Path("/sys/class/net").iterdir()} & set(parts)
    lab_network.remove(tmp_path)
    with pytest.raises(Unsupported, match="there is no network namespace"):
        partitionable(node(first))


@rooted
def test_two_labs_of_one_name_do_not_meet(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "lab", tmp_path / "b" / "lab"
    try:
        blocks = [
            {place.address.rpartition(".")[0] for place in lab_network.make(d, ["n1"]).values()}
            for d in (one, other)
        ]
        assert blocks[0].isdisjoint(blocks[1])
        lab_network.remove(one)
        assert len(lab_network.left(other)) == 3
    finally:
        lab_network.remove(one)
        lab_network.remove(other)


def test_a_process_in_the_machines_own_network_is_never_cut_off(tmp_path: Path) -> None:
    ours = node(Place("", "127.0.0.1"))
    with pytest.raises(Unsupported, match="has no network namespace to itself"):
        partitionable(ours)
    assert partition.left_on(ours, host_for(ours)) == ""


@pytest.mark.parametrize("name", ["mine", "brownout-../x", "brownout-n1; true"])
def test_a_namespace_that_is_not_ours_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="network_namespace"):
        node(Place(name, "10.0.0.1"))


def test_a_machine_without_the_tools_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert network.why_not().startswith("ip, nft, nsenter, setsid not found on PATH")
    with pytest.raises(Unsupported, match=r"cannot be made here: ip, nft, nsenter, setsid"):
        lab_network.make(tmp_path, ["n1"])
