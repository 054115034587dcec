"""Whether this kernel has netem is tried, and what it says of itself is understood."""

import os
from pathlib import Path

import pytest

from brownout.base.errors import HostError
from brownout.infra.lab import network as lab_network
from brownout.machine import netem, network

WHY_NOT = netem.why_not()
#: A stand-in for `tc`: what netem is asked for, in the words in which the real one says it.
TC = """#!/bin/sh
state={state}
case "$*" in
*"qdisc replace"*) echo "netem 8001: root refcnt 2 limit 1000 delay ${{10}}  ${{11}}" > "$state" ;;
*"qdisc del"*) rm -f "$state" ;;
*"qdisc show"*) [ -f "$state" ] && echo "qdisc $(cat "$state")" || echo "qdisc noqueue 0: root" ;;
esac
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A namespace by name, and a `tc` that does nothing to it but remembers what it was told."""
    program = tmp_path / "bin" / "tc"
    program.parent.mkdir()
    program.write_text(TC.format(state=tmp_path / "state"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(network, "NAMESPACES", tmp_path)
    (tmp_path / "brownout-1").touch()
    return "brownout-1"


def test_what_was_asked_for_is_read_back(stand_in: str) -> None:
    assert netem.latency(stand_in) == {}
    netem.slow(stand_in, 50, 5)
    assert netem.latency(stand_in) == {"latency": 50, "jitter": 5}
    netem.clear(stand_in)
    assert netem.latency(stand_in) == {}
    netem.clear(stand_in)


def test_what_reads_back_otherwise_is_an_error(
    stand_in: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "tc").write_text("#!/bin/sh\necho qdisc noqueue 0: root\n")
    with pytest.raises(HostError, match=r"found \{\}, wanted \{'latency': 50"):
        netem.slow(stand_in, 50, 0)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("qdisc netem 8001: root refcnt 2 limit 1000 delay 50ms", (50, 0)),
        ("qdisc netem 8001: root refcnt 2 limit 1000 delay 50ms  5ms", (50, 5)),
        ("qdisc netem 8001: root refcnt 2 limit 1000 delay 1.5s  250ms", (1500, 250)),
        ("qdisc netem 8001: root refcnt 2 limit 1000 delay 1s seed 17", (1000, 0)),
    ],
)
def test_the_words_of_tc_are_understood(
    line: str, found: tuple[int, int], stand_in: str, tmp_path: Path
) -> None:
    (tmp_path / "bin" / "tc").write_text(f"#!/bin/sh\necho '{line}'\n")
    assert netem.latency(stand_in) == dict(zip(("latency", "jitter"), found, strict=True))


def test_a_machine_without_the_tools_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "why_not", lambda: "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert netem.why_not().startswith("tc, unshare not found on PATH")


@pytest.mark.skipif(bool(network.why_not()), reason=f"NOT TESTED: netem: {network.why_not()}")
def test_a_kernel_without_netem_says_so_and_no_namespace_is_left() -> None:
    before = set(network.NAMESPACES.glob("*"))
    assert not WHY_NOT or WHY_NOT.startswith(("this kernel has no netem (`tc qdisc", "tc"))
    assert set(network.NAMESPACES.glob("*")) == before


@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: netem itself: {WHY_NOT}")
def test_a_real_namespace_is_slowed_and_let_go(tmp_path: Path) -> None:
    try:
        (place,) = lab_network.make(tmp_path, ["n1"]).values()
        netem.slow(place.namespace, 70, 10)
        assert netem.latency(place.namespace) == {"latency": 70, "jitter": 10}
        netem.clear(place.namespace)
        assert netem.latency(place.namespace) == {}
    finally:
        lab_network.remove(tmp_path)
