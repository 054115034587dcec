"""Asking all members at the same moment, without one that hangs holding up the rest."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from brownout.databases.postgresql.link import Link
from brownout.databases.postgresql.view import View, look
from brownout.inventory.model import Node

__all__ = ["Panel"]


class Panel:
    """The members of one cluster, each with its link; safe to use from several threads."""

    def __init__(self, nodes: Sequence[Node], links: Mapping[str, Link]) -> None:
        self._nodes, self._links = nodes, links
        self._pool = ThreadPoolExecutor(4 * len(links), "brownout-postgresql")
        self._overdue: dict[str, Future[View]] = {}
        self._lock = threading.Lock()

    def views(self, patience_s: float) -> list[View]:
        """Return what every member says, waiting at most `patience_s` seconds for all of them.

        A question that is overdue goes on in the background and is not asked twice.
        """
        with self._lock:
            asked = {node.name: self._ask(node) for node in self._nodes}
        wait(asked.values(), timeout=patience_s)
        with self._lock:
            return [self._answer(node, asked[node.name], patience_s) for node in self._nodes]

    def close(self) -> None:
        """Wait for the questions that are out, each of which has its own time limit."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _ask(self, node: Node) -> Future[View]:
        overdue = self._overdue.get(node.name)
        if overdue is not None and not overdue.done():
            return overdue
        return self._pool.submit(look, node, self._links[node.name])

    def _answer(self, node: Node, future: Future[View], patience_s: float) -> View:
        if future.done():
            self._overdue.pop(node.name, None)
            return future.result()
        self._overdue[node.name] = future
        silence = f"member `{node.name}` ({node.address}): no answer within {patience_s:g} s"
        return View(node.name, node.address, error=silence, timed_out=True)
