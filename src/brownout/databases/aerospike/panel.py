"""All nodes of a cluster, asked at once and each for itself."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.access import access
from brownout.databases.aerospike.view import View, look
from brownout.inventory.model import Cluster, Node

__all__ = ["Panel"]

T = TypeVar("T")


class Panel:
    """The nodes of one cluster; no connection stays open between two questions.

    `nodes` are those that are asked: the inventory's, until others are expected.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.nodes: tuple[Node, ...] = cluster.nodes
        self._name, self._timeout_s = cluster.name, cluster.connection.timeout_s
        self._access = access(cluster)
        self._pool = ThreadPoolExecutor(max(1, len(cluster.every)))
        self._namespaces: tuple[str, ...] = ()

    def close(self) -> None:
        """End what asks."""
        self._pool.shutdown(wait=False)

    def views(self, commands: Sequence[str]) -> list[View]:
        """Return every expected node's own answers, in their order."""
        return self.views_of(self.nodes, commands)

    def views_of(self, nodes: Sequence[Node], commands: Sequence[str]) -> list[View]:
        """Return the answers of these nodes, members or not."""
        return self.each(partial(self.look, commands=commands), nodes)

    def each(self, ask: Callable[[Node], T], nodes: Sequence[Node]) -> list[T]:
        """Return what `ask` returns for each node; all are asked at once."""
        return list(self._pool.map(ask, nodes))

    def look(self, node: Node, commands: Sequence[str]) -> View:
        """Return one node's answers, or that it gives none."""
        return look(node, commands, self._timeout_s, self._access)

    def view(self, node: Node, commands: Sequence[str]) -> View:
        """Return one node's answers; `ClusterError` if it gives none."""
        answer = self.look(node, commands)
        if answer.error:
            raise ClusterError(answer.error)
        return answer

    def answer(self, command: str) -> str:
        """Return the first answer that any node gives; `ClusterError` if none does."""
        for view in self.views((command,)):
            if view.answers.get(command):
                return view.answers[command]
        raise ClusterError(f"no node of `{self._name}` answers")

    def community(self) -> bool:
        """Whether the nodes are of the Community Edition, or play it."""
        return "Community" in self.answer("edition")

    def namespaces(self) -> tuple[str, ...]:
        """Return the names of the namespaces; they do not change while a cluster runs."""
        if not self._namespaces:
            self._namespaces = tuple(filter(None, self.answer("namespaces").split(";")))
        return self._namespaces

    def numbers(self) -> tuple[str, ...]:
        """Return the commands that ask a node for all its numbers, its own and its namespaces'."""
        return ("statistics", *(f"namespace/{name}" for name in self.namespaces()))
