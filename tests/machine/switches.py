"""Dead man's switches by themselves, as the scripts that pause a process arm and end them."""

from brownout.machine import deadman
from brownout.machine.commands import Runner, answer, script

__all__ = ["arm", "armed", "cancel"]

_ARM = """
earlier=$(switches "$1" "$2")
arm "$1" "$2" "$3" || return 1
disarm "$earlier"
echo "switch $switch"
"""
_CANCEL = """
found=$(switches "$1" "$2")
disarm "$found"
for switch in $found; do echo "switch $switch"; done
"""
_FIND = 'for switch in $(switches "$1" "$2"); do echo "switch $switch"; done'


def arm(runner: Runner, pid: int, started: int, after_s: float = 120.0) -> int:
    """Start a switch for a process in place of an earlier one; return its own process id."""
    (switch,) = _run(runner, _ARM, pid, started, f"{after_s:g}")
    return switch


def cancel(runner: Runner, pid: int, started: int) -> list[int]:
    """End every switch of a process; return their process ids."""
    return _run(runner, _CANCEL, pid, started)


def armed(runner: Runner, pid: int, started: int) -> list[int]:
    """Return the process ids of the switches that wait for a process."""
    return _run(runner, _FIND, pid, started)


def _run(runner: Runner, body: str, *arguments: object) -> list[int]:
    done = runner.run(script(f"{deadman.FUNCTIONS}\n{body}", *arguments))
    return [int(switch) for switch in answer(done, "a switch", runner.where).all("switch")]
