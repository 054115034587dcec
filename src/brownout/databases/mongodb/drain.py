"""Having a member hand over what it does, and letting it take it back."""

import time
from collections.abc import Callable, Sequence

from brownout.base.errors import ClusterError, ConfigurationError, ordering
from brownout.base.wait import wait_until
from brownout.databases.mongodb import storage
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.configuration import Changed, SetConfiguration
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.databases.mongodb.membership import Document
from brownout.databases.mongodb.milestones import primary_of
from brownout.databases.mongodb.view import PRIMARY, View, look
from brownout.databases.node_answers import Asking
from brownout.databases.places import Places
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = ["CATCH_UP_S", "DRAIN_S", "Draining"]

#: For how long a drained member does not become primary again by itself.
DRAIN_S = 60
#: So long at most the server waits, before it steps down, until a secondary has all its writes.
CATCH_UP_S = 10
#: With MongoDB's own time-outs an election takes 10 to 12 s.
_ELECTION_S = 60.0
_POLL_S = 0.05
#: `replSetFreeze` to a member that is primary.
_NOT_SECONDARY = 95
#: `replSetStepDown` where no secondary had all writes in time: the member stays primary.
_NOBODY_CAUGHT_UP = 262


class Draining(Asking[Link, View]):
    """A set with a link to each member: the primary steps down, a secondary does not stand.

    Members, and spares, are asked directly and in parallel, with `connection.timeout_s`.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._access, timeout_s = access(cluster), cluster.connection.timeout_s
        links = {n.name: Link(n, self._access, timeout_s) for n in cluster.every}
        super().__init__(cluster, links, look, View)
        self._places = Places(storage.is_data)
        self._configuration = SetConfiguration(cluster, links, self._polled)

    def expect(self, nodes: Sequence[Node]) -> None:
        """Take these nodes for the set's members from now on."""
        self._panel.expect(nodes)

    def configure(self, step: Callable[[Document], Document | None]) -> Changed:
        """Give the set what `step` makes of its configuration; None where it has it already."""
        return self._configuration.change(step)

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """As `drain`; the server waits up to `catch_up_s` until a secondary has all its writes."""
        if not 0 <= catch_up_s <= DRAIN_S:
            raise ConfigurationError(f"catch_up_s: found {catch_up_s}, wanted 0 to {DRAIN_S}")
        return self.drain(node, catch_up_s=catch_up_s)

    def drain(self, node: Node, seconds: int = DRAIN_S, catch_up_s: int = CATCH_UP_S) -> Proof:
        """Have the primary step down for `seconds`; keep a secondary from becoming primary.

        The proof is the server's own word: it accepts the order once it is primary no more. Of a
        primary the evidence says `caught_up_s`, for how long it let a secondary catch up first:
        the order is answered when that and the step itself, some milliseconds, are over.
        """
        link = self._links[node.name]
        before = look(node, link)
        if before.error:
            raise ClusterError(before.error)
        asked = time.monotonic()
        if before.state == PRIMARY:
            self._step_down(link, seconds, min(catch_up_s, seconds))
        else:
            with ordering(f"member `{node.name}` is not kept from becoming primary"):
                link.order("replSetFreeze", seconds, self._timeout_s)
        done = time.monotonic()
        after = look(node, link)
        if after.state == PRIMARY:
            raise ClusterError(f"member `{node.name}` is still primary after its step-down")
        evidence = {"state_before": before.state, "state": after.state, "term": before.term}
        evidence["not_primary_for_s"] = seconds
        if before.state == PRIMARY:
            evidence["catch_up_limit_s"] = min(catch_up_s, seconds)
            evidence["caught_up_s"] = round(done - asked, 3)
        return Proof(done, done - asked, evidence, already=before.state != PRIMARY)

    def undrain(self, node: Node) -> Proof:
        """Let a member become primary again; it does so only when an election chooses it."""
        link = self._links[node.name]
        asked = time.monotonic()
        try:
            link.order("replSetFreeze", 0, self._timeout_s)
            already = False
        except CommandFailed as error:
            if error.code != _NOT_SECONDARY:
                raise
            already = True  # it is primary: not drained
        done = time.monotonic()
        return Proof(done, done - asked, {"state": look(node, link).state}, already=already)

    def _hand_over(self, node: Node) -> Proof | None:
        """Have another member become primary if `node` is it; None if it is not."""
        if look(node, self._links[node.name]).state != PRIMARY:
            return None
        proof = self.drain(node)

        def elected(views: Sequence[View]) -> bool:
            primary = primary_of(views)
            return primary is not None and primary.node != node.name

        views = wait_until(self._polled, _ELECTION_S, _POLL_S, so=elected)
        if not elected(views):
            states = ", ".join(f"{view.node} is {view.state}" for view in views)
            raise ClusterError(
                f"no other member is primary {_ELECTION_S:g} s after `{node.name}` stepped "
                f"down: {states}",
                "see that another member is healthy and has a priority",
            )
        return proof

    def _step_down(self, link: Link, seconds: int, catch_up_s: int) -> None:
        with ordering(
            "the primary did not step down",
            "see that a secondary is healthy, electable and not far behind",
        ):
            try:
                link.order(
                    "replSetStepDown",
                    seconds,
                    catch_up_s + self._timeout_s,
                    secondaryCatchUpPeriodSecs=catch_up_s,
                )
            except CommandFailed as error:
                error.refused = error.refused or error.code == _NOBODY_CAUGHT_UP
                raise
