"""Hold connections to a node that do nothing, or that read slowly."""

from contextlib import suppress
from typing import TYPE_CHECKING

from brownout.base.errors import BrownoutError, Unsupported
from brownout.databases.adapter import Adapter, CountingConnections
from brownout.faults.act import Evidence
from brownout.faults.fault import Arguments, NodeFault, NodeUndo
from brownout.inventory.database import database
from brownout.inventory.model import Node
from brownout.machine import connections as held
from brownout.machine.host import Host, Proof

if TYPE_CHECKING:
    from brownout.faults.faults import Faults

__all__ = ["CloseConnections", "HoldConnections"]

_CONNECTIONS = 100


class HoldConnections(NodeFault):
    """Open so many `connections` to `node` from here and keep them. See `close_connections`.

    `mode` is `idle`, which sends nothing, or `slow`, which asks something that needs no login and
    reads 1 KiB of the answers a second. No login is made. They are sockets of this run and end with
    it, however it ends.
    """

    name, act, words = "hold_connections", "connections", "held by many connections"
    undo_name = "close_connections"

    def problems(self, arguments: Arguments) -> list[str]:
        """Return what is wrong with the number or the mode."""
        number, mode = arguments.get("connections", _CONNECTIONS), arguments.get("mode", "idle")
        words = held.problem(int(number), str(mode))
        return [words] if words else []

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return how many would be held, and how many may be."""
        number, mode = arguments.get("connections", _CONNECTIONS), arguments.get("mode", "idle")
        return (
            f"hold {number} {mode} connections to it from this machine, without a login (at most "
            f"{held.MOST}); they end with this run"
        )

    def do(
        self,
        faults: "Faults",
        node: Node,
        connections: int = _CONNECTIONS,
        mode: str = "idle",
    ) -> Proof:
        """Hold them; proven by the server's own count, or by those that it keeps open."""
        request = b""
        if mode == "slow":
            kind = database(faults.cluster.database)
            request = kind.open_request
            if not request or faults.cluster.connection.tls:
                why = "TLS comes first" if request else f"{kind.title} answers nothing without one"
                raise Unsupported(f"mode: slow needs something to ask without a login: {why}")
        adapter = faults.adapter

        def count() -> int | None:
            if isinstance(adapter, CountingConnections):
                with suppress(BrownoutError):
                    return adapter.connections(node)
            return None

        return held.hold(node, connections, request, count)


class CloseConnections(NodeUndo):
    """Close the connections to `node` that this run holds. Does nothing where there are none."""

    name, act, words = "close_connections", "connections_close", "rid of our connections"

    def would(self, adapter: Adapter, node: Node, host: Host, arguments: Arguments) -> str:
        """Return that they would be closed."""
        return "close the connections to it"

    def do(self, faults: "Faults", node: Node) -> Proof:
        """Close them."""
        return held.close(node)

    def is_in_place(self, node: Node, host: Host, proof: Evidence) -> bool:
        """The server has closed none of them."""
        return held.open_to(node) >= int(proof["open"])
