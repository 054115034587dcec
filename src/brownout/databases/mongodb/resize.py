"""Members that come and go while the set serves; what is decided is in `membership`.

join    replSetReconfig with votes 0 and priority 0 ──▶ it copies all data by itself
admit   and now that it is SECONDARY, its vote and its priority
leave   the primary steps down; replSetReconfig without the member
"""

import contextlib
from dataclasses import replace
from functools import partial
from typing import Any

from brownout.base.errors import ClusterError, Refused, after_effect
from brownout.base.wait import wait_until
from brownout.databases.mongodb import membership, milestones
from brownout.databases.mongodb.configuration import Changed
from brownout.databases.mongodb.drain import Draining
from brownout.databases.mongodb.initial_sync import Copying, copying
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.databases.mongodb.membership import Document
from brownout.databases.mongodb.milestones import MAX_LAG_S
from brownout.databases.mongodb.view import View, look
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof
from brownout.run.balance import Holding

__all__ = ["SetResizing"]

#: From the start of a process until it answers; a busy machine has taken 15 s.
_ANSWERS_WITHIN_S = 60.0
_POLL_S = 0.05
#: What MongoDB keeps for itself.
_OWN = frozenset({"admin", "config", "local"})


class SetResizing(Draining):
    """What `brownout.databases.resize.Resizing` asks of a replica set."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._left: dict[str, Document] = {}  # node -> its entry when we removed it
        self._newcomers: set[str] = set()  # joined, and not admitted yet

    def objections_to_join(self, node: Node) -> list[str]:
        """Return in words why `node` cannot be added now."""
        objections = membership.of_add(self._configuration.read(), node)
        return objections or membership.of_copying(self._views())

    def objections_to_leave(self, node: Node) -> list[str]:
        """Return in words why `node` cannot be removed now."""
        config, views = self._configuration.read(), self._views()
        healthy = {view.address for view in views if view.serves}
        return membership.of_remove(config, node, healthy) or membership.of_copying(views)

    def join(self, node: Node) -> Proof:
        """Add `node`, without a vote and a priority; effective when a majority knows it.

        It copies all data by itself then; `holdings` and `evidence` say how far it is. Its rack
        becomes its tag, and what it had when it was removed by us is as it was.
        """
        self._await_answer(node)
        before = self._left.get(node.name)
        changed = self._configuration.change(partial(membership.added, node=node, before=before))
        if not changed.already:
            self._newcomers.add(node.name)
        return _proof(changed, node)

    def admit(self, node: Node) -> Proof:
        """Give `node` its vote and its priority, those it had when it was removed by us, else 1.

        `already` if it has them, or if the set has as many voters as it can have. Raises
        `ClusterError` while it still copies.
        """
        step = partial(_admitted, node=node, say=self._left.get(node.name, {}))
        view = look(node, self._links[node.name])
        if not view.serves and step(self._configuration.read()) is not None:
            raise ClusterError(
                f"member `{node.name}` gets no vote: found it {view.state}, wanted SECONDARY",
                "wait until it has all data",
            )
        changed = self._configuration.change(step)
        self._newcomers.discard(node.name)
        return _proof(changed, node)

    def leave(self, node: Node) -> Proof:
        """Remove `node` from the set, after its step-down if it is primary.

        Effective when it stepped down, else when a majority knows it for no member; a dead member
        is removed all the same. `had` in the evidence is the say that it had.
        """
        stepped = self._hand_over(node)
        entries: list[Document] = []
        with contextlib.nullcontext() if stepped is None else after_effect():
            changed = self._configuration.change(partial(self._without, node=node, entries=entries))
        proof = _proof(changed, node)
        seen = {**proof.evidence, "had": membership.say_of(entries[0]) if entries else None}
        if stepped is None:
            return replace(proof, evidence=seen)
        after_s = proof.effective_monotonic - stepped.effective_monotonic
        seen |= {"stepped_down": dict(stepped.evidence), "removed_after_s": round(after_s, 3)}
        return Proof(stepped.effective_monotonic, stepped.uncertainty_s, seen)

    def forget(self, node: Node) -> Proof:
        """Remove `node` if it is still a member; `leave` has done it otherwise."""
        return _proof(self._configuration.change(partial(membership.removed, node=node)), node)

    def holdings(self) -> dict[str, Holding]:
        """Return what each member that answers holds: fast counts of the users' databases."""
        views = {view.node: view for view in self._views()}
        lags = milestones.lags_s(list(views.values()))

        def held(node: Node) -> tuple[str, Holding | None]:
            view = views.get(node.name)
            if view is None or view.error:
                return node.name, None
            return node.name, _holding(self._links[node.name], view, lags[node.name])

        return {
            name: held_data for name, held_data in self._panel.each(held) if held_data is not None
        }

    def _without(self, config: Document, node: Node, entries: list[Document]) -> Document | None:
        """Remove `node`, remembering in `entries`, and in case it comes back, what it had."""
        entry = membership.entry_of(config, node)
        if entry is not None:
            entries.append(entry)
            if node.name not in self._newcomers:
                self._left[node.name] = entry
        return membership.removed(config, node)

    def _await_answer(self, node: Node) -> None:
        """Wait until the process at `node` answers; a refused login counts as an answer."""

        def answers() -> bool:
            with contextlib.suppress(CommandFailed):
                self._links[node.name].ask("ping")
            return True

        wait_until(answers, _ANSWERS_WITHIN_S, _POLL_S, despite=ClusterError)


def _admitted(config: Document, node: Node, say: Document) -> Document | None:
    """Give `node` its say; None if it has it, or if that were one voter too many."""
    if membership.entry_of(config, node) is None:
        raise Refused(f"node `{node.name}` gets no vote: it is not a member of the set", "add it")
    wanted = membership.given_say(config, node, **membership.say_of(say))
    too_many = wanted is not None and len(membership.voters(wanted)) > membership.MAX_VOTERS
    return None if too_many else wanted


def _proof(changed: Changed, node: Node) -> Proof:
    """Return what a change of the configuration proves of `node`."""
    entry = membership.entry_of(changed.config, node)
    evidence: dict[str, Any] = {
        "config_version": int(changed.config["version"]),
        "members": len(changed.config["members"]),
        "voters": len(membership.voters(changed.config)),
        **(membership.say_of(entry) if entry is not None else {}),
    }
    return Proof(changed.at, changed.took_s, evidence, already=changed.already)


def _holding(link: Link, view: View, lag_s: float | None) -> Holding | None:
    """Return what the member of this view holds; None if it does not say.

    The counts are the databases' statistics: after a crash they may be off a little.
    """
    progress = copying(view.status)
    if progress is not None:
        return _so_far(progress)
    try:
        databases = link.ask("listDatabases", nameOnly=True)["databases"]
        names = [name for database in databases if (name := database["name"]) not in _OWN]
        stats = [link.ask("dbStats", database=name) for name in names]
    except ClusterError:
        return None
    return Holding(
        records=sum(int(one["objects"]) for one in stats),
        bytes=sum(int(one["dataSize"]) for one in stats),
        to_move=0 if _is_level(view, lag_s) else None,
    )


def _so_far(progress: Copying) -> Holding:
    documents = progress.documents_copied
    return Holding(documents, progress.bytes_copied, progress.bytes_left, received=documents)


def _is_level(view: View, lag_s: float | None) -> bool:
    """Whether it has what the primary has, as `redundant` means it."""
    return view.serves and lag_s is not None and lag_s <= MAX_LAG_S + view.delay_s
