"""What the kernel is asked for and says of itself is understood; a real one: tests/machine/ssh.

Most kernels of small machines have no netem, so `tc` is a stand-in here, which remembers what it
is told. tests/machine/ssh/test_delay.py does the same to a kernel that has it.
"""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from tests.machine.held import held_before
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import HostError, Unsupported
from brownout.databases.lab import network as lab_network
from brownout.machine import netem, network
from brownout.machine.commands import LocalRunner, answer, script
from brownout.machine.network import Network, WayIn

WHY_NOT = netem.why_not_here()
#: A stand-in for `tc`: what it is told to do, in the words in which the real one says it.
TC = """#!/bin/sh
cd {state}
case "$*" in
"qdisc add dev eth7 root handle b80: prio"*)
  [ ! -e theirs ] || {{ echo "Error: Exclusivity flag on, cannot modify." >&2; exit 2; }}
  echo "0 0" > prio;;
"qdisc change dev eth7 root handle b80: prio"*"priomap 1"*) echo "1 1" > prio;;
"qdisc change dev eth7 root handle b80: prio"*"priomap 0"*) echo "0 0" > prio;;
"qdisc replace dev eth7 parent b80:2 handle b81: netem"*) echo "${{13}}  ${{14}}" > netem;;
"qdisc del dev eth7 root handle b80:") rm -f prio netem filters;;
"filter add dev eth7"*) echo "$*" >> filters;;
"filter del dev eth7"*) rm -f filters;;
*"qdisc show"*)
  if [ "${{4:-}}" = eth7 ] || [ "${{5:-}}" = eth7 ]; then on=; else on="dev eth7 "; fi
  [ ! -e prio ] || echo "qdisc prio b80: ${{on}}root refcnt 2 bands 2 priomap $(cat prio) 1 1"
  [ ! -e netem ] || echo "qdisc netem b81: ${{on}}parent b80:2 limit 100000 delay $(cat netem)"
  [ ! -e netem ] || [ "$1" != -s ] || printf ' Sent 90 bytes %s pkt (dropped %s, %s\n %s\n' \\
    7 0 "overlimits 0 requeues 0)" "backlog 0b 0p requeues 0"
  [ ! -e theirs ] || echo "qdisc $(cat theirs)"
  [ -e prio ] || [ -e theirs ] || echo "qdisc noqueue 0: ${{on}}root refcnt 2";;
esac
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the stand-in remembers, by file. Nothing is entered that is called a namespace."""
    programs, state = tmp_path / "bin", tmp_path / "state"
    programs.mkdir()
    state.mkdir()
    (programs / "tc").write_text(TC.format(state=state))
    (programs / "unshare").write_text('#!/bin/sh\nshift\nexec "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return state


def way_out(undo_after_s: float = 60.0, port: int = 0) -> Network:
    """The network of a node; brownout comes to it by `port`, if one is given."""
    way_in = (lambda: WayIn("198.18.0.1", port)) if port else None
    return Network("n1", LocalRunner(), undo_after_s, interface="eth7", way_in=way_in)


def switches() -> list[str]:
    """The processes that wait to undo a delay of the stand-in."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if netem.MARK.encode() in words and b"eth7" in words:
                    found.append(entry.name)
    return found


def await_no_switch() -> None:
    await_true(lambda: not switches(), "the end of its switch")


def test_what_was_asked_for_is_read_back_and_taken_away(state: Path) -> None:
    way = way_out()
    assert (netem.why_not(way), netem.delay_now(way)) == ("", "")
    proof = netem.slow(way_out(port=22), 50, 5)
    assert proof.evidence["interface"] == "eth7"
    assert not proof.already
    assert netem.delay_now(way) == "50 ms ± 5 ms by netem"
    filters = (state / "filters").read_text().splitlines()
    assert [line.split()[-4] for line in filters[:2]] == ["22", "22"]
    assert " protocol arp " in filters[2]
    assert len(switches()) == 1
    assert netem.slow(way, 50, 5).already
    assert len((state / "filters").read_text().splitlines()) == 1
    proof = netem.clear(way)
    assert not proof.already
    assert proof.evidence == {"state": "not slowed", "by": "netem", "delayed_packets": 7}
    assert list(state.iterdir()) == []
    await_no_switch()
    assert netem.delay_now(way) == ""
    assert netem.clear(way).already


def test_it_is_undone_without_us_after_the_limit(state: Path) -> None:
    netem.slow(way_out(600), 50, 0)
    (switch,) = switches()
    (sleep,) = descendants(int(switch))
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: not list(state.iterdir()), "the undo")
    await_no_switch()


def test_what_reads_back_otherwise_is_an_error(state: Path) -> None:
    tc = state.parent / "bin" / "tc"
    tc.write_text(tc.read_text().replace("delay $(cat", "delay 1$(cat"))
    with pytest.raises(HostError, match=r"node `n1`: found \{'latency': 150.*wanted.* 50"):
        netem.slow(way_out(), 50, 0)
    netem.clear(way_out())


def test_a_delay_that_cannot_be_made_leaves_nothing(state: Path) -> None:
    tc = state.parent / "bin" / "tc"
    tc.write_text(tc.read_text().replace('echo "$*" >> filters', "echo no filters >&2; exit 2"))
    with pytest.raises(HostError, match=r"slowing what the node sends failed.*no filters"):
        netem.slow(way_out(port=22), 50, 0)
    assert list(state.iterdir()) == []
    await_no_switch()


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        ("htb 1: root refcnt 2 r2q 10", "an operator configured.*: htb 1: root refcnt 2"),
        ("netem 8001: root refcnt 2 limit 1000 delay 5ms", "an operator configured.*: netem 8001:"),
        ("sfq 0: root refcnt 2", "could not be put back: sfq 0: root"),
    ],
)
def test_a_qdisc_of_somebody_else_is_in_the_way(state: Path, theirs: str, why: str) -> None:
    (state / "theirs").write_text(theirs)
    with pytest.raises(Unsupported, match=why):
        netem.slow(way_out(), 50, 0)
    assert netem.delay_now(way_out()) == ""
    assert netem.clear(way_out()).already
    assert [path.name for path in state.iterdir()] == ["theirs"]
    assert switches() == []


def test_what_is_left_unfinished_is_found_and_taken_away(state: Path) -> None:
    (state / "prio").write_text("0 0")
    assert netem.delay_now(way_out()) == "0 ms by netem"
    assert not netem.clear(way_out()).already
    assert list(state.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("50ms", "50 ms by netem"),
        ("50ms  5ms", "50 ms ± 5 ms by netem"),
        ("1.5s  250ms", "1500 ms ± 250 ms by netem"),
        ("1s seed 17", "1000 ms by netem"),
        ("999us", "1 ms by netem"),
    ],
)
def test_the_words_of_tc_are_understood(state: Path, words: str, found: str) -> None:
    (state / "prio").write_text("1 1")
    (state / "netem").write_text(words)
    assert netem.delay_now(way_out()) == found


@pytest.mark.parametrize(
    ("program", "text", "why"),
    [
        ("tc", "echo 'Error: Specified qdisc kind is unknown.' >&2; exit 2",
         "node `n1`: this kernel has no netem (`tc qdisc … netem`: Error: Specified qdisc kind"),
        ("tc", 'case "$*" in *prio) echo no >&2; exit 2;; esac', "has no prio (`tc qdisc … prio`"),
        ("unshare", "echo 'unshare: Operation not permitted' >&2; exit 1",
         "the login on this machine may not change its network (root may): unshare: Operation"),
    ],
)  # fmt: skip
def test_what_the_kernel_lacks_or_forbids_is_said(
    state: Path, program: str, text: str, why: str
) -> None:
    (state.parent / "bin" / program).write_text(f"#!/bin/sh\n{text}\n")
    assert why in netem.why_not(way_out())
    with pytest.raises(Unsupported):
        netem.slow(way_out(), 50, 0)
    assert list(state.iterdir()) == []


def test_a_machine_without_the_tools_says_what_is_missing(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state.parent / "bin" / "tc").unlink()
    hidden = netem._WHY_NOT.replace("for tool in tc ", "for tool in tc-of-nobody ")
    monkeypatch.setattr(netem, "_WHY_NOT", hidden)
    assert netem.why_not(way_out()).endswith(
        "this machine has no tc-of-nobody (Debian: iproute2, libc-bin, util-linux)"
    )


@pytest.mark.skipif(bool(network.why_not()), reason=f"NOT TESTED: netem: {network.why_not()}")
def test_a_kernel_without_netem_says_so_and_no_namespace_is_left() -> None:
    before = set(network.NAMESPACES.glob("*"))
    assert not WHY_NOT or WHY_NOT.startswith("this kernel has no netem (`tc qdisc")
    assert set(network.NAMESPACES.glob("*")) == before


@pytest.mark.skipif(bool(network.why_not()), reason=f"NOT TESTED: netem: {network.why_not()}")
def test_a_node_is_slowed_on_the_interface_that_has_its_address(tmp_path: Path) -> None:
    try:
        (place,) = lab_network.make(tmp_path, ["n1"]).values()
        runner = network.runner_in(place.namespace)
        for address, found in ((place.address, ["eth0"]), ("203.0.113.9", []), ("::1", [])):
            done = runner.run(script(netem._WHY_NOT, "", address))
            assert answer(done, "asking", runner.where).all("interface") == found
        route = f"ip route add default via {place.address.rpartition('.')[0]}.1"
        assert runner.run(script(route)).status == 0
        done = runner.run(script(netem._WHY_NOT, "", "203.0.113.9"))
        assert answer(done, "asking", runner.where).all("interface") == ["eth0"]
    finally:
        lab_network.remove(tmp_path)


@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: netem in a namespace: {WHY_NOT}")
def test_a_real_namespace_is_slowed_and_let_go(tmp_path: Path) -> None:
    try:
        (place,) = lab_network.make(tmp_path, ["n1"]).values()
        way = Network("n1", network.runner_in(place.namespace), 60.0, interface="eth0")
        netem.slow(way, 70, 10)
        assert netem.delay_now(way) == "70 ms ± 10 ms by netem"
        netem.clear(way)
        assert netem.delay_now(way) == ""
    finally:
        lab_network.remove(tmp_path)


def test_a_delay_that_is_undone_before_it_is_made_does_not_stay_without_a_switch(
    state: Path, tmp_path: Path
) -> None:
    here = way_out()
    slowing = lambda: netem.slow(here, 50, 0)  # noqa: E731
    with held_before("tc", "filter", slowing, tmp_path) as slowed:
        netem.clear(here)
    with pytest.raises(HostError):
        slowed.result()
    assert not (state / "prio").exists()
