"""Starting a node on its machine, and seeing that it did not end at once."""

from brownout.base.errors import HostError
from brownout.machine.commands import Completed, Runner, answer, last_words, script
from brownout.machine.host import Proof
from brownout.machine.processes import Process
from brownout.machine.ssh.process import PIDS_OF_UNIT, locate
from brownout.machine.ssh.spec import SshSpec

__all__ = ["SCRIPTS", "launch"]

#: A process that neither ended nor listens after this long is taken as started.
_GRACE_S = 1.5
#: The kernel counts the start of a process in hundredths of a second, and so does the uptime.
_TICK_S = 0.02

#: `$1` unit, or empty for the command `$2` with its output to `$3`; `$4` grace in ns, `$5` the
#: node's port in hexadecimal, as the kernel lists it. An exit with 0 is that of a command which
#: leaves a daemon behind. A unit that is `exited` is active without a process: to start it again
#: does nothing before it is stopped.
_LAUNCH = f"""{PIDS_OF_UNIT}
if [ -n "$1" ]; then
  if [ "$(systemctl show --property=SubState --value -- "$1")" = exited ] &&
    [ -z "$(pids_of_unit "$1")" ]; then systemctl stop -- "$1"; fi
  systemctl start -- "$1" || return 1
  command=
else
  setsid /bin/sh -c "$2" </dev/null >>"${{3:-/dev/null}}" 2>&1 &
  command=$!
fi
listens() {{ cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$5 [0-9A-F]*:0000 0A "; }}
deadline=$(($(date +%s%N) + $4))
until listens "$@" || [ "$(date +%s%N)" -gt "$deadline" ]; do
  if [ -n "$command" ] && ! kill -0 "$command" 2>/dev/null; then
    wait "$command" || return $?
    command=
  fi
  sleep 0.02
done
listens "$@" && echo "listening yes"
return 0
"""
#: `$1` unit or empty, `$2` log file or empty.
_WORDS = """
[ -z "$1" ] || journalctl --no-pager -q -n 5 -o cat -u "$1"
[ -z "$2" ] || tail -n 3 -- "$2"
return 0
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"start": _LAUNCH, "last-words": _WORDS}


def launch(node: str, address: str, spec: SshSpec, runner: Runner) -> Proof:
    """Start `node`; return once it listens, or has lived for a while.

    Whether the database in it is ready is not asked here. Raises `HostError` with its last words
    if it ends at once.
    """
    commands = spec.commands
    start, log = (commands.start, commands.log_file or "") if commands else ("", "")
    port = f"{int(address.rpartition(':')[2]):04X}"
    text = script(_LAUNCH, spec.service, start, log, int(_GRACE_S * 1e9), port)
    done = runner.run(text, spec.start_timeout_s + _GRACE_S)
    if done.status:
        how = last_words(done.errors, 1) or f"it ended at once with status {done.status}"
        raise _did_not_start(node, how, spec, runner)
    reply = answer(done, f"starting node `{node}`", runner.where)
    located = locate(node, spec, runner)
    if located.process is None:
        raise _did_not_start(node, located.unrest or "it ended at once", spec, runner)
    latest, earliest = _born(located.process, done)
    evidence = located.process.evidence(
        state="running", listening=reply.get("listening") == "yes", **located.evidence
    )
    return Proof(latest, latest - earliest, evidence)


def _born(process: Process, done: Completed) -> tuple[float, float]:
    """Return when the process was there at the latest and at the earliest.

    Its age says so, where the machine's uptime is that of the clock its start was taken from;
    in some containers it is not.
    """
    latest, earliest = process.born_by + _TICK_S, process.born_after - _TICK_S
    if latest < done.first_sent or earliest > done.received:
        return done.received, done.first_sent
    return min(latest, done.received), max(earliest, done.first_sent)


def _did_not_start(node: str, how: str, spec: SshSpec, runner: Runner) -> HostError:
    """Return the error with the last that the node said."""
    log = (spec.commands.log_file if spec.commands else None) or ""
    words = last_words(runner.run(script(_WORDS, spec.service, log)).output, 5)
    hint = "" if spec.service or log else "set `commands.log_file` to see what it says"
    return HostError(f"node `{node}` did not start: {how}{f'; {words}' if words else ''}", hint)
