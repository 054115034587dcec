"""What is done to a node's process on its machine: ended, frozen, resumed.

Each script names the process by id and start time, so that it is safe to run again, and stamps
when its effect was last not there and first there. What is not there yet is stamped before it is
looked at: the effect may come while the clock is read.
"""

from dataclasses import dataclass
from typing import Any

from brownout.base.errors import Denied, HostError
from brownout.machine import deadman
from brownout.machine.commands import Answer, Completed, Runner, answer, script
from brownout.machine.host import Proof
from brownout.machine.moments import bracket
from brownout.machine.processes import FUNCTIONS, Process

__all__ = ["SCRIPTS", "SIGNAL_TIMEOUT_S", "Effect", "check", "end", "freeze", "thaw"]

#: A signal needs no consent; this long only if the kernel is stuck.
SIGNAL_TIMEOUT_S = 20.0
#: It mostly comes at once: looking so often forks nothing, and reading the clock does.
_AT_ONCE = 20

#: `$1` process `$2` start `$3` limit in ns `$4` signal, or empty for the command `$5`;
#: `$6` a unit that systemd must not start again.
_END = f"""{FUNCTIONS}
now=$(date +%s%N); deadline=$((now + $3))
echo "stamp_began $now"
said=$(mktemp) || return 1
trap 'rm -f "$said"' EXIT
command=
now=$(date +%s%N)
if alive "$1" "$2"; then
  last=$now
  if [ -n "$4" ]; then
    kill -s "$4" "$1" || return 1
  else
    /bin/sh -c "$5" >"$said" 2>&1 </dev/null &
    command=$!
  fi
  while alive "$1" "$2"; do
    last=$now
    [ "$last" -gt "$deadline" ] && {{ echo "state alive"; tail -n 3 "$said" >&2; return 0; }}
    sleep 0.01
    now=$(date +%s%N)
  done
  echo "stamp_last_no $last"
else
  echo "already yes"
fi
stamp first_yes
echo "state gone"
[ -z "$command" ] || {{ wait "$command"; echo "command_status $?"; tail -n 3 "$said" >&2; }}
[ -z "$6" ] || systemctl stop -- "$6" || return 1
stamp ended
"""

#: `$1` process `$2` start `$3` limit in ns `$4` seconds until it resumes by itself.
_FREEZE = f"""{FUNCTIONS}
{deadman.FUNCTIONS}
now=$(date +%s%N); deadline=$((now + $3))
echo "stamp_began $now"
alive "$1" "$2" || {{ echo "state gone"; return 0; }}
frozen "$1" && echo "already yes"
earlier=$(switches "$1" "$2")
arm "$1" "$2" "$4" || return 1
disarm "$earlier"
echo "switch $switch"
started "$switch"; armed=$started
frozen "$1" || stamp last_no
alive "$1" "$2" || {{ disarm "$switch"; echo "state gone"; return 0; }}
kill -s STOP "$1" || {{ disarm "$switch"; return 1; }}
now= looks=0
until frozen "$1"; do
  looks=$((looks + 1)); [ "$looks" -lt {_AT_ONCE} ] && continue
  [ -z "$now" ] || echo "stamp_last_no $now"
  alive "$1" "$2" || {{ disarm "$switch"; echo "state gone"; return 0; }}
  alive "$switch" "$armed" || {{ echo "state undone"; return 0; }}
  now=$(date +%s%N)
  [ "$now" -gt "$deadline" ] && {{ echo "state $states"; return 0; }}
  sleep 0.005
done
stamp first_yes
echo "state paused"
stamp ended
"""

#: `$1` process `$2` start `$3` limit in ns.
_THAW = f"""{FUNCTIONS}
{deadman.FUNCTIONS}
now=$(date +%s%N); deadline=$((now + $3))
echo "stamp_began $now"
alive "$1" "$2" || {{ echo "state gone"; return 0; }}
if frozen "$1"; then stamp last_no; else echo "already yes"; fi
alive "$1" "$2" || {{ echo "state gone"; return 0; }}
kill -s CONT "$1" || return 1
now= looks=0
while frozen "$1"; do
  looks=$((looks + 1)); [ "$looks" -lt {_AT_ONCE} ] && continue
  [ -z "$now" ] || echo "stamp_last_no $now"
  now=$(date +%s%N)
  [ "$now" -gt "$deadline" ] && {{ echo "state $states"; return 0; }}
  sleep 0.005
done
stamp first_yes
found=$(switches "$1" "$2")
disarm "$found"
for switch in $found; do echo "switch $switch"; done
echo "state running"
stamp ended
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"end": _END, "pause": _FREEZE, "resume": _THAW}


@dataclass(frozen=True, slots=True)
class Effect:
    """One script that ended, what it said, and the state it left: `gone`, `paused`, …"""

    done: Completed
    said: Answer

    @property
    def state(self) -> str:
        """What the process was at the end."""
        return self.said.get("state")

    @property
    def already(self) -> bool:
        """Whether nothing had to be done; on a second attempt the first one may have done it."""
        return self.said.get("already") == "yes" and self.done.attempts == 1

    def proof(self, process: Process, **seen: Any) -> Proof:
        """Return when the effect was there, with what was `seen` besides its state."""
        effective, uncertainty_s = bracket(self.done, self.said)
        evidence = process.evidence(state=self.state, **seen)
        if self.done.attempts > 1:
            evidence["attempts"] = self.done.attempts
        return Proof(effective, uncertainty_s, evidence, already=self.already)


def end(
    runner: Runner,
    process: Process,
    timeout_s: float,
    *,
    signal: str = "",
    command: str = "",
    hold: str = "",
) -> Effect:
    """End `process` by `signal` or `command` and wait until its last thread is gone.

    `hold` names a unit that systemd is then told to stop, so that it does not start it again.
    The state is `gone`, or `alive` after `timeout_s`.
    """
    limit_s = timeout_s if command else min(timeout_s, SIGNAL_TIMEOUT_S)
    arguments = (process.pid, process.started, _ns(limit_s), signal, command, hold)
    return _do(runner, _END, f"ending process {process.pid}", limit_s, arguments)


def freeze(runner: Runner, process: Process, undo_after_s: float) -> Effect:
    """Stop every thread of `process`, which resumes by itself after `undo_after_s`."""
    arguments = (process.pid, process.started, _ns(SIGNAL_TIMEOUT_S), f"{undo_after_s:g}")
    return _do(runner, _FREEZE, f"pausing process {process.pid}", SIGNAL_TIMEOUT_S, arguments)


def thaw(runner: Runner, process: Process) -> Effect:
    """Resume `process` and end the switch that would have done so."""
    arguments = (process.pid, process.started, _ns(SIGNAL_TIMEOUT_S))
    return _do(runner, _THAW, f"resuming process {process.pid}", SIGNAL_TIMEOUT_S, arguments)


def check(effect: Effect, node: str, wanted: str, signal: str) -> None:
    """Raise `HostError` with the state of `node` if it is not the one that was `wanted`."""
    if effect.state == "gone" != wanted:
        raise HostError(f"node `{node}` ended on {signal}")
    if effect.state == "undone":
        raise HostError(
            f"node `{node}` resumed by itself before it was seen to be paused",
            "raise `undo_after_s`",
        )
    if effect.state != wanted:
        raise HostError(
            f"node `{node}` shows no effect of {signal}: its threads are in the states "
            f"{effect.state}"
        )


def _do(
    runner: Runner, body: str, what: str, limit_s: float, arguments: tuple[object, ...]
) -> Effect:
    # The script has its own limit; ours is for one that does not come back at all.
    done = runner.run(script(body, *arguments), limit_s + 30.0)
    if done.status and "not permitted" in done.errors and "state gone" not in done.output:
        raise Denied(
            f"{what} is not permitted on {runner.where}",
            "log in as the process's own user, or set `sudo: true`",
        )
    return Effect(done, answer(done, what, runner.where))


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
