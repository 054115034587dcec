"""Asking all nodes at the same moment, without one that hangs holding up the rest."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

from brownout.base.errors import ClusterError, NoAnswer
from brownout.inventory.model import Node

__all__ = ["Panel"]

T = TypeVar("T")
V = TypeVar("V")


class Panel(Generic[V]):
    """The nodes of one cluster; safe to use from several threads.

    `look` asks one node, `without` is what is known of one that gave no answer. At most `most`
    nodes are ever expected.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        look: Callable[[Node], V],
        without: Callable[[Node, ClusterError], V],
        most: int,
    ) -> None:
        self._nodes, self._look, self._without = tuple(nodes), look, without
        self._pool = ThreadPoolExecutor(4 * most, "brownout-panel")
        self._overdue: dict[str, Future[V]] = {}
        self._lock = threading.Lock()

    def expect(self, nodes: Sequence[Node]) -> None:
        """Ask these nodes from now on."""
        with self._lock:
            self._nodes = tuple(nodes)

    def views(self, patience_s: float) -> list[V]:
        """Return what every node says, waiting at most `patience_s` seconds for all of them.

        An overdue question stays open in the background and is not asked twice, so that its
        answer is seen as soon as it comes, and a node that hangs costs no more threads.
        """
        with self._lock:
            nodes = self._nodes
            asked = {node.name: self._ask(node) for node in nodes}
        wait(asked.values(), timeout=patience_s)
        with self._lock:
            return [self._answer(node, asked[node.name], patience_s) for node in nodes]

    def each(self, question: Callable[[Node], T]) -> list[T]:
        """Put a question of your own to every node at once."""
        return list(self._pool.map(question, self._nodes))

    def close(self) -> None:
        """Wait for the questions that are out, each of which has its own time limit."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _ask(self, node: Node) -> Future[V]:
        overdue = self._overdue.get(node.name)
        if overdue is not None and not overdue.done():
            return overdue
        return self._pool.submit(self._look, node)

    def _answer(self, node: Node, future: Future[V], patience_s: float) -> V:
        if future.done():
            self._overdue.pop(node.name, None)
            return future.result()
        self._overdue[node.name] = future
        silence = f"node `{node.name}` ({node.address}): no answer within {patience_s:g} s"
        return self._without(node, NoAnswer(silence))
