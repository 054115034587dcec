"""A machine that is reached by ssh drops packets of everybody, but not those by which we come."""

import contextlib
from pathlib import Path

import pytest
from tests.machine.ssh.test_partition import node, sshd_in
from tests.machine.test_partition import Places, places, reaches, rooted
from tests.namespaces import await_no_switch, waiting_switches
from tests.sshd import WHY_NOT
from tests.waiting import await_true

from brownout.machine import bandwidth, one_way, packet_loss
from brownout.machine.host import host_for
from brownout.machine.packet_filter import Match, PacketFilter

__all__ = ["places"]

pytestmark = [rooted, pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: ssh: {WHY_NOT}")]


@pytest.mark.parametrize(
    ("each", "match"),
    [
        (one_way.FILTER, Match("in", "all")),
        pytest.param(one_way.FILTER, Match("out", "all"), marks=pytest.mark.matrix),
        pytest.param(packet_loss.FILTER, Match("both", "all"), marks=pytest.mark.matrix),
        pytest.param(bandwidth.FILTER, Match("both", "all", rate=1000), marks=pytest.mark.matrix),
    ],
)
def test_our_own_way_in_is_spared_and_the_node_undoes_it_without_us(
    places: Places, tmp_path: Path, each: PacketFilter, match: Match
) -> None:
    first, second, _ = places.values()
    with contextlib.ExitStack() as stack:
        sshd = sshd_in(first, tmp_path / "sshd", stack)
        network = host_for(node(sshd)).network()
        assert each.why_not(network) == ""
        proof = each.drop(network, match, 600)
        assert proof.evidence["spared_ports"] == [sshd.port]
        assert each.look(network).rules == proof.evidence["rules"]
        if not match.rate:
            assert reaches(second, first) == [False]
        assert not each.clear(network).already
        assert reaches(second, first) == [True]
        assert waiting_switches(first, each.mark) == []
        each.drop(network, match, 1)
    await_no_switch(first, each.mark)
    await_true(lambda: reaches(second, first) == [True], "that it ends without us")
