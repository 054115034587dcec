"""Wiping a stopped node's storage where a `Runner` sees it: directories, block devices, or both.

That the node is stopped, and that its own configuration names what is wiped, is for the callers to
show, and so is what an engine or an API knows of the volumes.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from brownout.base.errors import Refused
from brownout.machine import devices, directories
from brownout.machine.commands import Runner, answer, script
from brownout.machine.host import Proof

__all__ = ["SCRIPTS", "Checked", "Rules", "check", "empty", "targets"]

_IS_DEVICE = '[ -b "$1" ] && echo "device yes"; return 0'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"is-device": _IS_DEVICE}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a wipe of one node has to mind besides what holds for every directory and device.

    `keep` must survive it. `devices` are the inventory's block devices; None where this kind of
    host wipes none. `mount_point` says that a directory may be one, as a volume is. `finishing` is
    that a wipe was cut short: a directory that is gone holds nothing any more.
    """

    keep: tuple[PurePosixPath, ...] = ()
    devices: tuple[PurePosixPath, ...] | None = None
    mount_point: bool = False
    timeout_s: float = 3600.0
    finishing: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What nothing speaks against emptying: of directories the outermost alone."""

    directories: tuple[directories.Facts, ...]
    devices: tuple[devices.Facts, ...]


def targets(node: str, named: Sequence[Path]) -> list[PurePosixPath]:
    """Return what is to be wiped, as paths of the node's machine; `Refused` for nothing."""
    if not named:
        raise Refused(f"node `{node}` is not wiped: no directory was named")
    return [PurePosixPath(path) for path in named]


def check(
    runner: Runner,
    wanted: Sequence[PurePosixPath],
    rules: Rules,
    own: Collection[int] | None = (),
) -> Checked:
    """Return the facts of what is wanted to be wiped.

    `own` are the node's own processes, which may use it; None: every process that uses it may.
    Raises `Refused` with what is against one of them; nothing is touched.
    """
    plain: list[PurePosixPath] = []
    block: list[devices.Facts] = []
    for one in wanted:
        if rules.devices is not None and (one in rules.devices or _is_device(runner, one)):
            block.append(devices.check(runner, one, rules.devices, own or ()))
        else:
            plain.append(one)
    outermost = directories.check(
        runner, plain, rules.keep, rules.mount_point, own, finishing=rules.finishing
    )
    _check_all_named(runner, block)
    return Checked(outermost, tuple(block))


def empty(runner: Runner, checked: Checked, timeout_s: float) -> Proof:
    """Empty what was checked, one after the other; proven when nothing is in it."""
    emptied = [directories.empty(runner, facts, timeout_s) for facts in checked.directories]
    discarded = [devices.empty(runner, facts, timeout_s) for facts in checked.devices]
    effects = [(one.effective, one.uncertainty_s) for one in emptied]
    effects += [(one.effective, one.uncertainty_s) for one in discarded]
    effective, uncertainty_s = max(effects, default=(time.monotonic(), 0.0))
    evidence = {"state": "empty", "directories": [one.evidence() for one in emptied]}
    if discarded:
        evidence["devices"] = [one.evidence() for one in discarded]
    untouched = not discarded and not any(one.files or one.attempts > 1 for one in emptied)
    return Proof(effective, uncertainty_s, evidence, already=untouched)


def _check_all_named(runner: Runner, block: Sequence[devices.Facts]) -> None:
    """A device that the inventory lists and the node does not use is a mistake in one of the two.

    They are compared by their numbers, since each may name a device in its own way.
    """
    used = {facts.number for facts in block}
    listed = {one.path: one.number for facts in block for one in facts.listed}
    foreign = [f"`{path}`" for path, number in listed.items() if number not in used]
    if foreign:
        raise Refused(
            f"nothing on {runner.where} is wiped: the inventory lists {', '.join(foreign)} under "
            "`devices`, which the node's own configuration does not name",
            "correct the one that is wrong",
        )


def _is_device(runner: Runner, target: PurePosixPath) -> bool:
    done = runner.run(script(_IS_DEVICE, target))
    reply = answer(done, f"looking at `{target}`", runner.where)
    return reply.get("device") == "yes" or target.is_relative_to("/dev")
