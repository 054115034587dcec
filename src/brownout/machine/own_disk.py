"""What lies on the file systems of a node's data, for what is done to a whole file system.

Only one that holds nothing but the node's data may be stalled or filled: not the machine's own, no
other node's, nothing of ours, nothing that any other process uses. A script gathers the facts where
the disk is; what they mean is decided here by a pure function.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from brownout.base.errors import Denied, Refused
from brownout.inventory.model import Node
from brownout.machine import directories, server_directory
from brownout.machine.commands import Answer, answer, script
from brownout.machine.directories import Mount
from brownout.machine.host import Shell

__all__ = ["ABLE", "FACTS", "MAY_PAIRS", "STILL_OWN", "WHOLE", "Facts", "FileSystem", "checked"]
__all__ += ["facts", "hidden", "objections", "unable"]

#: File systems whose every file has one device number. Not btrfs: its subvolumes have numbers of
#: their own, so who else uses it cannot be seen.
WHOLE = frozenset(("ext3", "ext4", "xfs", "f2fs"))
#: The kernel's own namespace of processes, which no container is in.
_INITIAL = "pid:[4026531836]"
_TIMEOUT_S = 120.0

#: `$1` process, the directories of its data, `--`, paths that must not lie with them.
FACTS = r"""
root=/proc/$1/root inside=$(readlink "/proc/$1/ns/mnt"); shift
devices=" " mapped="no device"
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  device=-
  [ -d "$root$1" ] && device=$(stat -L -c %d -- "$root$1")
  devices="$devices$device "
  [ $device = - ] || mapped="$mapped
$(printf " %02x:%02x " $((device >> 8 & 4095)) $((device & 255 | device >> 12 & 1048320)))"
  echo "directory $device $1"
  shift
done
[ $# = 0 ] || shift
on() {
  device=$(stat -L -c %d -- "$2" 2>/dev/null) || return 0
  case $devices in *" $device "*) echo "holds $1 $2";; esac
}
for path in / /bin /boot /boot/efi /dev /etc /home /lib /opt /proc /root /run /sbin /sys /tmp /usr \
  /usr/local /var /var/cache /var/lib /var/log /var/spool /var/tmp
do
  on "what is the system's," "$path"
done
on "the home directory" "$HOME"
on "the directory that this runs in," "$PWD"
for tool in sh awk dmsetup find flock fsfreeze grep sed setsid sleep stat touch; do
  on "what its undo needs," "$(command -v "$tool")"
done
{ getent passwd || cat /etc/passwd; } 2>/dev/null |
  awk -F: '$3 == 0 || ($3 >= 1000 && $3 < 65000) { print $6 }' | sort -u |
  while read -r path; do on "the home directory" "$path"; done
for path; do on "what is not this node's," "$path"; done
tail -n +2 /proc/swaps 2>/dev/null | while read -r path rest; do on "swap space," "$path"; done
cat /sys/block/loop*/loop/backing_file 2>/dev/null |
  while read -r path; do on "the file of a loop device," "$path"; done
sed -n 's/^.* - overlay [^ ]* //p' /proc/self/mountinfo | tr , '\n' |
  sed -n 's/^\(lower\|upper\|work\)dir=//p' | tr : '\n' |
  while read -r path; do on "a layer of an overlay," "$path"; done
grep -s '^/' /proc/fs/nfsd/exports | while read -r path rest; do on "an NFS export," "$path"; done
sed 's/^/mount /' /proc/self/mountinfo
here=$(readlink /proc/self/ns/mnt)
find /proc/[0-9]*/ns/mnt -maxdepth 0 -printf '%l %p\n' 2>/dev/null | sort -u -k1,1 |
  while read -r namespace link; do
    pid=${link#/proc/}; pid=${pid%%/*}
    case $namespace in "$here"|"$inside") continue;; esac
    sed "s/^/mount_of $pid /" "/proc/$pid/mountinfo" 2>/dev/null
  done
{ find -L /proc/[0-9]*/cwd /proc/[0-9]*/root /proc/[0-9]*/exe -maxdepth 0 -printf '%D %p\n'
  find -L /proc/[0-9]*/fd -mindepth 1 -maxdepth 1 -printf '%D %p\n'
  grep -lsF -- "$mapped" /proc/[0-9]*/maps | sed 's/^/mapped /'
} 2>/dev/null | awk -v devices="$devices" '
  { asked++ }
  $1 == "mapped" || index(devices, " " $1 " ") {
    split($2, path, "/"); if (!seen[path[3]]++) print "user " path[3]
  }
  END { print "looked " (asked ? "yes" : "no") }' |
  while read -r what pid; do
    [ "$what" = user ] || { echo "$what $pid"; continue; }
    line=$pid up=$pid
    while [ "${up:-0}" -gt 1 ]; do
      { IFS= read -r stat < "/proc/$up/stat"; } 2>/dev/null || break
      up=${stat##*) }; up=${up#* }; up=${up%% *}; line="$line $up"
    done
    echo "user $line"
  done
"""

#: Prints why nothing can be done to a whole file system on this machine; see `unable`.
ABLE = r"""
rights=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
[ -w /run ] && [ $((0x$rights >> 21 & 1)) = 1 ] || echo "denied yes"
echo "processes $(readlink /proc/self/ns/pid)"
[ "$(cat /proc/sys/kernel/hung_task_panic 2>/dev/null || echo 0)" = 0 ] || echo "panics yes"
"""
#: `are_their_own DEVICE POINT …` fails where one of them is not what was checked any more.
STILL_OWN = r"""
is_its_own() {
  [ "$(stat -c %d -- "$2")" = "$1" ] && [ "$(stat -c %d -- "$2/..")" != "$1" ] || return 1
  for path in / /dev /etc /proc /run /sys /tmp /usr /var "$HOME" \
    "$(command -v fsfreeze)" "$(command -v dmsetup)"
  do
    [ "$(stat -L -c %d -- "$path" 2>/dev/null)" != "$1" ] || return 1
  done
}
are_their_own() {
  while [ $# -gt 1 ]; do
    is_its_own "$1" "$2" || { echo "$2 is not a file system of its own" >&2; return 1; }
    shift 2
  done
}
"""
#: The check of a program (`ssh.helpers`) whose last arguments are such pairs.
MAY_PAIRS = (
    'while [ $# -gt 1 ]; do may_numbers "$1" && printf "%s\\n" "$may_directories" | '
    "{ while IFS= read -r may_line; do "
    'case $(readlink -m -- "$may_line")/ in "$2"/*) '
    '[ "$(stat -c %d -- "$may_line")" = "$1" ] && [ "$(stat -c %d -- "$2")" = "$1" ] && '
    '[ "$(stat -c %d -- "$2/..")" != "$1" ] && exit 0;; '
    "esac; done; exit 1; } || return 1; shift 2; done; [ $# = 0 ]"
)


@dataclass(frozen=True, slots=True)
class FileSystem:
    """One that holds data of a node: its device number and where it is mounted."""

    device: int
    point: PurePosixPath
    kind: str

    def __str__(self) -> str:
        return f"{self.point} ({self.kind})"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the directories of a node's data, on the machine that they are on.

    Each of `directories` has its device number; None where it is not a directory there. `users` are
    processes that use one of their file systems, each with its ancestors; `holds` says what else of
    importance lies on one. `mounts_of` are those of other mount namespaces than ours and the
    node's, each with a process there. `looked` says that `users` could be looked for.
    """

    directories: tuple[tuple[PurePosixPath, int | None], ...]
    mounts: tuple[Mount, ...] = ()
    mounts_of: tuple[tuple[int, Mount], ...] = ()
    users: tuple[tuple[int, ...], ...] = ()
    holds: tuple[str, ...] = ()
    looked: bool = False

    @property
    def file_systems(self) -> list[FileSystem]:
        """Return what holds them, each once, as far as it is mounted where we see it."""
        by_number = {device: None for _, device in self.directories if device is not None}
        return [
            FileSystem(number, mount.point, mount.kind)
            for number in by_number
            for mount in self._views(number)[-1:]
        ]

    def objections(self, own: Collection[int], kinds: Collection[str] = WHOLE) -> Iterator[str]:
        """Yield every reason why these must be left alone. Pure.

        `own` are the node's processes, `kinds` the types of file system that it can be done to.
        """
        for path, number in self.directories:
            if number is None:
                yield f"`{path}` is not a directory there, so it has no file system"
            elif not self._views(number):
                yield f"the file system of `{path}` is not mounted there as one of its own"
        for each in self.file_systems:
            yield from self._of_mounts(each, kinds)
        yield from (f"it holds {what}" for what in self.holds)
        others = sorted({line[0] for line in self.users if not set(line) & set(own)})
        if others:
            yield f"it is in use by process {', '.join(map(str, others))}, which is not the node's"
        if not self.looked:
            yield "who uses it could not be found out"

    def _of_mounts(self, one: FileSystem, kinds: Collection[str]) -> Iterator[str]:
        if one.kind not in kinds:
            wanted = ", ".join(sorted(kinds))
            yield f"`{one.point}` is a file system of type {one.kind}, wanted {wanted}"
        if "\n" in str(one.point):
            yield f"the name of {str(one.point)!r} holds control characters"
        number = f"{os.major(one.device)}:{os.minor(one.device)}"
        if any(str(view.root) != "/" for view in self._views(one.device)):
            yield f"`{one.point}` is a part of a larger file system"
        yield from (
            f"it can be seen at `{view.point}` too" for view in self._views(one.device)[:-1]
        )
        for mount in self.mounts:
            if mount.device != number and mount.point.is_relative_to(one.point):
                yield f"another file system is mounted in it at `{mount.point}`"
        for pid, mount in self.mounts_of:
            if mount.device == number and mount.point != one.point:
                yield f"process {pid}, in a mount namespace of its own, sees it at `{mount.point}`"

    def _views(self, number: int) -> list[Mount]:
        device = f"{os.major(number)}:{os.minor(number)}"
        return [mount for mount in self.mounts if mount.device == device]


def facts(shell: Shell, pid: int, data: Sequence[Path], keep: Sequence[Path]) -> Facts:
    """Return what is known of the disk of `data`, on which `keep` must not lie."""
    words = [str(pid), *map(str, data), "--", *map(str, keep)]
    done = shell.runner.run(script(FACTS, *words), timeout_s=_TIMEOUT_S)
    reply = answer(done, "looking at what its disk holds", shell.runner.where)
    lines = [line.partition(" ") for line in reply.all("directory")]
    others = [line.partition(" ") for line in reply.all("mount_of")]
    return Facts(
        tuple((PurePosixPath(path), _number(device)) for device, _, path in lines),
        tuple(directories.mount(line) for line in reply.all("mount")),
        tuple((int(other), directories.mount(line)) for other, _, line in others),
        tuple(tuple(map(int, line.split())) for line in reply.all("user")),
        tuple(reply.all("holds")),
        reply.get("looked") == "yes",
    )


def objections(
    shell: Shell, data: Sequence[Path], keep: Sequence[Path], kinds: Collection[str] = WHOLE
) -> list[str]:
    """Return every reason why the disk of `data` must be left alone now; nothing is touched."""
    if shell.process is None:
        return ["it is not running"]
    there = facts(shell, shell.process.pid, data, keep)
    return list(there.objections(server_directory.pids_of(shell), kinds))


def checked(
    node: Node,
    shell: Shell,
    data: Sequence[Path],
    keep: Sequence[Path],
    kinds: Collection[str] = WHOLE,
) -> list[FileSystem]:
    """Return the file systems that hold `data`.

    Raises `Denied` where the node is not running, and `Refused` with every reason why they must be
    left alone.
    """
    if shell.process is None:
        raise Denied(
            f"the disk of node `{node.name}` is left alone: the node is not running", "start it"
        )
    there = facts(shell, shell.process.pid, data, keep)
    if reasons := list(there.objections(server_directory.pids_of(shell), kinds)):
        raise Refused(f"the disk of node `{node.name}` is left alone: {'; '.join(reasons)}")
    return there.file_systems


def hidden(node: Node, where: str, reply: Answer) -> str:
    """Return why who else uses a disk cannot be seen from `where`; empty if it can.

    `reply` has `processes`, the script's own namespace of processes.
    """
    if reply.get("processes") == _INITIAL:
        return ""
    return (
        f"node `{node.name}`: {where} is a container, from which what else uses a disk cannot be "
        "seen"
    )


def unable(node: Node, where: str, reply: Answer, what: str, packages: str) -> str:
    """Return why `what`, as `freeze a file system`, cannot be done there; empty if it can.

    `reply` is what `ABLE` printed, with each tool that is `missing`, which `packages` have.
    """
    it = f"node `{node.name}`"
    if missing := reply.all("missing"):
        return f"{it}: {', '.join(missing)} not found on {where} (Debian: {packages})"
    if reason := hidden(node, where, reply):
        return reason
    if reply.get("denied"):
        return f"{it}: the login on {where} may not {what} (root may)"
    if reply.get("panics"):
        return f"{it}: {where} panics where a process waits long (kernel.hung_task_panic)"
    return ""


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
