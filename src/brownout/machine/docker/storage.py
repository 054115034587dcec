"""Wiping a stopped container's storage: directories of its own volumes, and nothing else."""

from collections.abc import Callable, Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

from docker.errors import NotFound

from brownout.base.errors import Refused
from brownout.machine import storage
from brownout.machine.docker.container import Container, Mount, mounts_in
from brownout.machine.docker.helper import HELPER, HelperRunner
from brownout.machine.docker.volumes import refusals
from brownout.machine.host import Proof
from brownout.machine.storage import Checked, Rules

__all__ = ["check", "wipe"]


def check(
    client: Any,
    container: Container,
    targets: Sequence[PurePosixPath],
    rules: Rules,
) -> Checked:
    """Return the facts of `targets`; raises `Refused` with what is against one of them.

    Nothing is touched. Who is seen to use one while the container runs is the container itself.
    """
    others, volumes = _others(client, container), _volumes(client, container)
    for target in targets:
        reasons = list(refusals(target, container, others, volumes))
        if reasons:
            raise Refused(
                f"`{target}` of container {container.name} is not wiped: {'; '.join(reasons)}"
            )
    own: Collection[int] | None = None if container.running else ()
    return storage.check(HelperRunner(client, container), targets, rules, own)


def wipe(
    client: Any,
    container: Container,
    targets: Sequence[PurePosixPath],
    rules: Rules,
    began: Callable[[], None],
) -> Proof:
    """Empty `targets` one after the other, all of them checked before the first is touched.

    Raises `Refused` with what is against one of them; then nothing was touched.
    """
    checked = check(client, container, targets, rules)
    began()
    return storage.empty(HelperRunner(client, container), checked, rules.timeout_s)


def _others(client: Any, container: Container) -> dict[str, list[Mount]]:
    """Return what the engine's other containers have mounted, running or not."""
    return {
        str(next(iter(listed.get("Names") or [listed["Id"]]))).lstrip("/"): list(mounts_in(listed))
        for listed in client.containers(all=True)
        if listed["Id"] != container.id and (listed.get("Labels") or {}).get(HELPER) != container.id
    }


def _volumes(client: Any, container: Container) -> dict[str, Any]:
    """Return what the engine says of each of the container's volumes; nothing of one it lost."""
    volumes = {}
    for mount in container.mounts:
        if mount.kind == "volume":
            try:
                volumes[mount.name] = client.inspect_volume(mount.name)
            except NotFound:
                continue
    return volumes
