"""The adapter of members that nothing supervises: one primary, standbys that stream from it.

Each server is asked by itself. No other one is promoted unless a command of the inventory does it
(`streaming`), so a primary that dies stays the only one: the database does not fail over.
"""

import socket
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from brownout.base.errors import ClusterError, HostError, Refused, Unsupported
from brownout.base.secret import environment_without_secrets
from brownout.base.settings import host_and_port
from brownout.base.wait import wait_until
from brownout.databases.adapter import FailureDetection, Support
from brownout.databases.postgresql import sql
from brownout.databases.postgresql.access import Access, access
from brownout.databases.postgresql.adapter import PostgresqlMembers
from brownout.databases.postgresql.milestones import primary_of
from brownout.databases.postgresql.view import PRIMARY, REPLICA, View
from brownout.databases.scenarios import act_of
from brownout.databases.view import reasons
from brownout.inventory.model import Cluster, Node
from brownout.inventory.streaming import StreamingSpec, filled
from brownout.machine.commands import last_words
from brownout.machine.host import Host, Proof, host_for

__all__ = ["STANDBY", "StreamingAdapter"]

#: With this file a server starts as a standby (PostgreSQL 12 and newer).
STANDBY = "standby.signal"
#: A server that was promoted accepts writes at once; its command may return a little before.
_PROMOTED_S, _POLL_S = 30.0, 0.05
#: A member that does not say what it is, as one whose connections are all taken, may say it soon.
_SAYS_S, _ASKED_EVERY_S = 30.0, 0.5
#: What needs a command of the inventory, and which.
_NEEDS = {
    "stepdown": ("switchover", "nothing here has the primary hand over"),
    "drain": ("switchover", "nothing here has the primary hand over"),
    "promote": ("promote", "nothing here promotes a standby"),
    "wipe": ("rejoin", "nothing here fills an emptied member again"),
}


class Server:
    """Asks one server, and only that one."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._node, self._access, self._timeout_s = node, access, timeout_s

    def status(self) -> dict[str, Any]:
        """Return what the server says of itself; see `sql.status`."""
        return sql.status(self._node, self._access, self._timeout_s)

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""


class StreamingAdapter(PostgresqlMembers[Server]):
    """Asks each server directly, in parallel, with `connection.timeout_s`."""

    def __init__(self, cluster: Cluster) -> None:
        how, timeout_s = access(cluster), cluster.connection.timeout_s
        self._commands = cluster.streaming or StreamingSpec()
        super().__init__(cluster, {n.name: Server(n, how, timeout_s) for n in cluster.nodes}, _look)

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible on this topology, with these hosts and commands."""
        act = act_of(scenario)
        if act == "supervisor":
            return Support(
                False, "no Patroni supervises its servers (`streaming` in the inventory)"
            )
        setting, reason = _NEEDS.get(act, ("", ""))
        if setting and not getattr(self._commands, setting):
            return Support(False, f"{reason}: the inventory has no `streaming.{setting}`")
        return Support(True) if act == "promote" else super().supports(scenario)

    def failure_detection(self) -> FailureDetection | None:
        """Return None: people detect that the primary failed."""
        return None

    def heir(self) -> Node:
        """Return the standby that is to be promoted: the one that has replayed most.

        Raises `ClusterError` where a primary serves or no standby does, and where a member that
        does not answer may be primary: one that is paused would resume as a second one.
        """
        views = self._views()
        if primary := primary_of(views):
            raise ClusterError(
                f"member `{primary.node}` is primary: with another one there would be two",
                "`step_down_primary` has it hand over",
            )
        standbys = [view for view in views if view.state == REPLICA]
        if not standbys:
            raise ClusterError("no standby answers that could be promoted")
        heir = self._cluster.node(max(standbys, key=lambda view: view.at).node)
        _, unsure = self._beside(heir)
        if unsure:
            raise ClusterError(
                f"member `{heir.name}` is not promoted: there would be two primaries if one of "
                f"these is primary: {reasons(unsure)}",
                "stop or kill them first, or see that brownout can ask them",
            )
        return heir

    def promote(self, node: Node) -> Proof:
        """Make a standby the primary, by the inventory's command; proven by its server itself."""
        began = last_standby = time.monotonic()
        before = self._ask(node).state
        evidence = self._run("promote", node, None)

        def is_primary() -> bool:
            nonlocal last_standby
            asked, view = time.monotonic(), self._ask(node)
            if view.state != PRIMARY:
                last_standby = asked
            return view.state == PRIMARY

        if not wait_until(is_primary, _PROMOTED_S, _POLL_S):
            raise ClusterError(
                f"member `{node.name}` is still not primary {time.monotonic() - began:.0f} s "
                f"after `streaming.promote` was run: it is {self._ask(node).state}"
            )
        effective = time.monotonic()
        evidence |= {"state_before": before, "state": PRIMARY}
        return Proof(effective, effective - last_standby, evidence)

    def before_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Make a standby of a member that is empty, or that was primary and is replaced.

        Raises `ClusterError` where it needs that and the inventory has no command for it: started
        as it is, it would be a second primary, or none. The same where another member may be
        primary and does not say so.
        """
        host = host_for(node)
        if host.running().running:
            return {}
        primary, unsure = self._beside(node)
        if not emptied and (primary or unsure) and self._is_standby(node, host):
            return {}
        if unsure:
            primary, unsure = wait_until(
                lambda: self._beside(node), _SAYS_S, _ASKED_EVERY_S, so=lambda seen: not seen[1]
            )
        if unsure:
            raise ClusterError(
                f"member `{node.name}` is not started: there would be two primaries if one of "
                f"these is primary: {reasons(unsure)}",
                "stop them, or see that brownout can ask them, and start it again; or make it a "
                f"standby by hand (`{STANDBY}` in its data directory)",
            )
        if primary is None and not emptied:
            return {}
        if primary is None:
            raise ClusterError(f"member `{node.name}` is empty, and no primary could fill it")
        if not self._commands.rejoin:
            raise ClusterError(
                f"member `{node.name}` is not started: `{primary.node}` is primary now, so that "
                "there would be two",
                "make it a standby by hand, or name a command for it in `streaming.rejoin`",
            )
        return self._run("rejoin", node, self._cluster.node(primary.node))

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Do nothing: a standby connects to its primary by itself."""
        return {}

    def _beside(self, node: Node) -> tuple[View | None, list[View]]:
        """Return which other member is primary; where none says so, those that may be."""
        rest = [view for view in self._views() if view.node != node.name]
        if primary := primary_of(rest):
            return primary, []
        return None, [view for view in rest if not view.serves and self._may_be_primary(view)]

    def _may_be_primary(self, view: View) -> bool:
        """Whether a member that does not say what it is may accept writes.

        It does not if its process is gone, or nothing listens where its host cannot tell. A
        promotion removes `STANDBY` before the server accepts writes.
        """
        node = self._cluster.node(view.node)
        try:
            host = host_for(node)
            return host.running().running and not self._is_standby(node, host)
        except (HostError, Refused, Unsupported):
            return self._listens(node)

    def _is_standby(self, node: Node, host: Host) -> bool:
        return STANDBY in host.entries(self._configured(node, host))

    def _listens(self, node: Node) -> bool:
        try:
            socket.create_connection(host_and_port(node.address), self._timeout_s).close()
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
        return True

    def _may_switch(self) -> bool:
        """The command is the user's own, and its rights are."""
        return True

    def _switch(self, node: Node, primary: View, target: View) -> None:
        heir = self._cluster.node(target.node)
        self._run("switchover", heir, node)
        if not wait_until(lambda: self._ask(heir).state == PRIMARY, _PROMOTED_S, _POLL_S):
            raise ClusterError(
                f"member `{heir.name}` is not primary after `streaming.switchover`: it is "
                f"{self._ask(heir).state}"
            )

    def _run(self, setting: str, node: Node, primary: Node | None) -> dict[str, Any]:
        """Run a command of the inventory; `HostError` with its last words where it fails."""
        host, port = host_and_port(node.address)
        values = {"node": node.name, "host": host, "port": str(port)}
        if primary is not None:
            its_host, its_port = host_and_port(primary.address)
            values |= {"primary": primary.name, "primary_host": its_host}
            values |= {"primary_port": str(its_port)}
        command = filled(getattr(self._commands, setting), values)
        what, began = f"`streaming.{setting}` for member `{node.name}`", time.monotonic()
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._commands.timeout_s,
                env=environment_without_secrets(),
                check=False,
            )
        except OSError as error:
            raise HostError(
                f"{what}: `{command[0]}` cannot be started: {error.strerror}"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise HostError(
                f"{what} did not end within {self._commands.timeout_s:g} s",
                "raise `streaming.timeout_s`, or look at what it waits for",
            ) from error
        if done.returncode:
            output = (done.stderr or done.stdout).decode(errors="replace")
            raise HostError(
                f"{what} failed with status {done.returncode}: "
                f"{last_words(output) or 'it said nothing'}"
            )
        return {"command": setting, "command_s": round(time.monotonic() - began, 3)}


def _look(node: Node, server: Server) -> View:
    """Ask one server; whatever goes wrong is in the view's `error`."""
    try:
        return View(node.name, node.address, server.status())
    except ClusterError as error:
        return View.without(node, error)
