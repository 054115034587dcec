r"""The clock of a lab's own server, which libfaketime sets by a file; the machine's stays as it is.

    LD_PRELOAD=…/libfaketimeMT.so.1 FAKETIME_TIMESTAMP_FILE=<lab>/n1/clock … server …

The file holds how many seconds the server's clock is ahead, as `+60`; libfaketime reads it once a
second. Faked is the time of day. The monotonic clock, by which a server waits, and the times of
files stay true. The clock of a machine belongs to all that runs on it, so it is never set.

Beside the file stands what was asked for, `clock.skew`, as long as the clock is wrong. The node
sets it right by itself after a limit, by a dead man's switch (`deadman`), which also moves a clock
that drifts, once a second:

    /bin/sh -c … brownout-undo-clock n1-27017 clock 120
                                     node     file  limit

A program is loaded with a library only if it is dynamically linked (PT_INTERP), and one in Go does
not ask the C library for the time: both are refused, by what stands in the program.

Sources: libfaketime 0.9.10, README; elf(5); the source of Go, cmd/link/internal/ld/elf.go.
"""

import shutil
import struct
from pathlib import Path
from typing import Any

from brownout.base import usual
from brownout.base.errors import ConfigurationError, Denied, HostError, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import deadman
from brownout.machine.commands import Answer, answer, script
from brownout.machine.host import Host, Proof, Shell, proof_of

__all__ = ["MARK", "NAME", "READ_S", "SCRIPTS", "check_size", "enter", "in_words", "left_on"]
__all__ += ["plan", "skew", "undo_on", "unlink_shared", "unsettable", "why_not", "why_not_here"]
__all__ += ["why_not_now"]

MARK = "brownout-undo-clock"
#: What a lab calls the file in a node's directory.
NAME = "clock"
#: So long libfaketime takes at most to read its file again.
READ_S = 2.0
#: Ten years either way; more tells nothing more.
_MOST_S = 315_360_000.0
_MOST_PPM = 1_000_000.0
#: Debian's, Fedora's, and that of `make install`.
_LIBRARIES = (
    *sorted(Path("/usr/lib").glob("*-linux-gnu*/faketime/libfaketimeMT.so.1")),
    Path("/usr/lib64/faketime/libfaketimeMT.so.1"),
    Path("/usr/lib/faketime/libfaketimeMT.so.1"),
    Path("/usr/local/lib/faketime/libfaketimeMT.so.1"),
)
_SHARED = Path("/dev/shm")
_PT_INTERP, _PT_NOTE = 3, 4

#: Without a single quote, since the switch has it too.
_RIGHT = r"""
put() { echo "$2" > "$1.new" && mv -- "$1.new" "$1"; }
right() { put "$1" +0 && rm -f -- "$1.skew"; }
"""
_WAIT = r"""
read -r offset drift < "$2.skew"
if [ "$drift" = 0 ]; then
  sleep "$3"
else
  read -r begin rest < /proc/uptime
  while awk -v o="$offset" -v d="$drift" -v b="$begin" -v s="$3" \
    "{ if (\$1 - b >= s) exit 1; printf \"%+.6f\\n\", o + d * (\$1 - b) / 1000000 }" \
    /proc/uptime > "$2.drift" && mv -- "$2.drift" "$2"
  do sleep 1; done
  rm -f -- "$2.drift"
fi
"""
_FUNCTIONS = f"""
{deadman.functions(MARK, f'{_RIGHT}{_WAIT}right "$2"')}
{_RIGHT}
under() {{
  grep -qs libfaketime "/proc/$1/maps" || return 1
  tr '\\0' '\\n' < "/proc/$1/environ" | grep -qxF -- "FAKETIME_TIMESTAMP_FILE=$2"
}}
show() {{
  [ ! -e "$1" ] || echo "ahead $(head -n 1 -- "$1")"
  [ ! -e "$1.skew" ] || echo "asked $(cat -- "$1.skew")"
}}
"""
#: `$1` directory, `$2` file in it, `$3` process.
_UNDER = f"""{_FUNCTIONS}
under "$3" "$1/$2" && echo "under yes"
return 0
"""
#: `$1` directory, `$2` file in it, `$3` node, `$4` limit in s, `$5` s, `$6` ppm, `$7` process.
_SKEW = f"""{_FUNCTIONS}
cd -- "$1" || return 1
under "$7" "$1/$2" || {{ echo "state bare"; return 0; }}
show "$2" | sed "s/^/was_/"
earlier=$(switches "$3" "$2")
disarm "$earlier"
put "$2.skew" "$5 $6" || return 1
arm "$3" "$2" "$4" || {{ right "$2"; return 1; }}
echo "switch $switch"
stamp began
stamp last_no
put "$2" "$5" || return 1
stamp first_yes
stamp ended
show "$2"
"""
#: `$1` directory, `$2` file in it, `$3` node. A switch that drifts may write once more.
_UNDO = f"""{_FUNCTIONS}
cd -- "$1" || return 1
stamp began
stamp last_no
show "$2" | sed "s/^/was_/"
put "$2" +0 || return 1
disarm "$(switches "$3" "$2")"
right "$2" || return 1
stamp first_yes
stamp ended
show "$2"
"""
#: `$1` directory, `$2` file in it.
_SHOW = f"""{_FUNCTIONS}
[ ! -d "$1" ] || {{ cd -- "$1" && show "$2"; }}
"""
#: None: what only a lab on this machine has is done through no login.
SCRIPTS: dict[str, Any] = {}


def why_not_here() -> str:
    """Return why no server on this machine can have a clock of its own; empty if one can."""
    return "" if _library() else "libfaketime was not found (Debian: libfaketime)"


def enter(file: Path | None) -> tuple[str, ...]:
    """Return what goes before a command, so that `file` sets its clock; nothing without one.

    The C library stands before others, so that a server's own allocator is not used: jemalloc asks
    for the time while libfaketime begins, which then waits for itself. libfaketime's fix for the
    monotonic clock, which it may turn on by itself, is turned off: with it a server's waits take so
    long that it does a hundredth of the work.
    """
    if file is None:
        return ()
    library = _library()
    if library is None:
        raise HostError(f"a server with a clock of its own is not started: {why_not_here()}")
    return (
        "env",
        f"LD_PRELOAD={library} libc.so.6",
        f"FAKETIME_TIMESTAMP_FILE={file}",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        "FAKETIME_FORCE_MONOTONIC_FIX=0",
        "FAKETIME_CACHE_DURATION=0",
        "NO_FAKE_STAT=1",
    )


def unlink_shared(pid: int) -> None:
    """Remove the names of what libfaketime shares with children; else a kill leaves them behind.

    The process itself has it open. A server that executes itself anew makes it again.
    """
    for name in (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}"):
        (_SHARED / name).unlink(missing_ok=True)


def check_size(offset_s: float, drift_ppm: float) -> None:
    """Raise `ConfigurationError` if no clock can be that wrong."""
    if not abs(offset_s) <= _MOST_S:
        raise ConfigurationError(
            f"offset_s: found {offset_s:g}, wanted -{_MOST_S:.0f} to {_MOST_S:.0f}"
        )
    if not abs(drift_ppm) <= _MOST_PPM:
        raise ConfigurationError(
            f"drift_ppm: found {drift_ppm:g}, wanted -{_MOST_PPM:.0f} to {_MOST_PPM:.0f}"
        )


def why_not(node: Node, host: Host) -> str:
    """Return why the clock of this node cannot be set; empty if it can. Nothing is touched."""
    it, shared = f"node `{node.name}`", "the clock of a machine belongs to all that runs on it"
    if not isinstance(node.host, ProcessSpec):
        return (
            f"{it}: {shared}, so brownout sets only that of a lab's own server "
            f"(`lab.own_clocks`), as those of {usual.CLOCKS} have"
        )
    pid = host.running().pid
    program = Path(f"/proc/{pid}/exe") if pid else shutil.which(node.host.command[0])
    if program and (reason := unsettable(Path(program))):
        return f"{it}: {reason}"
    if node.host.clock_file is None:
        return (
            f"{it} has no clock of its own (`host.clock_file`), as the nodes of {usual.CLOCKS} "
            f"have, and {shared}"
        )
    return f"{it}: {reason}" if (reason := why_not_here()) else ""


def unsettable(program: Path) -> str:
    """Return why no library can set the clock of `program`; empty if one can.

    What is not an ELF file, as a script, says nothing about the process that it becomes.
    """
    try:
        types, notes = _headers(program.read_bytes()[: 1 << 20])
    except (OSError, struct.error):
        return ""
    name = program.resolve().name
    if "Go" in notes:
        return f"its program `{name}` is written in Go, which asks the kernel itself for the time"
    if types and _PT_INTERP not in types:
        return f"its program `{name}` is statically linked (no PT_INTERP): libfaketime cannot load"
    return ""


def why_not_now(node: Node, host: Host) -> list[str]:
    """Return why it cannot be set now: the process must read the file by libfaketime."""
    shell = host.shell()
    if shell.process is None:
        return ["it is not running"]
    file = _file(node)
    done = shell.runner.run(script(_UNDER, file.parent, file.name, shell.process.pid))
    reply = answer(done, "looking at what sets its clock", shell.runner.where)
    return [] if reply.get("under") else [_bare(shell)]


def skew(
    node: Node, host: Host, offset_s: float, drift_ppm: float, undo_after_s: float | None = None
) -> Proof:
    """Set its clock `offset_s` ahead, gaining `drift_ppm` µs a second; proven by the file.

    The server follows within `READ_S`. Raises `Refused` where its process does not read the file.
    """
    check_size(offset_s, drift_ppm)
    shell, file = host.shell(), _file(node)
    if shell.process is None:
        raise Denied(f"the clock of node `{node.name}` is not set: it is not running", "start it")
    limit_s = undo_after_s or shell.undo_after_s
    words = (node.key, f"{limit_s:g}", _seconds(offset_s), f"{drift_ppm:g}")
    done = shell.runner.run(script(_SKEW, file.parent, file.name, *words, shell.process.pid))
    reply = answer(done, "setting its clock", shell.runner.where)
    if reply.get("state") == "bare":
        raise Refused(f"the clock of node `{node.name}` is not set: {_bare(shell)}")
    if reply.get("asked") != f"{words[2]} {words[3]}":
        raise HostError(f"node `{node.name}`: found {_words(reply) or 'a true clock'}")
    evidence = {
        "state": "skewed",
        "by": "libfaketime",
        "file": str(file),
        "faked": "the time of day; not the monotonic clock, not the times of files",
        "offset_s": offset_s,
        "drift_ppm": drift_ppm,
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, reply.get("was_asked") == reply.get("asked"))


def undo_on(node: Node, host: Host) -> Proof:
    """Set its clock right; safe to repeat."""
    runner, file = host.shell().runner, _file(node)
    done = runner.run(script(_UNDO, file.parent, file.name, node.key))
    reply = answer(done, "setting its clock right", runner.where)
    if words := _words(reply):
        raise HostError(f"the clock of node `{node.name}` is still off by {words}")
    return proof_of(done, reply, {"state": "right"}, not _words(reply, "was_"))


def left_on(node: Node, host: Host) -> str:
    """Return how its clock is set, as `+60 s` or `+0 s and 200 ppm`; empty for a true one."""
    if not isinstance(node.host, ProcessSpec) or node.host.clock_file is None:
        return ""
    runner, file = host.shell().runner, node.host.clock_file
    done = runner.run(script(_SHOW, file.parent, file.name))
    return _words(answer(done, "looking at its clock", runner.where))


def in_words(offset_s: float, drift_ppm: float) -> str:
    """Return in words how a clock is set."""
    drift = f" and {drift_ppm:g} ppm" if drift_ppm else ""
    return f"{_seconds(offset_s)} s{drift}"


def plan(node: Node, host: Host, offset_s: float, drift_ppm: float) -> str:
    """Return for a plan by which file the clock would be set."""
    check_size(offset_s, drift_ppm)
    runner = host.shell().runner
    return f"{runner.where}: {in_words(offset_s, drift_ppm)} by {_file(node)} (libfaketime)"


def _words(reply: Answer, before: str = "") -> str:
    """Return how the clock is set; where the record and the file differ, what the file says."""
    ahead = reply.get(f"{before}ahead") or "+0"
    offset, _, drift = reply.get(f"{before}asked").partition(" ")
    if not offset:
        return "" if ahead == "+0" else f"{ahead} s"
    if drift == "0" and ahead != offset:
        return f"{ahead} s"
    return in_words(float(offset), float(drift))


def _seconds(offset_s: float) -> str:
    """Return seconds as libfaketime reads them, with a sign."""
    return f"{offset_s:+.6f}".rstrip("0").rstrip(".")


def _bare(shell: Shell) -> str:
    return (
        f"process {shell.process.pid if shell.process else 'none'} does not run under libfaketime "
        "with this file; take the lab down and bring it up again"
    )


def _file(node: Node) -> Path:
    if not isinstance(node.host, ProcessSpec) or node.host.clock_file is None:
        raise Refused(f"node `{node.name}` has no clock of its own (`host.clock_file`)")
    return node.host.clock_file


def _library() -> Path | None:
    return next((path for path in _LIBRARIES if path.exists()), None)


def _headers(head: bytes) -> tuple[list[int], list[str]]:
    """Return the types of an ELF file's program headers, and whose notes it has; none of others."""
    if head[:4] != b"\x7fELF":
        return [], []
    order = "<" if head[5] == 1 else ">"
    wide = head[4] == 2
    (at,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
    types, owners = [], []
    for place in range(at, at + size * count, size):
        (kind,) = struct.unpack_from(f"{order}I", head, place)
        types.append(kind)
        if kind == _PT_NOTE:
            where = (place + 8, "Q", place + 32) if wide else (place + 4, "I", place + 16)
            (offset,) = struct.unpack_from(order + where[1], head, where[0])
            (length,) = struct.unpack_from(order + where[1], head, where[2])
            owners += _owners(head[offset : offset + length], order)
    return types, owners


def _owners(notes: bytes, order: str) -> list[str]:
    owners, place = [], 0
    while place + 12 <= len(notes):
        name, described, _ = struct.unpack_from(f"{order}III", notes, place)
        owners.append(notes[place + 12 : place + 12 + name].rstrip(b"\0").decode("latin-1"))
        place += 12 + (name + 3) // 4 * 4 + (described + 3) // 4 * 4
    return owners
