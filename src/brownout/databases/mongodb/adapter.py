"""The adapter itself: asks every member at once and hands the answers to pure functions."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, Refused
from brownout.databases.adapter import FailureDetection, Milestone, MilestoneState, Support
from brownout.databases.mongodb import milestones, storage
from brownout.databases.mongodb.access import load_spec
from brownout.databases.mongodb.adjustments import SetAdjusting
from brownout.databases.mongodb.candidate import MongoCandidate
from brownout.databases.mongodb.grants import allowed
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.databases.mongodb.resize import SetResizing
from brownout.databases.mongodb.scenarios import support, topology
from brownout.databases.mongodb.view import View
from brownout.databases.view import reasons
from brownout.inventory.grants import Grant
from brownout.inventory.model import Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host, host_for

__all__ = ["MongoAdapter"]


class MongoAdapter(SetResizing, SetAdjusting):
    """One replica set: its questions here, what changes its members in the parts."""

    def ready(self) -> None:
        """Return if at least one member answers and all that do are of one replica set.

        Raises `ClusterError` with each member's own reason otherwise.
        """
        views = self._views()
        suited = topology(views)
        if not suited.ok:
            raise ClusterError(f"cluster `{self._cluster.name}`: {suited.reason}")
        if not any(view.status for view in views):
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons(views)}")
        sets = sorted({str(view.status["set"]) for view in views if view.status})
        wanted = self._cluster.connection.replica_set
        if len(sets) > 1 or (wanted and sets != [wanted]):
            raise ClusterError(
                f"cluster `{self._cluster.name}`: its members are of the replica set "
                f"{', '.join(sets)}, wanted {wanted or 'one set'}"
            )

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether `milestone` is reached now; see `milestones`."""
        return milestones.judge(milestone, self._polled())

    def signature(self) -> str:
        """Return a line that changes when a member goes, comes back or changes its role."""
        return milestones.signature_of(self._polled())

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology and with these hosts."""
        suited = topology(self._views())
        return support(scenario, self._cluster) if suited.ok else suited

    def engine(self) -> str:
        """Return what the members run, as `mongod 6.0.5`; several versions are all named."""
        builds = self._panel.each(lambda node: self._version(self._links[node.name]))
        versions = sorted({build for build in builds if build})
        if not versions:
            raise ClusterError(f"no member of `{self._cluster.name}` says its version")
        return f"mongod {' and '.join(versions)}"

    def connections(self, node: Node) -> int:
        """Return how many connections the member has, those of other members counted."""
        return int(self._links[node.name].ask("serverStatus")["connections"]["current"])

    def time_of(self, node: Node) -> float:
        """Return the time by the member's own clock, in seconds since 1970 (`hello.localTime`)."""
        local: datetime = self._links[node.name].ask("hello")["localTime"]
        return (local if local.tzinfo else local.replace(tzinfo=UTC)).timestamp()

    def candidates(self) -> list[MongoCandidate]:
        """Return every node, to ask each by itself whether it is the writable primary."""
        return [MongoCandidate(n, self._access, self._timeout_s) for n in self._cluster.every]

    def failure_detection(self) -> FailureDetection | None:
        """Return the set's election time-out; None where no member may tell it."""
        for node in self._cluster.nodes:
            with suppress(ClusterError):
                settings = self._links[node.name].ask("replSetGetConfig")["config"]["settings"]
                milliseconds = settings["electionTimeoutMillis"]
                return FailureDetection("settings.electionTimeoutMillis", milliseconds / 1000)
        return None

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have, by the first member that answers."""
        silent: ClusterError | None = None
        for node in self._cluster.nodes:
            try:
                login = self._links[node.name].ask("connectionStatus", showPrivileges=True)
            except ClusterError as error:
                silent = error
                continue
            info = login["authInfo"]
            if not info.get("authenticatedUsers"):
                if self._access.logs_in:
                    continue  # it is an arbiter, which has no users
                return []  # the servers know no logins
            has = info.get("authenticatedUserPrivileges", ())
            return [
                grant
                for grant in grants
                if not all(allowed(each.format(namespace=namespace), has) for each in grant.ask)
            ]
        raise silent or ClusterError(f"cluster `{self._cluster.name}` has no nodes")

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        return load_spec(self._cluster)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data; see `milestones`."""
        return milestones.lost_with({node.name for node in nodes}, self._views())

    def identity(self, node: Node) -> str:
        """Return the first start that the member remembers; nothing where we may not read it.

        `local.startup_log` is not replicated, and begins anew with its data.
        """
        asked = {"sort": {"$natural": 1}, "projection": {"_id": 1}, "limit": 1}
        answer = self._links[node.name].ask("find", "startup_log", database="local", **asked)
        starts = answer["cursor"]["firstBatch"]
        return f"record of its first start, {starts[0]['_id']}" if starts else ""

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return the node's `dbPath`, as its own configuration names it.

        Raises `Refused` if that is not known for sure, if a living member names another one, if
        it does not look like MongoDB's storage (unless its wipe has `begun`), or if it is, holds
        or lies in the directory of another node of the same machine.
        """
        host = host_for(node)
        footprint = host.footprint()
        living = self._living_directory(node, host, footprint)
        directories = self._places.agreed(
            node,
            host,
            lambda: [storage.configured_directory(node, host)],
            None if living is None else [living],
            footprint,
        )
        for directory in [] if begun else directories:
            storage.check_contents(node, host, directory)
        storage.check_apart(node, directories, self._cluster.every)
        return directories

    def _lags_s(self, views: list[View]) -> Mapping[str, float | None]:
        return milestones.lags_s(views)

    @staticmethod
    def _version(link: Link) -> str:
        try:
            return str(link.ask("buildInfo")["version"])
        except ClusterError:
            return ""

    def _living_directory(self, node: Node, host: Host, footprint: Footprint | None) -> Path | None:
        """Return where the living member keeps its data; None if it is down.

        Raises `Refused` where it does not let us ask, and its process does not tell.
        """
        try:
            answer = self._links[node.name].ask("getCmdLineOpts")
        except CommandFailed as error:
            living = storage.living_directory(host, footprint, None)
            if living is None:
                raise Refused(
                    f"node `{node.name}`: where its data lie is not certain: it does not answer "
                    f"`getCmdLineOpts` ({error.message}), and its process does not tell",
                    "give the user the role `clusterMonitor`",
                ) from error
            return living
        except ClusterError:
            return None  # it is down, which before a wipe it should be
        return storage.living_directory(host, footprint, answer)
