"""Wiping a stopped container's storage: directories of its own volumes, and nothing else."""

from collections.abc import Callable, Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

from docker.errors import NotFound

from brownout.base.errors import Refused
from brownout.machine import directories
from brownout.machine.docker.container import Container, Mount, mounts_in
from brownout.machine.docker.helper import HELPER, HelperRunner
from brownout.machine.docker.volumes import refusals
from brownout.machine.host import Proof

__all__ = ["check", "wipe"]


def check(
    client: Any,
    container: Container,
    targets: Sequence[PurePosixPath],
    keep: Sequence[PurePosixPath],
) -> list[directories.Facts]:
    """Return the facts of `targets`; raises `Refused` with what is against one of them.

    Nothing is touched. Who is seen to use one while the container runs is the container itself.
    """
    others, volumes = _others(client, container), _volumes(client, container)
    for target in targets:
        found = list(refusals(target, container, others, volumes))
        if found:
            raise Refused(
                f"`{target}` of container {container.name} is not wiped: {'; '.join(found)}"
            )
    runner = HelperRunner(client, container)
    own: Collection[int] | None = None if container.running else ()
    return [directories.check(runner, one, keep, mount_point=True, own=own) for one in targets]


def wipe(
    client: Any,
    container: Container,
    targets: Sequence[PurePosixPath],
    keep: Sequence[PurePosixPath],
    timeout_s: float,
    began: Callable[[], None],
) -> Proof:
    """Empty `targets` one after the other, all of them checked before the first is touched.

    Raises `Refused` with what is against one of them; then nothing was touched.
    """
    facts = check(client, container, targets, keep)
    began()
    runner = HelperRunner(client, container)
    emptied = [directories.empty(runner, one, timeout_s) for one in facts]
    effective, uncertainty_s = max((one.effective, one.uncertainty_s) for one in emptied)
    evidence = {"state": "empty", "directories": [one.evidence() for one in emptied]}
    already = not any(one.files for one in emptied)
    return Proof(effective, uncertainty_s, evidence, already=already)


def _others(client: Any, container: Container) -> dict[str, list[Mount]]:
    """Return what the engine's other containers have mounted, running or not."""
    return {
        str(next(iter(listed.get("Names") or [listed["Id"]]))).lstrip("/"): list(mounts_in(listed))
        for listed in client.containers(all=True)
        if listed["Id"] != container.id and (listed.get("Labels") or {}).get(HELPER) != container.id
    }


def _volumes(client: Any, container: Container) -> dict[str, Any]:
    """Return what the engine says of each of the container's volumes; nothing of one it lost."""
    found = {}
    for mount in container.mounts:
        if mount.kind == "volume":
            try:
                found[mount.name] = client.inspect_volume(mount.name)
            except NotFound:
                continue
    return found
