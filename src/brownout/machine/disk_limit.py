"""Limiting how fast a node may use the disks that hold its data.

    a systemd service      IOReadBandwidthMax= and the like (cgroup v2)
    any other process      its own control group: v2 io.max; v1 blkio.throttle.*

Other users of the same disk are not limited. Version 1 limits what a process reads and writes
itself, also as it waits in fsync; what the kernel's flusher writes by itself is not counted there.
Version 2 counts that too, by the memory in which it lies. So there a node whose group is shared is
refused: moved to a group of our own, its earlier memory would still count for the other one.

Sources: Linux, Documentation/admin-guide/cgroup-v2.rst (IO) and cgroup-v1/blkio-controller.rst;
systemd.resource-control(5).
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError, Denied, HostError, Refused, Unsupported
from brownout.inventory.model import Node
from brownout.machine import control_groups, server_directory
from brownout.machine.commands import Answer, Program, answer, script
from brownout.machine.host import Host, Proof, Shell, proof_of

__all__ = ["MARK", "SCRIPTS", "check_size", "in_words", "left_on", "limit", "plan", "undo_on"]
__all__ += ["why_not", "why_not_now"]

MARK = "brownout-undo-disk-limit"
_MIB = 1 << 20
#: Values are a disk's number, then bytes a second read and written, and reads and writes a second,
#: where 0 means any; then how many bytes the group has read and written of it so far.
_PER_DISK = 7
#: The functions of the hooks have their own names for variables, since those of their callers are
#: global to the shell.
_LIMIT = control_groups.Limit(
    "io",
    "io",
    MARK,
    """
by_unit() { [ "$kind" = 2 ]; }
always_moves() { [ "$kind" = 1 ] || never_moves=yes; false; }
never_moves=
set_limit() {
  at=$1; shift
  while [ $# -ge 7 ]; do
    if [ "$kind" = 1 ]; then
      echo "$1 $2" > "$at/blkio.throttle.read_bps_device" || return 1
      echo "$1 $3" > "$at/blkio.throttle.write_bps_device" || return 1
      echo "$1 $4" > "$at/blkio.throttle.read_iops_device" || return 1
      echo "$1 $5" > "$at/blkio.throttle.write_iops_device" || return 1
    else
      most="rbps=$2 wbps=$3 riops=$4 wiops=$5 "
      echo "$1 $(echo "$most" | sed "s/=0 /=max /g")" > "$at/io.max" || return 1
    fi
    shift 7
  done
}
limit_in() {
  files="$1/io.max" line=
  [ "$kind" = 2 ] || files="$1/blkio.throttle.*_device"
  for disk in $( { cat $files; printf "%s\\n" $wanted; } 2>/dev/null |
    sed -n "s/^\\([0-9][0-9]*:[0-9][0-9]*\\).*/\\1/p" | sort -u)
  do
    line="$line $disk"
    for what in read_bps:rbps write_bps:wbps read_iops:riops write_iops:wiops; do
      if [ "$kind" = 1 ]; then
        value=$(sed -n "s/^$disk //p" "$1/blkio.throttle.${what%:*}_device")
      else
        value=$(sed -n "s/^$disk .*${what#*:}=\\([0-9]*\\).*/\\1/p" "$1/io.max" 2>/dev/null)
      fi
      line="$line ${value:-0}"
    done
    for what in Read:rbytes Write:wbytes; do
      if [ "$kind" = 1 ]; then
        value=$(sed -n "s/^$disk ${what%:*} //p" "$1/blkio.throttle.io_service_bytes")
      else
        value=$(sed -n "s/^$disk .*${what#*:}=\\([0-9]*\\).*/\\1/p" "$1/io.stat" 2>/dev/null)
      fi
      line="$line ${value:-0}"
    done
  done
  echo $line
}
set_unit() {
  of=$1; shift
  while [ $# -ge 7 ]; do
    systemctl set-property --runtime -- "$of" "IOReadBandwidthMax=$(most "$1" "$2")" \\
      "IOWriteBandwidthMax=$(most "$1" "$3")" "IOReadIOPSMax=$(most "$1" "$4")" \\
      "IOWriteIOPSMax=$(most "$1" "$5")" || return 1
    shift 7
  done
}
most() { [ "$2" = 0 ] && echo "/dev/block/$1 infinity" || echo "/dev/block/$1 $2"; }
limit_of_unit() { limit_in "$place"; }
""",
    "blkio",
)
#: Only file systems whose writes the kernel counts for the group that made them.
_DISKS = r"""
disks() {
  its=/proc/$1/root; shift
  for data; do
    [ -d "$its$data" ] || continue
    type=$(stat -f -c %T -- "$its$data") device=$(stat -L -c %d -- "$its$data")
    number=$((device >> 8 & 4095)):$((device & 255 | device >> 12 & 1048320))
    at=/sys/dev/block/$number
    case $type in ext2/ext3|xfs|f2fs) ;; *) at=;; esac
    [ -n "$at" ] && [ -e "$at/dev" ] || { echo "other $type $data"; continue; }
    [ ! -e "$at/partition" ] || number=$(cat "$at/../dev")
    echo "disk $number"
  done | sort -u
}
"""
#: `$1` the systemd unit, `$2` the process, then its data directories, `--`, its other processes.
_LOOK = f"""{_LIMIT.functions}{_DISKS}
unit=$1 main=$2; shift 2
look && [ -n "$main" ] || return 0
while [ $# -gt 0 ] && [ "$1" != -- ]; do disks "$main" "$1"; shift; done
[ $# = 0 ] || shift
if [ -n "$unit" ] && by_unit; then place=$root$(group_of "$main")
elif ! own_place "$main" "$@"; then [ "$kind" = 1 ] || echo "shared $group"; return 0; fi
[ "$kind" = 1 ] || grep -qw memory "$place/cgroup.controllers" || echo "uncounted $place"
"""
#: `$1` node `$2` limit in s `$3` systemd unit `$4` values, then processes.
_SET = f'{_LIMIT.functions}\nlimit "$@" && stamp ended && show "$1"\n'
_RESTORE = f'{_LIMIT.functions}\nrestore "$1"\n'
_SHOW = f'{_LIMIT.functions}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
_OURS = 'for each; do may_ours "$each" || return 1; done'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "disks": Program(
        _LOOK,
        '[ "$1" = "$may_unit" ] || return 1; [ -z "$2" ] || may_ours "$2" || return 1; shift 2; '
        'while [ $# -gt 0 ] && [ "$1" != -- ]; do '
        'may_in "$1" "$may_directories" || return 1; shift; done; '
        f"[ $# = 0 ] || shift; {_OURS}",
    ),
    "limit-disk": Program(
        _SET,
        f'{_NODE} && may_numbers "$2" && [ "$3" = "$may_unit" ] || return 1; '
        f"case $4 in *[!0-9:\\ ]*) return 1;; esac; shift 4; {_OURS}",
        act="disk_limit",
        undone_by="disk_unlimited",
    ),
    "unlimit-disk": Program(_RESTORE, _NODE, act="disk_unlimited"),
    "disk-limited": Program(_SHOW, _NODE),
}


@dataclass(frozen=True, slots=True)
class _Most:
    """What may be read, and written, of one disk a second; 0 means any.

    `read_so_far` and `written_so_far` are bytes.
    """

    disk: str
    read_bytes: int
    written_bytes: int
    reads: int
    writes: int
    read_so_far: int = field(default=0, compare=False)
    written_so_far: int = field(default=0, compare=False)

    @property
    def values(self) -> str:
        """The words that the scripts take."""
        return " ".join(map(str, astuple(self)))


def check_size(mib_per_s: float, iops: int) -> None:
    """Raise `ConfigurationError` unless the kernel can set that."""
    if not (mib_per_s == 0 or 0.01 <= mib_per_s <= 100_000):
        raise ConfigurationError(
            f"mib_per_s: found {mib_per_s:g}, wanted 0.01 to 100000, or 0 for any"
        )
    if not 0 <= iops <= 10_000_000:
        raise ConfigurationError(f"iops: found {iops}, wanted 1 to 10000000, or 0 for any")
    if not (mib_per_s or iops):
        raise ConfigurationError("mib_per_s and iops: found 0 for both, wanted a limit")


def why_not(node: Node, host: Host) -> str:
    """Return why no disk of this node can be limited; empty if one can. Nothing is touched."""
    kind = node.host.kind if node.host else ""
    if kind in ("docker", "kubernetes"):
        return (
            f"node `{node.name}`: limiting the disk of a container is not built; use a node that "
            "is a process or a service"
        )
    shell = host.shell()
    return control_groups.problem(node, shell.runner.where, _look(shell, ()), "block I/O")


def why_not_now(node: Node, host: Host, data: Sequence[Path]) -> list[str]:
    """Return why the disks of `data` cannot be limited for this node's processes."""
    shell = host.shell()
    return _objections(node, shell.runner.where, _look(shell, data))


def _objections(node: Node, where: str, reply: Answer) -> list[str]:
    it = f"node `{node.name}`"
    reasons = []
    for other in reply.all("other"):
        kind, _, place = other.partition(" ")
        reasons.append(
            f"{it}: {place} on {where} lies on {kind}, wanted a disk with ext4, ext3, xfs or f2fs, "
            "of which the kernel knows who writes"
        )
    if group := reply.get("uncounted"):
        reasons.append(
            f"{it}: its control group {group} on {where} does not count memory, by which the "
            "kernel counts what it writes; set MemoryAccounting=yes for its service"
        )
    if group := reply.get("shared"):
        reasons.append(
            f"{it}: other processes of {where} are in its control group `{group}`; start it in one "
            "of its own (as a systemd service, or `host.control_group`)"
        )
    return reasons


def limit(
    node: Node, host: Host, data: Sequence[Path], mib_per_s: float, iops: int,
    undo_after_s: float | None = None,
) -> Proof:  # fmt: skip
    """Let the node read, and write, no more of the disks of `data` than that in a second.

    Proven by reading the limit back. Raises `Refused` where they cannot be limited; then nothing
    was touched.
    """
    check_size(mib_per_s, iops)
    shell = host.shell()
    if shell.process is None:
        raise Denied(f"node `{node.name}` is not limited: it is not running", "start it")
    seen = _look(shell, data)
    if reasons := _objections(node, shell.runner.where, seen):
        raise Refused("; ".join(reasons))
    size = round(mib_per_s * _MIB)
    disks = dict.fromkeys(seen.all("disk"))
    most = [_Most(disk, size, size, iops, iops) for disk in disks]
    if not most:
        raise HostError(f"node `{node.name}`: found none of its data on {shell.runner.where}")
    limit_s = undo_after_s or shell.undo_after_s
    words = (node.key, f"{limit_s:g}", shell.unit, " ".join(each.values for each in most))
    done = shell.runner.run(script(_SET, *words, *server_directory.pids_of(shell)))
    reply = answer(done, "limiting its disk", shell.runner.where)
    if reply.get("state") == "gone":
        raise HostError(f"node `{node.name}` ended before its disk was limited")
    there = _parsed(reply.get("limit"))
    if missing := [each.disk for each in most if each not in there]:
        raise HostError(
            f"node `{node.name}`: disk {', '.join(missing)} is not limited: {_in_force(reply)}"
        )
    was = _parsed(reply.get("was_limit"))
    evidence = {
        "state": "limited",
        "by": control_groups.means(reply),
        "mib_per_s": mib_per_s,
        "iops": iops,
        "disks": [each.disk for each in most],
        "group": reply.get("place"),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, all(each in was for each in most))


def undo_on(node: Node, host: Host) -> Proof:
    """Let the node use its disks as before; safe to repeat.

    The evidence says how much it read and wrote meanwhile, as far as the kernel limits it.
    """
    runner = host.shell().runner
    done = runner.run(script(_RESTORE, node.key))
    reply = answer(done, "taking the limit of its disk away", runner.where)
    if reply.get("how"):
        raise HostError(f"node `{node.name}` still has a limited disk: {_in_force(reply)}")
    before = {each.disk: each for each in _parsed(reply.get("was_before"))}
    evidence: dict[str, Any] = {"state": "not limited"}
    for most in _parsed(reply.get("was_limit")):
        then = before.get(most.disk)
        read = most.read_so_far - (then.read_so_far if then else 0)
        written = most.written_so_far - (then.written_so_far if then else 0)
        evidence["read_bytes"] = evidence.get("read_bytes", 0) + read
        evidence["written_bytes"] = evidence.get("written_bytes", 0) + written
    return proof_of(done, reply, evidence, not reply.get("was_how"))


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, as `1 MiB/s of disk 8:0; by cgroup v2`; empty for none of ours."""
    try:
        runner = host.shell().runner
    except Unsupported:
        return ""
    done = runner.run(script(_SHOW, node.key))
    reply = answer(done, "looking at the limit of its disk", runner.where)
    return _in_force(reply) if reply.get("how") else ""


def plan(node: Node, host: Host, data: Sequence[Path], mib_per_s: float, iops: int) -> str:
    """Return for a plan what limits the node's disks."""
    check_size(mib_per_s, iops)
    shell = host.shell()
    disks = dict.fromkeys(_look(shell, data).all("disk"))
    limits = "; ".join(in_words(mib_per_s, iops, disk) for disk in disks)
    means = f"the IO limits of `{shell.unit}`" if shell.unit else "its control group"
    return f"{shell.runner.where}: let it read, and write, {limits}, by {means}"


def in_words(mib_per_s: float, iops: int, disk: str) -> str:
    """Return a limit in words, as `1 MiB/s and 100 calls/s of disk 8:0`, in whole bytes.

    What was asked for and what the kernel says about it are the same words.
    """
    sizes = [f"{round(mib_per_s * _MIB) / _MIB:.4g} MiB/s"] if mib_per_s else []
    counts = [f"{iops} calls/s"] if iops else []
    return f"{' and '.join(sizes + counts) or 'any amount'} of disk {disk}"


def _in_force(reply: Answer) -> str:
    limits = [
        in_words(each.written_bytes / _MIB, each.writes, each.disk)
        for each in _parsed(reply.get("limit"))
    ]
    return f"{'; '.join(limits) or 'no limit'}; by {control_groups.means(reply)}"


def _parsed(text: str) -> list[_Most]:
    words = text.split()
    groups = [words[at : at + _PER_DISK] for at in range(0, len(words) - 1, _PER_DISK)]
    return [_Most(disk, *map(int, sizes)) for disk, *sizes in groups]


def _look(shell: Shell, data: Sequence[Path]) -> Answer:
    """Ask the node's machine for its control groups and the disks of `data`."""
    main, *others = [*map(str, server_directory.pids_of(shell))] or [""]
    words = (shell.unit, main, *map(str, data), "--", *others)
    done = shell.runner.run(script(_LOOK, *words))
    return answer(done, "looking for what limits a disk", shell.runner.where)
