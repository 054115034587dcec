"""Whether a block device may be emptied: pure judgements over its facts, every reason told."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from brownout.base.errors import Refused
from brownout.machine.commands import Runner
from brownout.machine.devices.facts import Facts, gather

__all__ = ["check", "refusals"]

#: Names that stay with the device whatever order the kernel finds its disks in at the next boot.
STABLE = (PurePosixPath("/dev/disk/by-id"), PurePosixPath("/dev/disk/by-partuuid"))


def check(
    runner: Runner,
    path: PurePosixPath,
    listed: Sequence[PurePosixPath],
    own: Collection[int] = (),
) -> Facts:
    """Return the facts of a device that may be emptied; `listed` are those of the inventory.

    `own` are processes that may have it open, since they are the node's. Raises `Refused` with
    every reason otherwise; nothing is touched.
    """
    problem = _path_problem(path)
    if problem:
        raise _refused(runner, path, [problem])
    facts = gather(runner, path, listed)
    facts = replace(facts, users=tuple(user for user in facts.users if user not in own))
    reasons = list(refusals(facts))
    if reasons:
        raise _refused(runner, path, reasons)
    return facts


def refusals(facts: Facts) -> Iterator[str]:
    """Yield every reason why the device must not be emptied."""
    if facts.kind == "missing":
        yield "it does not exist"
    elif facts.kind != "block special file":
        yield f"it is not a block device but a {facts.kind}"
    if facts.number:
        yield from _inventory(facts)
        yield from _itself(facts)
        yield from _in_use(facts)
        yield from _system(facts)


def _inventory(facts: Facts) -> Iterator[str]:
    """The inventory must list this very device, and by a name that does not move."""
    same = [one.path for one in facts.listed if one.number == facts.number]
    if not same:
        ids = f" (it is {' and '.join(facts.stable)})" if facts.stable else ""
        yield f"the inventory does not list it under `devices`{ids}"
    moving = [str(path) for path in same if path.parent not in STABLE]
    if same and len(moving) == len(same):
        places = " or ".join(map(str, STABLE))
        yield (
            f"the inventory lists it as `{moving[0]}`, which may be another disk after the next "
            f"boot; wanted its name in {places}"
        )


def _itself(facts: Facts) -> Iterator[str]:
    if facts.read_only:
        yield "it is read-only"
    if facts.size_bytes <= 0:
        yield "it has no size"
    if facts.partitions:
        yield f"it has partitions ({', '.join(facts.partitions)}); wanted the node's own one"
    if facts.contents:
        yield f"it holds something other than a database's data: {', '.join(facts.contents)}"
    for unknown in facts.unknown:
        yield f"it is not known {unknown}"


def _in_use(facts: Facts) -> Iterator[str]:
    if facts.mounts:
        yield f"it is mounted at {', '.join(f'`{place}`' for place in facts.mounts)}"
    if facts.swaps:
        yield "it is in use as swap"
    if facts.holders:
        yield f"it is part of {', '.join(facts.holders)}"
    if facts.users:
        yield f"it is open in process {', '.join(map(str, facts.users))}"


def _system(facts: Facts) -> Iterator[str]:
    for disk, place in facts.system:
        if disk in facts.disks:
            yield f"it is on the disk `{disk}`, which holds `{place}`"
    if "/" in facts.unplaced:
        yield "which disk holds `/` cannot be told"


def _path_problem(path: PurePosixPath) -> str:
    if not path.is_relative_to("/dev") or path == PurePosixPath("/dev") or ".." in path.parts:
        return "wanted the path of a device below /dev"
    if re.search(r"[\x00-\x1f\x7f]", str(path)):
        return "its name holds control characters"
    return ""


def _refused(runner: Runner, path: PurePosixPath, reasons: list[str]) -> Refused:
    return Refused(f"`{path}` on {runner.where} is not wiped: {'; '.join(reasons)}")
