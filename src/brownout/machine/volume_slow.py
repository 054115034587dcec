"""A node whose volume is slow: the device mapper delays each read and write of it.

A volume, of LVM or any other whose table has only `linear` segments, gets the same segments with
the kernel's `delay` target, and its own table again:

    0 209715200 linear 8:16 2048
    0 209715200 delay 8:16 2048 50 8:16 2048 200      ms of a read, and of a write or flush

All that uses the volume is slowed, so its file system must hold nothing but the node's data
(`own_disk`) and nothing else may have the volume open. A table is loaded beside the live one and
swapped by one `dmsetup resume`, in which the kernel suspends the volume, and resumes it even where
dmsetup is killed. Both tables stand in `/run/brownout-NODE-PORT.volume` first, by which a later
process gives the volume its own back, and resumes it. The node does so by itself by a dead man's
switch (`deadman`). Where others have given it a third table meanwhile, that is left alone.

Sources: Linux, Documentation/admin-guide/device-mapper/delay.rst and drivers/md/dm-ioctl.c
(`do_resume`); dmsetup(8).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import ConfigurationError, Denied, HostError, Refused
from brownout.inventory.model import Node
from brownout.machine import deadman, own_disk
from brownout.machine.commands import Answer, Program, answer, script
from brownout.machine.host import Host, Proof, Shell, proof_of
from brownout.machine.own_disk import FileSystem

__all__ = ["BLOCKS", "DELAYED", "MARK", "SCRIPTS", "Volume", "check_size", "in_words", "left_on"]
__all__ += ["plan", "slow", "undo_on", "volumes", "why_not", "why_not_now"]

#: A process may wait for this and cannot be ended meanwhile; see `leftovers.release`.
BLOCKS = True
MARK = "brownout-undo-volume"
_TOOLS = "awk dd dmsetup find flock setsid stat sync touch"
_PACKAGES = "dmsetup, mawk, findutils, util-linux, coreutils"
_MAX_MS = 10_000
#: A swap waits for what is on its way to the disk, and an fsync for several delays in turn.
_TIMEOUT_S = 300.0
#: The kernel counts a delay in ticks of its clock, the first of which may be all but over.
_TICK_MS = 10

#: Without a single quote, since the switch has it too. Who swaps tables holds a lock, so that a
#: script whose record was undone meanwhile, because its run died, changes nothing any more.
_RELEASE = """
at() { echo "--major ${1%:*} --minor ${1#*:}"; }
live() { dmsetup table $(at "$1") 2>/dev/null; }
loaded() { dmsetup table --inactive $(at "$1") 2>/dev/null; }
told() { echo "$words" | sed -n "s/^$1 $2 //p"; }
slowed() { echo "$words" | sed -n "s/ ahead .*//p"; }
swap() { dmsetup resume --noudevsync --nolockfs $(at "$1"); }
read_ahead() { told "$1" ahead > "/sys/dev/block/$1/queue/read_ahead_kb"; }
give_back() {
  was=$(told "$1" was) is=$(told "$1" is)
  [ "$(loaded "$1")" != "$is" ] || dmsetup clear $(at "$1")
  case $(live "$1") in
  "$is") echo "$was" | dmsetup load $(at "$1") || return 1;;
  "$was") [ -z "$(loaded "$1")" ] || return 0;;
  *) return 0;;
  esac
  swap "$1" && [ "$(live "$1")" = "$was" ] && read_ahead "$1"
}
release() {
  record=/run/brownout-$1.volume
  rm -f -- "$record.new"
  [ -e "$record" ] || return 0
  (
    flock 9
    words=$(cat -- "$record" 2>/dev/null) || exit 0
    failed=
    for volume in $(slowed); do give_back "$volume" || failed=yes; done
    [ -z "$failed" ] && rm -f -- "$record"
  ) 9< /run
}
"""
_FUNCTIONS = (
    f"""\
cd /
{deadman.functions(MARK, f'cd /; sleep "$3"{_RELEASE}until release "$1"; do sleep 1; done')}
{_RELEASE}
"""
    + r"""
number() { echo "$(($1 >> 8 & 4095)):$(($1 & 255 | $1 >> 12 & 1048320))"; }
show() {
  # Read at once: its own switch may undo it, and remove the record, at any moment.
  words=$(cat -- "/run/brownout-$1.volume" 2>/dev/null) || return 0
  for volume in $(slowed); do
    is=$(told "$volume" is) state=over
    [ "$(live "$volume")" != "$is" ] || state=slowed
    [ "$(cat "/sys/dev/block/$volume/dm/suspended" 2>/dev/null)" != 1 ] || state=suspended
    figures=$(echo "$is" | { read -r start size target device from reads device from writes
      echo "$reads $writes"; })
    echo "$state $volume $figures $(cat "/sys/dev/block/$volume/dm/name" 2>/dev/null)"
  done
}
"""
)
#: `delayed READ WRITE` reads a table and prints that with these delays in ms. It fails where a
#: segment is anything but linear.
DELAYED = """
delayed() {
  awk -v reads="$1" -v writes="$2" '
    NF != 5 || $3 != "linear" { other = 1 }
    { print $1, $2, "delay", $4, $5, reads, $4, $5, writes }
    END { exit !NR || other }'
}
"""
_WHY_NOT = f"""
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
{own_disk.ABLE}
if ! targets=$(dmsetup targets 2>/dev/null); then echo "kernel device mapper"
elif ! echo "$targets" | grep -q "^delay " && ! modprobe -nq dm-delay 2>/dev/null; then
  echo "kernel delay target of the device mapper (dm-delay)"
fi
"""
#: `$1` node, further: device number and mount point of each file system, in turn.
_LOOK = f"""{_FUNCTIONS}
words=$(cat -- "/run/brownout-$1.volume" 2>/dev/null)
shift
while [ $# -gt 1 ]; do
  volume=$(number "$1") at=/sys/dev/block/$(number "$1")
  if [ -e "$at/dm/name" ]; then
    table=$(live "$volume")
    [ "$table" != "$(told "$volume" is)" ] || table=$(told "$volume" was)
    echo "volume $volume $(cat "$at/dm/name")"
    echo "$table" | sed "s/^/segment $volume /"
    for holder in "$at/holders/"*; do
      [ ! -e "$holder" ] || echo "holder $volume ${{holder##*/}}"
    done
    echo "state $volume $(dmsetup info -c --noheadings --separator " " \\
      -o open,suspended,tables_loaded,readonly $(at "$volume"))"
  else
    echo "other $volume $2"
  fi
  shift 2
done
"""
#: `$1` node, `$2` limit in s, `$3` ms of a read, `$4` of a write, further: device number and mount
#: point of each file system, in turn. The switch is armed and the tables are on record first.
_SLOW = f"""{_FUNCTIONS}{own_disk.STILL_OWN}{DELAYED}
name=$1 seconds=$2 reads=$3 writes=$4 record=/run/brownout-$1.volume; shift 4
show "$name" | sed "s/^/was_/"
are_their_own "$@" || return 1
release "$name" || {{ echo "an earlier delay could not be undone" >&2; return 1; }}
fail() {{
  echo "$1" >&2
  release "$name"; disarm "$(switches "$name" volume)"
}}
text=
for word; do
  case $word in /*) continue;; esac
  volume=$(number "$word")
  was=$(live "$volume") && is=$(echo "$was" | delayed "$reads" "$writes") ||
    {{ echo "the table of $volume is not linear" >&2; return 1; }}
  text="$text$(echo "$was" | sed "s/^/$volume was /")
$(echo "$is" | sed "s/^/$volume is /")
$volume ahead $(cat "/sys/dev/block/$volume/queue/read_ahead_kb")
"
done
earlier=$(switches "$name" volume)
arm "$name" volume "$seconds" || return 1
disarm "$earlier"
echo "switch $switch"
stamp began
printf %s "$text" > "$record.new" && mv -- "$record.new" "$record" ||
  {{ fail "its table could not be recorded"; return 1; }}
stamp last_no
(
  flock -w 120 9 || {{ echo "another undo does not end" >&2; exit 1; }}
  words=$(cat -- "$record" 2>/dev/null)
  [ -n "$words" ] && kill -0 "$switch" || {{ echo "it was undone meanwhile" >&2; exit 1; }}
  for volume in $(slowed); do
    told "$volume" is | dmsetup load $(at "$volume") && swap "$volume" && read_ahead "$volume" ||
      exit 1
  done
) 9< /run || {{ fail "the volume did not get its table"; return 1; }}
stamp first_yes
since() {{ echo $((($(date +%s%N) - $1) / 1000000)); }}
while [ $# -gt 1 ]; do
  volume=$(number "$1") began=$(date +%s%N)
  device=/dev/$(sed -n "s/^DEVNAME=//p" "/sys/dev/block/$volume/uevent")
  dd if="$device" of=/dev/null bs=4096 count=1 iflag=direct 2>/dev/null ||
    {{ fail "$device could not be read"; return 1; }}
  echo "read_took $(since "$began")"
  began=$(date +%s%N)
  touch -a -c -- "$2" && sync -- "$2" || {{ fail "$2 could not be flushed"; return 1; }}
  echo "flush_took $(since "$began")"
  shift 2
done
stamp ended
show "$name"
"""
#: `$1` node.
_UNSLOW = f"""{_FUNCTIONS}
stamp began
stamp last_no
show "$1" | sed "s/^/was_/"
volumes=$(words=$(cat -- "/run/brownout-$1.volume" 2>/dev/null) && slowed)
# Again without its switch, for a script that was slowing it meanwhile.
release "$1" && disarm "$(switches "$1" volume)" && release "$1" ||
  {{ echo "the volume could not be given its own table" >&2; return 1; }}
stamp first_yes
stamp ended
show "$1"
for volume in $volumes; do live "$volume" | sed "s/^/segment $volume /"; done
"""
_SHOW = f'{_FUNCTIONS}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-slow-volume": Program(_WHY_NOT),
    "volumes": Program(_LOOK, f"{_NODE} || return 1; shift; {own_disk.MAY_PAIRS}"),
    "slow-volume": Program(
        _SLOW,
        f'{_NODE} && may_numbers "$2" "$3" "$4" || return 1; shift 4; {own_disk.MAY_PAIRS}',
        act="volume_slow",
        undone_by="volume_fast",
    ),
    "unslow-volume": Program(_UNSLOW, _NODE, act="volume_fast"),
    "volume-slowed": Program(_SHOW, _NODE),
}


@dataclass(frozen=True, slots=True)
class Volume:
    """A device-mapper volume: its own table, what lies on it, and how the device mapper has it.

    `number` is as `253:0`. `state` has how often it is open, and whether it is suspended, has
    another table loaded and may be written to, as `1 Active Live Writeable`.
    """

    number: str
    name: str
    table: tuple[str, ...]
    holders: tuple[str, ...]
    state: str

    def __str__(self) -> str:
        return f"{self.name} ({self.number})"

    def objections(self) -> Iterator[str]:
        """Yield every reason why its table must be left alone. Pure."""
        targets = dict.fromkeys(" ".join(segment.split(" ")[2:3]) for segment in self.table)
        if others := [target for target in targets if target != "linear"]:
            yield (
                f"volume {self} has a segment of type {', '.join(others) or 'none'}, wanted only "
                "linear ones; slow_disk slows the calls of the node instead"
            )
        if self.holders:
            yield f"volume {self} has other devices on it: {', '.join(self.holders)}"
        opened, _, state = self.state.partition(" ")
        if opened != "1":
            yield (
                f"volume {self} is open {opened} times, wanted 1, by the mount of its file system"
            )
        if state != "Active Live Writeable":
            yield (
                f"volume {self} is {state or 'unknown to dmsetup'}, wanted Active Live Writeable: "
                "another program may be changing it"
            )


def check_size(read_ms: float, write_ms: float) -> None:
    """Raise `ConfigurationError` if the kernel cannot delay so."""
    for name, value in (("read_ms", read_ms), ("write_ms", write_ms)):
        if not 0 <= value <= _MAX_MS or value != int(value):
            raise ConfigurationError(
                f"{name}: found {value:g}, wanted a whole number from 0 to {_MAX_MS}"
            )


def volumes(reply: Answer) -> list[Volume]:
    """Return the volumes that a script found. Pure."""
    named = [line.partition(" ") for line in reply.all("volume")]
    return [
        Volume(
            number,
            name,
            tuple(_of(number, reply.all("segment"))),
            tuple(_of(number, reply.all("holder"))),
            " ".join(_of(number, reply.all("state"))),
        )
        for number, _, name in named
    ]


def in_words(read_ms: float, write_ms: float) -> str:
    """Return a delay in words, as `50 ms for each read and 200 ms for each write and flush`."""
    return f"{read_ms:g} ms for each read and {write_ms:g} ms for each write and flush"


def why_not(node: Node, host: Host) -> str:
    """Return why no volume of this node can be slowed; empty if one can. Nothing is touched."""
    runner = host.shell().runner
    done = runner.run(script(_WHY_NOT))
    reply = answer(done, "looking at what slows a volume", runner.where)
    if reason := own_disk.unable(node, runner.where, reply, "change a volume", _PACKAGES):
        return reason
    if part := reply.get("kernel"):
        return f"node `{node.name}`: the kernel of {runner.where} has no {part}"
    return ""


def why_not_now(
    node: Node, host: Host, data: Sequence[Path], keep: Sequence[Path] = ()
) -> list[str]:
    """Return what is against slowing the volumes of `data`; `keep` must not lie there."""
    shell = host.shell()
    try:
        _checked(node, shell, data, keep)
    except (Denied, Refused) as error:
        return [error.message]
    return []


def slow(
    node: Node,
    host: Host,
    data: Sequence[Path],
    read_ms: float,
    write_ms: float,
    keep: Sequence[Path] = (),
    undo_after_s: float | None = None,
) -> Proof:
    """Delay each read and write of the volumes that hold `data`; 0 is the control.

    Proven by the live table, and by a read and a flush of ours that take so long. Raises `Refused`
    where they hold anything besides, or cannot be slowed; then nothing was touched.
    """
    check_size(read_ms, write_ms)
    shell = host.shell()
    disks, there = _checked(node, shell, data, keep)
    limit_s = undo_after_s or shell.undo_after_s
    words = (node.key, f"{limit_s:g}", int(read_ms), int(write_ms), *_pairs(disks))
    done = shell.runner.run(script(_SLOW, *words), _TIMEOUT_S)
    reply = answer(done, "slowing its volume", shell.runner.where)
    slowed = reply.all("slowed")
    if len(slowed) != len(there):
        raise HostError(f"node `{node.name}`: found {_in_force(reply) or 'no delay'}")
    read_took, flush_took = (
        [int(each) for each in reply.all(name)] for name in ("read_took", "flush_took")
    )
    if min(read_took) < read_ms - _TICK_MS or min(flush_took) < write_ms - _TICK_MS:
        raise HostError(
            f"node `{node.name}`: a read took {min(read_took)} ms and a flush {min(flush_took)} "
            f"ms, wanted {in_words(read_ms, write_ms)}"
        )
    evidence = {
        "state": "slowed",
        "by": "dm-delay",
        "volumes": [str(each) for each in there],
        "file_systems": [str(each) for each in disks],
        "read_ms": read_ms,
        "write_ms": write_ms,
        "read_took_ms": read_took,
        "flush_took_ms": flush_took,
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, reply.all("was_slowed") == slowed)


def undo_on(node: Node, host: Host) -> Proof:
    """Give each volume its own table again; proven by the live one. Safe to repeat."""
    runner = host.shell().runner
    done = runner.run(script(_UNSLOW, node.key), _TIMEOUT_S)
    reply = answer(done, "giving its volume its own table", runner.where)
    evidence = {"state": "not slowed", "tables": reply.all("segment")}
    return proof_of(done, reply, evidence, not any(reply.all(f"was_{each}") for each in _STATES))


def left_on(node: Node, host: Host) -> str:
    """Return how slow its volumes are in words; empty for nothing of ours."""
    runner = host.shell().runner
    done = runner.run(script(_SHOW, node.key))
    return _in_force(answer(done, "looking at its volume", runner.where))


def plan(
    node: Node,
    host: Host,
    data: Sequence[Path],
    read_ms: float,
    write_ms: float,
    keep: Sequence[Path] = (),
) -> str:
    """Return for a plan which volumes are slowed; `Refused` where it would be."""
    check_size(read_ms, write_ms)
    shell = host.shell()
    names = ", ".join(map(str, _checked(node, shell, data, keep)[1]))
    return f"{shell.runner.where}: dm-delay of {names}: {in_words(read_ms, write_ms)}"


_STATES = ("slowed", "suspended", "over")


def _checked(
    node: Node, shell: Shell, data: Sequence[Path], keep: Sequence[Path]
) -> tuple[list[FileSystem], list[Volume]]:
    disks = own_disk.checked(node, shell, data, keep)
    there, reasons = _look(node, shell, disks)
    if reasons:
        raise Refused(f"the volume of node `{node.name}` is left alone: {'; '.join(reasons)}")
    return disks, there


def _look(node: Node, shell: Shell, disks: Sequence[FileSystem]) -> tuple[list[Volume], list[str]]:
    """Return the volumes under these file systems, and what is against slowing them."""
    done = shell.runner.run(script(_LOOK, node.key, *_pairs(disks)))
    reply = answer(done, "looking at its volume", shell.runner.where)
    reasons = [
        f"`{point}` lies on device {number}, which is not a volume of the device mapper; slow_disk "
        "slows the calls of the node instead"
        for number, _, point in (line.partition(" ") for line in reply.all("other"))
    ]
    there = volumes(reply)
    return there, reasons + [reason for each in there for reason in each.objections()]


def _pairs(disks: Sequence[FileSystem]) -> list[str]:
    return [word for each in disks for word in (str(each.device), str(each.point))]


def _of(number: str, lines: Sequence[str]) -> Iterator[str]:
    return (line.partition(" ")[2] for line in lines if line.partition(" ")[0] == number)


def _in_force(reply: Answer) -> str:
    words = []
    for state in _STATES:
        for line in reply.all(state):
            number, reads, writes, name = line.split(" ", 3)
            what = {
                "slowed": in_words(float(reads), float(writes)),
                "suspended": "it is suspended",
                "over": "on record, and not slowed",
            }[state]
            words.append(f"volume {name} ({number}): {what}")
    return "; ".join(words)
