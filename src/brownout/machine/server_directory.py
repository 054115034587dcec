"""The processes of a node besides its own one: those that work in its `server_directory`.

A supervisor starts its server, and the server its workers, so that no process group, session or
parent has all of them. What they share is the directory that they work in, as that of its data. A
person's shell in there has a terminal and is left alone.

The scripts repeat until a look finds nothing that is left, since the server may fork meanwhile.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError
from brownout.machine import deadman, processes
from brownout.machine.commands import Completed, Runner, answer, script
from brownout.machine.host import Proof, Shell
from brownout.machine.moments import bracket

__all__ = ["FUNCTIONS", "SCRIPTS", "freeze", "joined", "kill", "pids", "pids_of"]
__all__ += ["resumed", "servers", "thaw"]

_WITHIN_S = 20.0
_MARK = "brownout-undo-pause-in"
#: `$1` directory `$2` nothing `$3` seconds.
_WAIT_AND_RESUME = """\
sleep "$3"
for process in /proc/[0-9]*; do
  [ "$process/cwd" -ef "$1" ] && kill -CONT "${process#/proc/}"
done
"""
#: `working DIRECTORY` sets `working` to the ids of the live processes there without a terminal. The
#: script itself leaves the directory that it begins in, which may be that one.
FUNCTIONS = f"""{processes.FUNCTIONS}
cd /
{deadman.functions(_MARK, _WAIT_AND_RESUME)}
working() {{
  working=
  for process in /proc/[0-9]*; do
    [ "$process/cwd" -ef "$1" ] || continue
    {{ IFS= read -r stat < "$process/stat"; }} 2>/dev/null || continue
    terminal=${{stat##*) }}
    terminal=${{terminal#* * * * }}; terminal=${{terminal%% *}}
    [ "$terminal" = 0 ] && working="$working ${{process#/proc/}}"
  done
}}
"""
_LIST = f"""{FUNCTIONS}
working "$1"
for pid in $working; do echo "pid $pid"; done
"""
#: `$1` directory. After the name in brackets: state, parent, ….
_SERVERS = f"""{FUNCTIONS}
working "$1"
for pid in $working; do
  {{ IFS= read -r stat < "/proc/$pid/stat"; }} 2>/dev/null || continue
  parent=${{stat##*) }}; parent=${{parent#* }}; parent=${{parent%% *}}
  case " $working " in *" $parent "*) ;; *) echo "pid $pid";; esac
done
"""
#: `$1` directory `$2` limit in ns.
_KILL = f"""{FUNCTIONS}
now=$(date +%s%N); deadline=$((now + $2))
echo "stamp_began $now"
count=0
while working "$1" && [ -n "$working" ]; do
  last=$now
  kill -s KILL $working 2>/dev/null
  set -- "$1" "$2" $working
  [ $# -gt "$((count + 2))" ] && count=$(($# - 2))
  [ "$now" -gt "$deadline" ] && {{ echo "left$working"; return 0; }}
  now=$(date +%s%N)
done
[ "$count" = 0 ] || echo "stamp_last_no $last"
stamp first_yes
echo "count $count"
stamp ended
"""
#: `$1` directory `$2` limit in ns `$3` seconds until they resume by themselves, `$4` the same in
#: ns. A switch whose time is over may have resumed some of them already: it no longer counts.
_FREEZE = f"""{FUNCTIONS}
now=$(date +%s%N); deadline=$((now + $2)) over=$((now + $4))
echo "stamp_began $now"
earlier=$(switches "$1" -)
arm "$1" - "$3" || return 1
started "$switch"; armed=$started
disarm "$earlier"
while working "$1"; do
  moving= count=0
  for pid in $working; do
    count=$((count + 1))
    frozen "$pid" || moving="$moving $pid"
  done
  [ -z "$moving" ] && break
  echo "stamp_last_no $now"
  kill -s STOP $moving 2>/dev/null
  [ "$now" -gt "$deadline" ] && {{ echo "left$moving"; return 0; }}
  now=$(date +%s%N)
done
stamp first_yes
if ! alive "$switch" "$armed" || [ "$(date +%s%N)" -ge "$over" ]; then
  [ -z "$working" ] || kill -s CONT $working 2>/dev/null
  echo "undone yes"
fi
echo "count $count"
stamp ended
"""
#: `$1` directory.
_THAW = f"""{FUNCTIONS}
echo "stamp_began $(date +%s%N)"
count=0
working "$1"
for pid in $working; do
  kill -s CONT "$pid" 2>/dev/null && count=$((count + 1))
done
stamp first_yes
disarm "$(switches "$1" -)"
echo "count $count"
stamp ended
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "others-list": _LIST,
    "others-servers": _SERVERS,
    "others-kill": _KILL,
    "others-pause": _FREEZE,
    "others-resume": _THAW,
}


def pids(runner: Runner, directory: Path) -> list[int]:
    """Return the ids of the processes that work in `directory`."""
    done = runner.run(script(_LIST, directory))
    reply = answer(done, f"looking who works in `{directory}`", runner.where)
    return [int(pid) for pid in reply.all("pid")]


def pids_of(shell: Shell) -> list[int]:
    """Return the ids of a node's processes, its own first, without descendants."""
    own = [shell.process.pid] if shell.process else []
    return own + (pids(shell.runner, shell.server_directory) if shell.server_directory else [])


def servers(runner: Runner, directory: Path) -> list[int]:
    """Return the ids of those whose parent does not work in `directory`: the others are theirs."""
    done = runner.run(script(_SERVERS, directory))
    reply = answer(done, f"looking who works in `{directory}`", runner.where)
    return [int(pid) for pid in reply.all("pid")]


def kill(runner: Runner, directory: Path) -> Proof:
    """Kill them (SIGKILL); proven when none is left."""
    return _do(runner, _KILL, "killing", directory, _ns(_WITHIN_S))


def freeze(runner: Runner, directory: Path, undo_after_s: float) -> Proof:
    """Stop them (SIGSTOP); they resume by themselves after `undo_after_s`."""
    limits = (_ns(_WITHIN_S), f"{undo_after_s:g}", _ns(undo_after_s))
    return _do(runner, _FREEZE, "pausing", directory, *limits)


def thaw(runner: Runner, directory: Path) -> Proof:
    """Resume them, and end the switch that would have done so."""
    return _do(runner, _THAW, "resuming", directory)


def joined(proof: Proof, others: Proof) -> Proof:
    """Return the proof of what was done to a node's own process and to its `others`.

    It took effect when it had on all of them.
    """
    if others.already:
        return proof
    began = proof.effective_monotonic - proof.uncertainty_s
    effective = max(proof.effective_monotonic, others.effective_monotonic)
    return Proof(effective, effective - began, {**proof.evidence, **others.evidence})


def resumed(proof: Proof, others: Proof, *, was_paused: bool) -> Proof:
    """Return the proof of a resume of a node's own process after that of its `others`.

    One that works in the directory itself, as a server without a supervisor, resumes with them.
    """
    evidence = {**proof.evidence, **others.evidence}
    if proof.already and was_paused and not others.already:
        return replace(others, evidence=evidence)
    return replace(proof, evidence=evidence)


def _do(runner: Runner, body: str, act: str, directory: Path, *arguments: object) -> Proof:
    done: Completed = runner.run(script(body, directory, *arguments), timeout_s=2 * _WITHIN_S)
    reply = answer(done, f"{act} what works in `{directory}`", runner.where)
    if left := reply.get("left"):
        raise HostError(f"{act} what works in `{directory}` on {runner.where}: left are {left}")
    if reply.get("undone"):
        raise HostError(
            f"what works in `{directory}` on {runner.where} resumed by itself before all of it was "
            "seen to be paused",
            "raise `undo_after_s`",
        )
    effective, uncertainty_s = bracket(done, reply)
    evidence: dict[str, Any] = {"processes_in_server_directory": reply.number("count") or 0}
    return Proof(effective, uncertainty_s, evidence, already=not reply.number("count"))


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
