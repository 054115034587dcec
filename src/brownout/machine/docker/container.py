"""What the engine says of a container: who it is, in which state, with what mounted where."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from docker.errors import NotFound

from brownout.base.errors import HostError, Refused

__all__ = ["Container", "Mount", "checked", "locate", "mounts_in"]

_SWARM = "com.docker.swarm.task.id"


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount of a container: `name` is that of a volume, `source` is the engine's path."""

    kind: str
    name: str
    source: PurePosixPath
    destination: PurePosixPath
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Container:
    """One container in one of its lives: `started` is the engine's stamp of its last start."""

    id: str
    name: str
    image: str
    started: str
    finished: str
    pid: int
    exit_code: int
    running: bool
    paused: bool
    restarting: bool
    policy: str
    stop_signal: str
    removed_when_stopped: bool
    of_swarm: bool
    mounts: tuple[Mount, ...]
    addresses: tuple[str, ...] = ()
    published: tuple[tuple[str, int], ...] = ()

    def is_at(self, address: str, port: int, here: bool) -> bool:
        """Return whether the engine routes this address and port to it.

        `here` says whether the address is of the engine's own machine, so that a port published on
        every address of that machine counts.
        """
        everywhere = ("", "0.0.0.0", "::") if here else ()
        return address in self.addresses or any(
            port == public and where in (address, *everywhere) for where, public in self.published
        )

    @property
    def state(self) -> str:
        """`running`, `paused`, `restarting` or `gone`."""
        if self.restarting:
            return "restarting"
        if self.running:
            return "paused" if self.paused else "running"
        return "gone"

    def evidence(self, **seen: Any) -> dict[str, Any]:
        """Return who it is and what was `seen` of it, for JSON."""
        who = {"container": self.name, "container_id": self.id[:12], "started_at": self.started}
        return {**who, "pid": self.pid or None, "state": self.state, **seen}

    def mount_of(self, path: PurePosixPath) -> Mount | None:
        """Return the mount that `path` of the container lies on; None for its own layer."""
        over = [mount for mount in self.mounts if path.is_relative_to(mount.destination)]
        return max(over, key=lambda mount: len(mount.destination.parts), default=None)


def locate(client: Any, node: str, name: str) -> Container:
    """Ask the engine for the container called `name`; `HostError` if it has none."""
    try:
        return _read(client.inspect_container(name))
    except NotFound as error:
        raise HostError(
            f"node `{node}`: the engine has no container `{name}`",
            "`docker ps --all` shows what it has; correct `container`, or make it anew",
        ) from error


def checked(client: Any, node: str, name: str) -> Container:
    """Return a container that something may be done to.

    Raises `Refused` where the engine, or what stands above it, would not leave it as we left it.
    """
    container = locate(client, node, name)
    if container.removed_when_stopped:
        raise Refused(
            f"node `{node}`: container `{name}` is removed when it stops, with its data",
            "make it without `--rm`",
        )
    if container.of_swarm:
        raise Refused(
            f"node `{node}`: container `{name}` is a task of a swarm, which replaces what stops",
            "take a container of your own, as `docker compose` makes them",
        )
    if container.restarting:
        raise Refused(
            f"node `{node}`: container `{name}` ended with status {container.exit_code}, and "
            f"its restart policy starts it again: `{container.policy}`",
            "look at its log; a node that does not stay up cannot be tested",
        )
    return container


def mounts_in(listed: Mapping[str, Any]) -> Iterator[Mount]:
    """Yield the mounts of a container as `inspect` or a listing has them."""
    for mount in listed.get("Mounts") or []:
        yield Mount(
            kind=str(mount.get("Type", "")),
            name=str(mount.get("Name", "")),
            source=PurePosixPath(mount.get("Source") or "/nowhere"),
            destination=PurePosixPath(mount["Destination"]),
            writable=bool(mount.get("RW", True)),
        )


def _read(document: Mapping[str, Any]) -> Container:
    state, host, config = document["State"], document["HostConfig"], document["Config"]
    return Container(
        id=str(document["Id"]),
        name=str(document["Name"]).lstrip("/"),
        image=str(document["Image"]),
        started=str(state["StartedAt"]),
        finished=str(state["FinishedAt"]),
        pid=int(state["Pid"]),
        exit_code=int(state["ExitCode"]),
        running=bool(state["Running"]),
        paused=bool(state["Paused"]),
        restarting=bool(state["Restarting"]),
        policy=str((host.get("RestartPolicy") or {}).get("Name") or "no"),
        stop_signal=str(config.get("StopSignal") or "SIGTERM"),
        removed_when_stopped=bool(host.get("AutoRemove")),
        of_swarm=_SWARM in (config.get("Labels") or {}),
        mounts=tuple(mounts_in(document)),
        addresses=tuple(_addresses(document.get("NetworkSettings") or {})),
        published=tuple(_published(document.get("NetworkSettings") or {})),
    )


def _addresses(network: Mapping[str, Any]) -> Iterator[str]:
    for each in (network.get("Networks") or {}).values():
        for key in ("IPAddress", "GlobalIPv6Address"):
            if each.get(key):
                yield str(each[key])


def _published(network: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for bindings in (network.get("Ports") or {}).values():
        for binding in bindings or ():
            if str(binding.get("HostPort", "")).isdigit():
                yield str(binding.get("HostIp", "")), int(binding["HostPort"])
