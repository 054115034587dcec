"""Stalling the disk of a node: the file systems that hold its data are frozen, and thawed again.

    fsfreeze -f /srv/data           every write there waits, and so does fsync; reads continue
    fsfreeze -u /srv/data

A process that waits for a frozen file system cannot be ended, not even by SIGKILL, before it is
thawed. So only file systems that hold nothing but the node's data are frozen, `thaw` comes before
everything else that is done to a node (`leftovers.release`), and nothing that a thaw needs lies
there: what is frozen stands in `/run/brownout-NODE-PORT.stall`, written first, by which a later
process can thaw it. The node does so by itself by a dead man's switch (`deadman`).

The proof is a process of ours that changes a time stamp there and does not come back:

    touch -a -c -- /srv/data     in state D; its id and start are in `/run/brownout-….probes`

It leaves nothing on the disk, and ends by itself with the thaw, however that comes about. So it
also shows for how long the disk was stalled.

Sources: fsfreeze(8); Linux, Documentation/filesystems/locking.rst (`freeze_fs`) and fs/super.c.
"""

from collections.abc import Sequence
from pathlib import Path

from brownout.base.errors import HostError
from brownout.inventory.model import Node
from brownout.machine import deadman, own_disk
from brownout.machine.commands import Answer, Program, Runner, answer, script
from brownout.machine.host import Host, Proof, proof_of

__all__ = ["BLOCKS", "MARK", "SCRIPTS", "left_on", "plan"]
__all__ += ["stall", "undo_on", "why_not", "why_not_now"]

#: A process may wait for this and cannot be ended meanwhile; see `leftovers.release`.
BLOCKS = True
MARK = "brownout-undo-stall"
_TOOLS = "awk find fsfreeze setsid stat touch"
_PACKAGES = "mawk, findutils, util-linux, coreutils"
#: To freeze writes all that waits first, which takes as long as the disk does.
_FREEZE_TIMEOUT_S = 120.0

#: Without a single quote, since the switch has it too. Thaws what a record names, waits for what
#: still freezes it, and for the probes, which come back with the thaw. It reads no command line but
#: that of `fsfreeze`: to read one needs the memory map of a process, which may be held by a write.
_RELEASE = """
waits() {
  { IFS= read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) }; set -- "$2" $stat
  [ "$2" = D ] && [ "${21}" = "$1" ]
}
freezing() {
  for line in $(grep -lsx fsfreeze /proc/[0-9]*/comm); do
    [ "$(tr "\\0" " " 2>/dev/null < "${line%comm}cmdline")" = "fsfreeze -f -- $1 " ] && return 0
  done
  return 1
}
waiting() {
  while read -r probe start point; do
    waits "$probe" "$start" && echo "$point"
  done 2>/dev/null < "/run/brownout-$1.probes"
}
release() {
  record=/run/brownout-$1.stall
  [ -e "$record" ] || return 0
  while read -r device point; do
    while freezing "$point"; do sleep 0.1; done
    [ "$(stat -c %d -- "$point" 2>/dev/null)" = "$device" ] || continue
    fsfreeze -u -- "$point" 2>/dev/null
  done < "$record"
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -n "$(waiting "$1")" ] || break
    sleep 0.05
  done
  [ -z "$(waiting "$1")" ] || return 1
  rm -f "$record" "/run/brownout-$1.probes"
}
"""
_FUNCTIONS = (
    f"""\
cd /
{deadman.functions(MARK, f'cd /; sleep "$3"{_RELEASE}release "$1"')}
{_RELEASE}
"""
    + r"""
probe() {
  setsid touch -a -c -- "$2" </dev/null >/dev/null 2>&1 &
  probe=$!
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    { IFS= read -r stat < "/proc/$probe/stat"; } 2>/dev/null || return 0
    case $stat in *") D "*) break;; esac
    sleep 0.05
  done
  stat=${stat##*) }; set -- "$1" "$2" $stat
  echo "$probe ${22} $2" >> "/run/brownout-$1.probes"
}
show() {
  # Read at once: its own switch may thaw it, and remove the record, at any moment.
  record=$(cat -- "/run/brownout-$1.stall" 2>/dev/null) || return 0
  waiting=$(waiting "$1")
  echo "$record" | while read -r device point; do
    state=over
    echo "$waiting" | grep -qxF -- "$point" && state=stalled
    echo "$state $point"
  done
}
"""
)
_WHY_NOT = f"""
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
{own_disk.ABLE}"""
#: `$1` node, `$2` limit in s, further: device number and mount point of each file system, in turn.
#: The switch is armed and each file system is on record before it is frozen.
_STALL = f"""{_FUNCTIONS}{own_disk.STILL_OWN}
name=$1 seconds=$2 record=/run/brownout-$1.stall; shift 2
show "$name" | sed "s/^/was_/"
[ -z "$(show "$name" | grep "^over ")" ] || release "$name" || return 1
fail() {{
  echo "$1" >&2
  release "$name"; disarm "$(switches "$name" stall)"
}}
are_their_own "$@" || return 1
earlier=$(switches "$name" stall)
arm "$name" stall "$seconds" || {{ release "$name"; return 1; }}
disarm "$earlier"
echo "switch $switch"
stamp began
last_no=
while [ $# -gt 0 ]; do
  if ! grep -sqxF -- "$1 $2" "$record"; then
    cp -- "$record" "$record.new" 2>/dev/null || : > "$record.new" || return 1
    echo "$1 $2" >> "$record.new" && mv -- "$record" "$record.old" 2>/dev/null
    mv -- "$record.new" "$record" || return 1
    [ -n "$last_no" ] || {{ stamp last_no; last_no=yes; }}
    if ! reason=$(fsfreeze -f -- "$2" 2>&1); then
      mv -- "$record.old" "$record" 2>/dev/null || rm -f -- "$record"
      fail "$reason"; return 1
    fi
    rm -f -- "$record.old"
    if ! grep -sqxF -- "$1 $2" "$record"; then
      fsfreeze -u -- "$2"
      fail "it was thawed by its own switch before all was written out"; return 1
    fi
    probe "$name" "$2"
  fi
  shift 2
done
stamp first_yes
stamp ended
show "$name"
"""
#: `$1` node.
_THAW = f"""{_FUNCTIONS}
stamp began
stamp last_no
show "$1" | sed "s/^/was_/"
release "$1" || {{ echo "the file system could not be thawed" >&2; return 1; }}
stamp first_yes
stamp ended
show "$1"
disarm "$(switches "$1" stall)"
"""
_SHOW = f'{_FUNCTIONS}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-stall": Program(_WHY_NOT),
    "stall-facts": Program(own_disk.FACTS, 'may_ours "$1"'),
    "stall": Program(
        _STALL,
        f'{_NODE} && may_numbers "$2" || return 1; shift 2; {own_disk.MAY_PAIRS}',
        act="disk_stall",
        undone_by="disk_thaw",
    ),
    "thaw": Program(_THAW, _NODE, act="disk_thaw"),
    "stalled": Program(_SHOW, _NODE),
}


def why_not(node: Node, host: Host) -> str:
    """Return why no disk of this node can be stalled; empty if one can. Nothing is touched."""
    shell = host.shell()
    runner = shell.runner
    reply = answer(runner.run(script(_WHY_NOT)), "looking at what freezes a disk", runner.where)
    return own_disk.unable(node, runner.where, reply, "freeze a file system", _PACKAGES)


def why_not_now(
    node: Node, host: Host, data: Sequence[Path], keep: Sequence[Path] = ()
) -> list[str]:
    """Return what is against freezing the file systems of `data`; `keep` must not lie there."""
    return own_disk.objections(host.shell(), data, keep)


def stall(
    node: Node,
    host: Host,
    data: Sequence[Path],
    keep: Sequence[Path] = (),
    undo_after_s: float | None = None,
) -> Proof:
    """Freeze the file systems that hold `data`; proven by a write that does not come back.

    Raises `Refused` where one holds anything besides; then nothing was touched.
    """
    shell = host.shell()
    frozen = own_disk.checked(node, shell, data, keep)
    limit_s = undo_after_s or shell.undo_after_s
    pairs = [word for each in frozen for word in (str(each.device), str(each.point))]
    done = shell.runner.run(
        script(_STALL, node.key, f"{limit_s:g}", *pairs), timeout_s=_FREEZE_TIMEOUT_S
    )
    reply = answer(done, "stalling its disk", shell.runner.where)
    if over := reply.all("over"):
        raise HostError(f"node `{node.name}`: a write to {', '.join(over)} came back, wanted none")
    evidence = {
        "state": "stalled",
        "by": "fsfreeze",
        "file_systems": [str(each) for each in frozen],
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    already = set(reply.all("was_stalled")) == {str(each.point) for each in frozen}
    return proof_of(done, reply, evidence, already)


def undo_on(node: Node, host: Host) -> Proof:
    """Thaw what is frozen; proven when the writes that waited are through. Safe to repeat."""
    runner = host.shell().runner
    done = runner.run(script(_THAW, node.key), timeout_s=_FREEZE_TIMEOUT_S)
    reply = answer(done, "thawing its disk", runner.where)
    thawed = reply.all("was_stalled")
    return proof_of(done, reply, {"state": "not stalled", "thawed": thawed}, not thawed)


def left_on(node: Node, host: Host) -> str:
    """Return what is stalled in words, as `writes to /data wait`; empty for nothing of ours."""
    runner = host.shell().runner
    reply = _shown(runner, node)
    words = [f"writes to {point} wait" for point in reply.all("stalled")]
    words += [f"{point} was thawed by others" for point in reply.all("over")]
    return ", ".join(words)


def plan(node: Node, host: Host, data: Sequence[Path] | None, keep: Sequence[Path] = ()) -> str:
    """Return for a plan what is frozen, or thawed for None; `Refused` where it would be."""
    shell = host.shell()
    if data is None:
        return f"{shell.runner.where}: fsfreeze -u what is frozen"
    frozen = own_disk.checked(node, shell, data, keep)
    return f"{shell.runner.where}: fsfreeze -f {', '.join(map(str, frozen))}"


def _shown(runner: Runner, node: Node) -> Answer:
    return answer(runner.run(script(_SHOW, node.key)), "looking at its disk", runner.where)
