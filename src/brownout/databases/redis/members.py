"""What every Redis is asked, whatever promotes its replicas."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from brownout.base.errors import ClusterError, Refused
from brownout.databases import apart
from brownout.databases.node_answers import Handover
from brownout.databases.places import Places
from brownout.databases.redis import choice, storage
from brownout.databases.redis.link import CommandFailed, Link
from brownout.databases.redis.settings import own_settings
from brownout.databases.redis.view import RedisView, parse_info
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import host_for

__all__ = ["RedisMembers"]

V = TypeVar("V", bound=RedisView)


class RedisMembers(Handover[Link, V]):
    """Nodes of Redis: what they say of their clients, their clock, their rights and their data."""

    TARGETS = choice.TARGETS

    def __init__(
        self,
        cluster: Cluster,
        links: Mapping[str, Link],
        look: Callable[[Node, Link], V],
        view: type[V],
    ) -> None:
        super().__init__(cluster, links, look, view)
        self._places = Places(storage.is_data)

    def connections(self, node: Node) -> int:
        """Return how many clients the node has, replicas not counted."""
        return int(
            parse_info(str(self._links[node.name].ask("INFO", "clients")))["connected_clients"]
        )

    def time_of(self, node: Node) -> float:
        """Return the time by the node's own clock, in seconds since 1970 (`TIME`)."""
        match self._links[node.name].ask("TIME"):
            case [str(seconds), str(microseconds)]:
                return int(seconds) + int(microseconds) / 1e6
            case other:
                raise ClusterError(f"node `{node.name}`: TIME: found {other!r}, wanted two numbers")

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have on some node: each has its own ACL."""
        links = [self._links[node.name] for node in self._cluster.nodes]
        return [
            grant
            for grant in grants
            if any(
                self._is_denied(link, asked.format(namespace=namespace))
                for link in links
                for asked in grant.ask
            )
        ]

    @staticmethod
    def _is_denied(link: Link, command: str) -> bool:
        try:
            link.ask(*command.split())
        except CommandFailed as error:
            return error.reply.startswith("NOPERM")
        return False

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's `dir`, as its own configuration and the living node name it.

        Raises `Refused` if that is not known for sure, if the living node names another one, if it
        does not look like Redis's (unless its wipe has `begun`), or if it is, holds or lies in that
        of another node of the same machine.
        """
        host = host_for(node)
        footprint = host.footprint()
        answered = self._answered(node, footprint)
        living = [Path(answered["dir"])] if answered else None
        settings: dict[str, str] = {}

        def configured() -> list[Path]:
            settings.update(own_settings(node, host))
            return [storage.directory(node, settings)]

        directories = self._places.agreed(node, host, configured, living, footprint)
        if not begun:
            for directory in directories:
                storage.check_contents(node, host, directory, {**settings, **answered})
        apart.check(
            node,
            directories,
            self._cluster.nodes,
            lambda other, its: [storage.directory(other, own_settings(other, its))],
        )
        return directories

    def _answered(self, node: Node, footprint: Footprint | None) -> dict[str, str]:
        """Return what the living node says of its storage (`CONFIG GET`); nothing if it is down.

        One that does not let us ask works in its `dir`, where its process can be seen. Raises
        `Refused` where neither is possible.
        """
        try:
            asked = [("CONFIG", "GET", name) for name in storage.SETTINGS]
            answers = self._links[node.name].ask_all(asked)
        except CommandFailed as error:
            if footprint is not None and footprint.directory is not None:
                return {"dir": str(footprint.directory)}
            raise Refused(
                f"node `{node.name}`: where its data lie is not certain: it does not answer "
                f"`CONFIG GET dir` ({error.reply}), and its process cannot be seen",
                "give the user `+config|get`",
            ) from error
        except ClusterError:
            return {}
        pairs = [answer for answer in answers if isinstance(answer, list) and len(answer) == 2]
        return {str(name): str(value) for name, value in pairs}

    def _starts_empty(self, node: Node, emptied: bool) -> bool:
        """Return whether a start of `node`, which does not run, would find no data.

        Where that is not known it is taken to have some, as its own service would start it, too.
        """
        host = host_for(node)
        if host.running().running:
            return False
        if emptied:
            return True
        try:
            settings = own_settings(node, host)
            at = storage.directory(node, settings)
            return not storage.holds_data(node, host, at, settings)
        except Refused:
            return False
