"""Leave a node little bandwidth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.faults.fault import Arguments, unfelt
from brownout.faults.link import LinkFault, LinkUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine import bandwidth
from brownout.machine.host import Proof
from brownout.machine.packet_filter import Match

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["LimitBandwidth", "RestoreBandwidth"]

_KBIT_S = 1000
#: Bytes per second of one kbit/s.
_BYTES = 125


class LimitBandwidth(LinkFault):
    """Let no more than `kbit_s` of the packets of `node` through. Undone by `restore_bandwidth`.

    Each way has its own limit. What exceeds it is dropped (policing by nftables, as the evidence
    says), so TCP slows down to a little less. `direction`, `peers` and `port` are as for
    `lose_packets`. After `undo_after_s` seconds the node undoes it by itself, even if this run has
    died: 0 takes the inventory's, which is 120 unless it says otherwise.
    """

    name, act, words = "limit_bandwidth", "bandwidth", "left with little bandwidth"
    draws: ClassVar[Mapping[str, Sequence[Any]]] = {"kbit_s": (200, 2000)}
    undo_name = "restore_bandwidth"
    filter = bandwidth.FILTER

    def match(self, cluster: Cluster, node: Node, arguments: Arguments) -> Match:
        """Return which packets, and how many of them go through."""
        rate = int(arguments.get("kbit_s", _KBIT_S)) * _BYTES
        return replace(super().match(cluster, node, arguments), rate=rate)

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with its size, a direction or a port."""
        kbit_s, problems = arguments.get("kbit_s", _KBIT_S), super().problems(arguments)
        if not 8 <= int(kbit_s) <= 100_000_000:
            problems.append(f"kbit_s: found {kbit_s}, wanted 8 to 100000000")
        return problems

    def do(
        self,
        faults: "Faults",
        node: Node,
        kbit_s: int = _KBIT_S,
        direction: str = "both",
        peers: str = "all",
        port: int = 0,
        undo_after_s: float = 0.0,
    ) -> Proof:
        """Limit it; proven by the kernel's rules."""
        asked = {"kbit_s": kbit_s, "direction": direction, "peers": peers, "port": port}
        proof = self.drop(faults, node, undo_after_s, **asked)
        evidence = {**proof.evidence, "kbit_s": kbit_s, "by": "policing by nft"}
        return replace(proof, evidence=evidence)


class RestoreBandwidth(LinkUndo):
    """Give `node` its bandwidth back. Does nothing to a node that has all of it."""

    name, act, words = "restore_bandwidth", "full_bandwidth", "given its bandwidth back"
    filter = bandwidth.FILTER

    def unmet(self, faults: "Faults", node: Node, proof: Proof) -> Proof:
        """Return the proof with a sentence: the limit was there, and nothing exceeded it."""
        return unfelt(proof, node, "bandwidth")
