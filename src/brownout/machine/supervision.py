"""What would start a killed process again: its supervisor, and how that is told not to.

    runsv (runit)        sv once DIR            it starts nothing again, until `sv up`
    s6-supervise         s6-svc -O DIR
    supervise            svc -o DIR
    supervisord          cannot be told for one program: a plan says so
    systemd              is told to stop the unit with the kill (`signals.end`)

A node that comes back by itself after 0.2 s was not down for the five that were asked for. Sources:
sv(8) "once"; s6-svc(1) "-O"; svc(8) "-o"; supervisord's `autorestart`.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from brownout.machine.commands import Runner, answer, script

__all__ = ["SCRIPTS", "Supervisor", "hold", "supervisor_of"]

#: Each supervisor by the name of its process, and what tells it not to start a service again.
_ONCE = {"runsv": "sv once", "s6-supervise": "s6-svc -O", "supervise": "svc -o"}
_NOT_ONE_BY_ONE = ("supervisord", "monit", "circusd", "god", "forever", "pm2")

#: `$1` is the process. Prints each process above it, the nearest first.
_ABOVE = """\
pid=$1
while :; do
  { IFS= read -r stat < "/proc/$pid/stat"; } 2>/dev/null || break
  set -- ${stat##*) }
  pid=$2
  [ "${pid:-0}" -gt 0 ] || break
  echo "above $pid $(cat "/proc/$pid/comm" 2>/dev/null)"
  echo "directory $(readlink "/proc/$pid/cwd" 2>/dev/null)"
done
"""


def _repeat(once: str) -> str:
    """Return the script that tells a supervisor, which works in `$1`, not to start it again."""
    return f'{once} "$1"'


#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "supervisors": _ABOVE,
    **{f"hold-{name}": _repeat(once) for name, once in _ONCE.items()},
}


@dataclass(frozen=True, slots=True)
class Supervisor:
    """A process that starts another one again: its name and id, and where it works."""

    program: str
    pid: int
    directory: PurePosixPath

    @property
    def command(self) -> str:
        """What tells it not to start the node's process again; empty where it cannot be told."""
        once = _ONCE.get(self.program, "")
        return f"{once} {self.directory}" if once else ""

    def words(self) -> str:
        """Return for a plan how it is held off, or that it cannot be."""
        if self.command:
            return f"held off by `{self.command}`"
        return (
            f"{self.program} (process {self.pid}) may start it again, and cannot be told not to "
            "for one program; switch its restarts off for the time of the run"
        )


def supervisor_of(runner: Runner, pid: int) -> Supervisor | None:
    """Return what would start the process `pid` again when it ends; None where none is known.

    systemd is not among them: its unit is held off with the kill itself.
    """
    reply = answer(runner.run(script(_ABOVE, pid)), "looking for a supervisor", runner.where)
    for above, directory in zip(reply.all("above"), reply.all("directory"), strict=False):
        number, _, program = above.partition(" ")
        kind = next((name for name in (*_ONCE, *_NOT_ONE_BY_ONE) if program == name[:15]), None)
        if kind is not None:
            return Supervisor(kind, int(number), PurePosixPath(directory or "/"))
    return None


def hold(runner: Runner, pid: int) -> dict[str, str]:
    """Keep the supervisor of `pid` from starting it again; return what was done, for evidence.

    Nothing where there is none, or it cannot be told. The node's own start ends it. Raises
    `HostError` where the supervisor does not take the order.
    """
    supervisor = supervisor_of(runner, pid)
    if supervisor is None:
        return {}
    if not supervisor.command:
        return {"supervisor": supervisor.words()}
    once = _ONCE[supervisor.program]
    done = runner.run(script(_repeat(once), supervisor.directory))
    answer(done, supervisor.command, runner.where)
    return {"supervisor": supervisor.words()}
