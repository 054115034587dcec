"""What faults of a node's link have in common: whose packets they drop, how they are undone."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, HostAction, NodeFault, NodeUndo
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host, Proof, Shared
from brownout.machine.packet_filter import DIRECTIONS, Direction, Match, PacketFilter
from brownout.run import contract

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["CLIENTS", "PEERS", "LinkFault", "LinkUndo", "match_of"]

#: Whom a fault of a link is about, besides names of nodes.
ALL, MEMBERS, CLIENTS = PEERS = ("all", "members", "clients")


def match_of(cluster: Cluster, node: Node, arguments: Arguments) -> Match:
    """Return which packets of `node` are meant by `peers`, `direction` and `port`.

    `peers` are `all`, `members` (every other node of the inventory, and the sentinels that watch
    them), `clients` (everybody but these, on the port of the node's own database where none is
    given), or names of nodes separated by commas. Raises `ConfigurationError` with what is wrong.
    """
    peers, port = str(arguments.get("peers", ALL)), int(arguments.get("port", 0))
    direction: Direction = arguments.get("direction", "both")
    others = tuple(other.address for other in cluster.every if other.name != node.name)
    if cluster.sentinel is not None:
        others += cluster.sentinel.addresses
    if peers == ALL:
        return Match(direction, "all", port=port)
    if peers == CLIENTS:
        own_port = int(node.address.rpartition(":")[2])
        return Match(direction, "others", others, port or own_port)
    if peers != MEMBERS:
        names = [name.strip() for name in peers.split(",") if name.strip()]
        if not names or node.name in names:
            raise ConfigurationError(
                f"peers: found {peers!r}, wanted {', '.join(PEERS)}, or other nodes than "
                f"`{node.name}` separated by commas"
            )
        others = tuple(cluster.node(name).address for name in names)
    if not others:
        raise ConfigurationError(f"peers: cluster `{cluster.name}` has no node besides this one")
    return Match(direction, "these", others, port)


class _OnALink(HostAction):
    #: Which packets it drops, and how that is undone.
    filter: ClassVar[PacketFilter]

    def why_not_on(self, node: Node, host: Host) -> str:
        """Return why the node's network cannot be changed so; empty if it can."""
        return self.filter.why_not(host.network())


class LinkFault(_OnALink, NodeFault):
    """A fault that drops packets of a node."""

    #: The directions that it may be asked for.
    directions: ClassVar[tuple[str, ...]] = DIRECTIONS

    def match(self, cluster: Cluster, node: Node, arguments: Arguments) -> Match:
        """Return which packets it drops, and how many of them."""
        return match_of(cluster, node, {**self._defaults(), **arguments})

    def shares(self, node: Node, arguments: Arguments) -> Shared | None:
        """All of its network lose packets; only the node's own port is its own."""
        given = {**self._defaults(), **arguments}
        own_port = node.address.rpartition(":")[2]
        is_own = str(given.get("port", 0)) in ("0", own_port)
        return None if given.get("peers") == CLIENTS and is_own else "network"

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with a direction or a port."""
        given, problems = {**self._defaults(), **arguments}, []
        if "direction" in given and given["direction"] not in self.directions:
            wanted = ", ".join(self.directions)
            problems.append(f"direction: found {given['direction']!r}, wanted one of {wanted}")
        if "port" in given and not 0 <= int(given["port"]) <= 65_535:
            problems.append(f"port: found {given['port']}, wanted 1 to 65535, or 0")
        return problems

    def plan(
        self, cluster: Cluster, adapter: Adapter | None, node: Node | None, arguments: Arguments
    ) -> list[str] | None:
        """Return which rules would be added, and what stays open."""
        lines = super().plan(cluster, adapter, node, arguments)
        if adapter is None or node is None or lines is None:
            return lines
        return [*lines, f"stays open: {'; '.join(_open(self.match(cluster, node, arguments)))}"]

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return where rules would be added."""
        return (
            f"{host.network().runner.where}: drop packets by nft in table inet {self.filter.table}"
        )

    def check(self, faults: "Faults", node: Node, **arguments: Any) -> None:
        """Raise `Refused` where a guard refuses it, and `ConfigurationError` for its arguments."""
        if problems := self.problems(arguments):
            raise ConfigurationError(problems)
        self.match(faults.cluster, node, arguments)
        super().check(faults, node, **arguments)

    def size(self, faults: "Faults", node: Node, **arguments: Any) -> dict[str, Any]:
        """Return what was asked for, with the defaults."""
        return {**self._defaults(), **arguments}

    def drop(self, faults: "Faults", node: Node, undo_after_s: float, **arguments: Any) -> Proof:
        """Drop them; the proof says what stays open for others, and for us."""
        match = self.match(faults.cluster, node, arguments)
        if match.whose != "these" and not match.rule:
            for hit in (node.name, *faults.hit_too(node.name)):
                faults.hide(hit)
        proof = self.filter.drop(faults.host(node).network(), match, undo_after_s or None)
        ports = proof.evidence.get("spared_ports", [])
        ways = [f"brownout's way in (port {port})" for port in ports]
        evidence = {**proof.evidence, "stays_open": [*_open(match), *ways]}
        if match.whose == "others":
            evidence["observer"] = (
                "brownout asks this node as a client does and gets no answer: its role is unknown "
                "meanwhile, and it may well be primary"
            )
        return replace(proof, evidence=evidence)

    def _defaults(self) -> dict[str, Any]:
        parameters = {one.name: one.default for one in self.parameters()}
        return {name: value for name, value in parameters.items() if name != "undo_after_s"}


class LinkUndo(_OnALink, NodeUndo):
    """What has no packet of a node dropped any more. Does nothing where none is."""

    marked = True

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return which rules would be removed."""
        return self.filter.plan_of_undo(host.network())

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Take the rules away, proven by the kernel's word; it counted what they dropped."""
        proof = self.filter.undo_on(node, faults.host(node))
        rules = {*proof.evidence.get("rules", {}).values()}
        if proof.evidence.get("dropped_packets") != 0 or rules == {Match(share=0).rule}:
            return proof
        return self.unmet(faults, node, proof)

    def unmet(self, faults: "Faults", node: Node, proof: Proof) -> Proof:
        """Return the proof of an undo whose rules dropped no packet: the fault was not made."""
        detail = (
            f"node `{node.name}` was not {self.filter.state}: the rules were in place, but they "
            "dropped no packet; it may use other addresses or ports than the inventory says"
        )
        faults.breach(contract.DATA, detail, node.name)
        return proof

    def is_due(self, node: Node, host: Host) -> bool:
        """Packets of the node are dropped by rules of ours."""
        return bool(self.filter.left_on(node, host))

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """All is dropped that was dropped at first."""
        return self.filter.is_in_place(host, proof)


def _open(match: Match) -> list[str]:
    """Return in words what a node still hears and says."""
    open_ways = [f"every port but {match.port}"] if match.port else []
    if match.whose == "others":
        open_ways.append("the other members")
    if match.whose == "these":
        open_ways.append(f"everybody but {', '.join(match.hosts)}")
    if match.direction != "both":
        open_ways.append(f"what {'leaves' if match.direction == 'in' else 'comes to'} the node")
    return open_ways or ["its own addresses (lo)"]
