"""Which process is a node's: its pid file, believed only if the process proves to be the one."""

from pathlib import Path
from typing import Any

from brownout.base.errors import HostError
from brownout.inventory.model import ProcessSpec
from brownout.machine import procfs
from brownout.machine.procfs import Identity

__all__ = ["describe", "recorded_process"]


def recorded_process(node: str, spec: ProcessSpec) -> Identity | None:
    """Return the process of `node`, or None if it has none.

    A pid file that is stale or not written yet does not hide a process whose command line is
    this node's alone because it names the node's configuration file. Raises `HostError` where
    a process runs the same command and nothing says whose it is.
    """
    named = _named_by_pid_file(spec)
    if named is not None:
        return named
    found = procfs.find(spec.command)
    if not found:
        return None
    if len(found) == 1 and str(spec.config_file) in spec.command:
        return found[0]
    pids = ", ".join(str(identity.pid) for identity in found)
    raise HostError(
        f"node `{node}`: its pid file `{spec.pid_file}` names no live process of it, but process "
        f"{pids} runs the same command, which may be another node's",
        "have the process write its pid file, or name its configuration file in `command`",
    )


def describe(identity: Identity, **seen: Any) -> dict[str, Any]:
    """Return who a process is, and what was `seen` of it, for JSON; its arguments stay out."""
    program = Path(identity.command[0]).name if identity.command else ""
    return {"pid": identity.pid, "started_ticks": identity.started, "program": program, **seen}


def _named_by_pid_file(spec: ProcessSpec) -> Identity | None:
    try:
        pid = int(spec.pid_file.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None
    identity = procfs.identify(pid) if pid > 0 else None
    return identity if identity and identity.runs(spec.command) else None
