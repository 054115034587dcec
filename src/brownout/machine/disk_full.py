"""Filling the file system that holds a node's data, by a file of ours on top of it.

    fallocate -o … -l … /srv/data/brownout-fills-this-disk

Only a file system that holds nothing but the node's data is filled (`own_disk`). Which file it is
stands in `/run/brownout-NODE-PORT.full`, which is written first; by it a later process can remove
it. The node does so by itself after a limit, by a dead man's switch (`deadman`):

    /bin/sh -c … brownout-undo-full n1-27017 full 120
                                    node         limit

Its own files stay as they are. What it removes or cuts meanwhile it has to itself.
"""

from collections.abc import Sequence
from pathlib import Path

from brownout.base.errors import ConfigurationError, HostError, Unsupported
from brownout.inventory.model import Node
from brownout.machine import deadman, own_disk
from brownout.machine.commands import Program, answer, script
from brownout.machine.host import Host, Proof, proof_of

__all__ = ["FILE", "MARK", "SCRIPTS", "check_size", "fill", "left_on", "plan", "undo_on", "why_not"]
__all__ += ["why_not_now"]

MARK = "brownout-undo-full"
#: Takes the space; its name says to a person what it is.
FILE = "brownout-fills-this-disk"
MIB = 1 << 20
#: A tmpfs is filled as well as a disk, though it cannot be frozen.
_FILLABLE = own_disk.WHOLE | {"tmpfs"}
_TOOLS = "awk fallocate find setsid stat truncate"
_PACKAGES = "mawk, util-linux, findutils, coreutils"
#: The longest that a fill may take; what it takes is one or two calls where the kernel can do it.
_FILL_TIMEOUT_S = 30.0

#: Without a single quote, since the switch has it too. Removes what a record names.
_RELEASE = f"""
release() {{
  record=/run/brownout-$1.full
  [ -e "$record" ] || return 0
  read -r device point < "$record"
  if [ "$(stat -c %d -- "$point" 2>/dev/null)" = "$device" ]; then
    rm -f -- "$point/{FILE}" || return 1
  fi
  rm -f "$record"
}}
"""
_FUNCTIONS = f"""
cd /
{deadman.functions(MARK, f'cd /; sleep "$3"{_RELEASE}release "$1"')}
{_RELEASE}
least() {{ [ "$1" -lt "$2" ] && echo "$1" || echo "$2"; }}
free() {{
  set -- $(stat -f -c "%$1 %S" -- "$2")
  echo $(($1 * $2))
}}
show() {{
  record=/run/brownout-$1.full
  [ -e "$record" ] || return 0
  read -r device point < "$record"
  [ "$(stat -c %d -- "$point" 2>/dev/null)" = "$device" ] || return 0
  [ -e "$point/{FILE}" ] || return 0
  echo "file $point/{FILE}"
  echo "bytes $(stat -c %s -- "$point/{FILE}")"
  echo "free $(free a "$point")"
}}
"""
_WHY_NOT = f"""
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
[ -w /run ] || echo "denied yes"
echo "processes $(readlink /proc/self/ns/pid)"
"""
#: Only root may use the blocks that ext4 reserves: where the server is root's, they are taken too,
#: and what is to be left is given back.
#: `$1` node, `$2` bytes to leave, `$3` limit in s, `$4` device, `$5` mount point, `$6` process.
_FILL = f"""{_FUNCTIONS}
name=$1 leave=$2 seconds=$3 device=$4 point=$5 process=$6 file=$5/{FILE}
show "$name" | sed "s/^/was_/"
what=
[ "$(stat -c %u "/proc/$process" 2>/dev/null)" != 0 ] || what=all
record=/run/brownout-$name.full
fail() {{
  echo "$1" >&2
  release "$name"; disarm "$(switches "$name" full)"
}}
[ "$(stat -c %d -- "$point")" = "$device" ] || {{
  echo "$point is another file system by now" >&2; return 1; }}
[ -e "$record" ] || [ ! -e "$file" ] || {{ echo "$file is there already" >&2; return 1; }}
earlier=$(switches "$name" full)
echo "$device $point" > "$record.new" && mv -- "$record.new" "$record" || return 1
arm "$name" full "$seconds" || {{ release "$name"; return 1; }}
disarm "$earlier"
echo "switch $switch"
stamp began
stamp last_no
size=$(free f "$point") had=$(stat -c %s -- "$file" 2>/dev/null || echo 0)
for try in $(seq 400); do
  [ -e "$record" ] || break
  have=$(stat -c %s -- "$file" 2>/dev/null || echo 0)
  [ "$what" = all ] || size=$(least "$size" $(($(free a "$point") - leave)))
  [ "$size" -ge 65536 ] || break
  fallocate -o "$have" -l "$size" -- "$file" 2>/dev/null || size=$((size / 2))
done
[ "$what" != all ] || [ "$have" = "$had" ] || truncate -s "-$leave" -- "$file"
still_armed "$name" full && [ -e "$record" ] || {{
  rm -f -- "$file"; fail "nothing of it is left"; return 1; }}
rest=$(free a "$point")
[ "$rest" -le $((leave + {MIB})) ] || {{ fail "$rest bytes are free still"; return 1; }}
stamp first_yes
stamp ended
show "$name"
"""
#: `$1` node.
_EMPTY = f"""{_FUNCTIONS}
stamp began
stamp last_no
show "$1" | sed "s/^/was_/"
point=
[ ! -e "/run/brownout-$1.full" ] || read -r device point < "/run/brownout-$1.full"
release "$1" || {{ echo "the file could not be removed" >&2; return 1; }}
stamp first_yes
stamp ended
show "$1"
[ -z "$point" ] || echo "freed $(free a "$point")"
disarm "$(switches "$1" full)"
"""
_SHOW = f'{_FUNCTIONS}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-fill": Program(_WHY_NOT),
    "fill": Program(
        _FILL,
        f'{_NODE} && may_numbers "$2" "$3" "$4" && may_ours "$6" && [ "$5" != / ] || return 1; '
        'printf "%s\\n" "$may_directories" | { while IFS= read -r may_line; do '
        'case $(readlink -m -- "$may_line")/ in "$5"/*) exit 0;; esac; done; exit 1; }',
        act="disk_full",
        undone_by="disk_freed",
    ),
    "free": Program(_EMPTY, _NODE, act="disk_freed"),
    "filled": Program(_SHOW, _NODE),
}


def check_size(leave_mb: int) -> None:
    """Raise `ConfigurationError` if no disk can be left with so much."""
    if not 0 <= leave_mb <= 1_000_000:
        raise ConfigurationError(f"leave_mb: found {leave_mb}, wanted 0 to 1000000")


def why_not(node: Node, host: Host) -> str:
    """Return why no disk of this node can be filled; empty if one can. Nothing is touched."""
    runner, it = host.shell().runner, f"node `{node.name}`"
    reply = answer(runner.run(script(_WHY_NOT)), "looking at what fills a disk", runner.where)
    if missing := reply.all("missing"):
        return f"{it}: {', '.join(missing)} not found on {runner.where} (Debian: {_PACKAGES})"
    if reason := own_disk.hidden(node, runner.where, reply):
        return reason
    if reply.get("denied"):
        return f"{it}: the login on {runner.where} may not write to /run (root may)"
    return ""


def why_not_now(
    node: Node, host: Host, data: Sequence[Path], keep: Sequence[Path] = ()
) -> list[str]:
    """Return what is against filling the file system of `data`; `keep` must not lie there."""
    return own_disk.objections(host.shell(), data[:1], keep, _FILLABLE)


def fill(
    node: Node, host: Host, data: Sequence[Path], keep: Sequence[Path], leave_mb: int,
    undo_after_s: float | None = None,
) -> Proof:  # fmt: skip
    """Take what is free on the file system of the first of `data` but for `leave_mb`.

    Proven by what is free then. Raises `Refused` where it holds anything besides; then nothing was
    touched.
    """
    check_size(leave_mb)
    shell = host.shell()
    (disk,) = own_disk.checked(node, shell, data[:1], keep, _FILLABLE)
    limit_s = undo_after_s or shell.undo_after_s
    words = (node.key, leave_mb * MIB, f"{limit_s:g}", disk.device, disk.point)
    pid = shell.process.pid if shell.process else ""
    done = shell.runner.run(script(_FILL, *words, pid), _FILL_TIMEOUT_S)
    reply = answer(done, "filling its disk", shell.runner.where)
    if not reply.get("file"):
        raise HostError(f"node `{node.name}`: what fills its disk is gone already")
    evidence = {
        "state": "full",
        "file": reply.get("file"),
        "file_bytes": reply.number("bytes"),
        "free_bytes": reply.number("free"),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, reply.get("was_bytes") == reply.get("bytes"))


def undo_on(node: Node, host: Host) -> Proof:
    """Remove the file; safe to repeat."""
    runner = host.shell().runner
    done = runner.run(script(_EMPTY, node.key))
    reply = answer(done, "freeing its disk", runner.where)
    evidence = {"state": "not full", "free_bytes": reply.number("freed")}
    return proof_of(done, reply, evidence, not reply.get("was_file"))


def left_on(node: Node, host: Host) -> str:
    """Return which file fills its disk, as `/data/… takes 1024 MiB`; empty for none."""
    try:
        runner = host.shell().runner
    except Unsupported:
        return ""
    done = runner.run(script(_SHOW, node.key))
    reply = answer(done, "looking at its disk", runner.where)
    size = (reply.number("bytes") or 0) // MIB
    return f"{reply.get('file')} takes {size} MiB" if reply.get("file") else ""


def plan(node: Node, host: Host, data: Sequence[Path], keep: Sequence[Path], leave_mb: int) -> str:
    """Return for a plan which file grows; `Refused` where none would."""
    check_size(leave_mb)
    shell = host.shell()
    (disk,) = own_disk.checked(node, shell, data[:1], keep, _FILLABLE)
    return f"{shell.runner.where}: fallocate {disk.point / FILE} until {leave_mb} MiB are free"
