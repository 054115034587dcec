"""What a machine knows of one of its block devices: gathered by one script, nothing touched."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from brownout.machine.commands import Answer, Runner, answer, script

__all__ = ["SCRIPTS", "Facts", "Listed", "gather", "parse"]

#: `$1` path to wipe, further: the devices that the inventory lists. Numbers are `major:minor`.
_GATHER = r"""
number() { set -- $(stat -L -c '0x%t 0x%T' -- "$1" 2>/dev/null) && echo "$(($1)):$(($2))"; }
block() { [ -b "$1" ] && number "$1"; }
disks() (  # of a directory of /sys: what it is made of at the bottom
  [ -e "$1/partition" ] && { disks "${1%/*}"; return; }
  below=
  for slave in "$1"/slaves/*; do
    [ -e "$slave" ] && { below=1; disks "$(cd -P "$slave" && pwd -P)"; }
  done
  [ -n "$below" ] || echo "${1##*/}"
)
sys_of() { cd -P "/sys/dev/block/$1" 2>/dev/null && pwd -P; }

path=$1; shift
for listed; do echo "listed $(block "$listed" || echo none) $listed"; done
[ -e "$path" ] || { echo "kind missing"; return 0; }
echo "kind $(stat -L -c %F -- "$path")"
self=$(block "$path") || return 0
real=$(readlink -f -- "$path")
sys=$(sys_of "$self") || { echo "kind unknown to /sys"; return 0; }
echo "real $real"
echo "number $self"
echo "name ${sys##*/}"
echo "size $(($(cat "$sys/size") * 512))"
echo "read_only $(cat "$sys/ro")"
disks "$sys" | sort -u | sed 's/^/disk /'
for link in /dev/disk/by-id/* /dev/disk/by-partuuid/*; do
  [ "$(block "$link")" = "$self" ] && echo "stable $link"
done

ids=" $self "; names=" $real "
for part in "$sys"/*/partition; do
  [ -e "$part" ] || continue
  part=${part%/partition}
  echo "partition ${part##*/}"
  ids="$ids$(cat "$part/dev") "; names="$names/dev/${part##*/} "
done
for holder in "$sys"/holders/* "$sys"/*/holders/*; do
  [ -e "$holder" ] && echo "holder ${holder##*/}"
done
cat /proc/[0-9]*/mountinfo 2>/dev/null | sort -u | awk -v ids="$ids" -v names="$names" '
  { for (i = 7; i <= NF; i++) if ($i == "-") source = $(i + 2) }
  index(ids, " " $3 " ") || index(names, " " source " ") { print "mount " $5 }' | sort -u
while read -r swap rest; do
  case $ids in *" $(block "$swap") "*) echo "swap $swap";; esac
done < /proc/swaps
if command -v blkid >/dev/null; then
  blkid -p -o export -s TYPE -s USAGE -s PTTYPE "$real" | sed -n 's/^TYPE=/content /p
    s/^PTTYPE=/content partition table: /p'
else
  echo "unknown what is on it: the machine has no blkid"
fi
find -L /proc/[0-9]*/fd -mindepth 1 -maxdepth 1 -type b -exec stat -L -c '%t:%T %n' {} + \
  2>/dev/null | awk -v own="$(stat -c %t:%T -- "$real")" '$1 == own { print $2 }' |
  cut -d/ -f3 | sort -un | sed 's/^/user /'

for place in / /boot /boot/efi /usr /var /home; do
  source=$(awk -v point="$place" '$5 == point {
    for (i = 7; i <= NF; i++) if ($i == "-") line = $3 " " $(i + 2) } END { print line }' \
    /proc/self/mountinfo)
  [ -n "$source" ] || continue
  below=$(sys_of "${source%% *}") || below=$(sys_of "$(block "${source#* }")") ||
    { echo "unplaced $place"; continue; }
  for disk in $(disks "$below"); do echo "system $disk $place"; done
done
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"device-facts": _GATHER}


@dataclass(frozen=True, slots=True)
class Listed:
    """One device of the inventory and its number on the machine, `none` if it has none."""

    path: PurePosixPath
    number: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What one path is. Numbers are `major:minor`, disks and partitions kernel names as `sdb1`.

    `mounts` are places in any namespace where it or a partition of it is mounted; `system` says
    which disks the machine itself lives on, `("vda", "/boot")`; `unplaced` are places of the
    system whose disk could not be told.
    """

    path: PurePosixPath
    kind: str = ""
    real: str = ""
    number: str = ""
    size_bytes: int = 0
    read_only: bool = False
    disks: tuple[str, ...] = ()
    stable: tuple[str, ...] = ()
    listed: tuple[Listed, ...] = ()
    partitions: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    swaps: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    users: tuple[int, ...] = ()
    system: tuple[tuple[str, str], ...] = ()
    unplaced: tuple[str, ...] = ()


def gather(runner: Runner, path: PurePosixPath, listed: Sequence[PurePosixPath]) -> Facts:
    """Ask the runner's machine about `path`; `listed` are the inventory's devices."""
    done = runner.run(script(_GATHER, path, *listed), timeout_s=60.0)
    return parse(path, answer(done, f"looking at the device `{path}`", runner.where))


def parse(path: PurePosixPath, reply: Answer) -> Facts:
    """Return what the script on the machine found."""
    return Facts(
        path=path,
        kind=reply.get("kind"),
        real=reply.get("real"),
        number=reply.get("number"),
        size_bytes=reply.number("size") or 0,
        read_only=reply.get("read_only") == "1",
        disks=tuple(reply.all("disk")),
        stable=tuple(reply.all("stable")),
        listed=tuple(_listed(line) for line in reply.all("listed")),
        partitions=tuple(reply.all("partition")),
        holders=tuple(reply.all("holder")),
        mounts=tuple(reply.all("mount")),
        swaps=tuple(reply.all("swap")),
        contents=tuple(reply.all("content")),
        unknown=tuple(reply.all("unknown")),
        users=tuple(int(user) for user in reply.all("user")),
        system=tuple(_system(line) for line in reply.all("system")),
        unplaced=tuple(reply.all("unplaced")),
    )


def _listed(line: str) -> Listed:
    number, _, path = line.partition(" ")
    return Listed(PurePosixPath(path), number)


def _system(line: str) -> tuple[str, str]:
    disk, _, place = line.partition(" ")
    return disk, place
