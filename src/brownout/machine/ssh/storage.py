"""Wiping a stopped node's storage on its machine: directories, block devices, or both."""

from collections.abc import Callable, Collection, Sequence
from pathlib import PurePosixPath

from brownout.base.errors import Refused
from brownout.machine import devices, directories
from brownout.machine.commands import Runner, answer, script
from brownout.machine.host import Proof
from brownout.machine.ssh.spec import SshSpec

__all__ = ["check", "wipe"]

_IS_DEVICE = '[ -b "$1" ] && echo "device yes"; return 0'


def check(
    runner: Runner,
    spec: SshSpec,
    targets: Sequence[PurePosixPath],
    own: Collection[int] = (),
) -> tuple[list[directories.Facts], list[devices.Facts]]:
    """Return the facts of the directories and of the devices among `targets`.

    `own` are the node's own processes, which may use them. Raises `Refused` with what is against
    one of them; nothing is touched.
    """
    keep = [PurePosixPath(path) for path in (spec.config_file, _log(spec)) if path]
    listed = [PurePosixPath(path) for path in spec.devices]
    plain: list[directories.Facts] = []
    block: list[devices.Facts] = []
    for target in targets:
        if target in listed or _is_device(runner, target):
            block.append(devices.check(runner, target, listed, own))
        else:
            plain.append(directories.check(runner, target, keep, own=own))
    _check_all_named(runner, block)
    return plain, block


def wipe(
    runner: Runner,
    spec: SshSpec,
    targets: Sequence[PurePosixPath],
    began: Callable[[], None] = lambda: None,
) -> Proof:
    """Empty `targets` one after the other, all of them checked before the first is touched.

    Raises `Refused` with what is against one of them; then nothing was touched.
    """
    plain, block = check(runner, spec, targets)
    began()
    emptied = [directories.empty(runner, facts, spec.wipe_timeout_s) for facts in plain]
    discarded = [devices.empty(runner, facts, spec.wipe_timeout_s) for facts in block]
    effects = [(one.effective, one.uncertainty_s) for one in emptied]
    effects += [(one.effective, one.uncertainty_s) for one in discarded]
    effective, uncertainty_s = max(effects)
    evidence = {
        "state": "empty",
        "directories": [one.evidence() for one in emptied],
        "devices": [one.evidence() for one in discarded],
    }
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
    said = answer(done, f"looking at `{target}`", runner.where)
    return said.get("device") == "yes" or target.is_relative_to("/dev")


def _log(spec: SshSpec) -> PurePosixPath | None:
    file = spec.commands.log_file if spec.commands else None
    return PurePosixPath(file) if file else None
