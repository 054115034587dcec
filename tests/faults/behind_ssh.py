"""Nodes of a lab as an inventory of other machines would describe them."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.machine import user_namespace

__all__ = ["elsewhere"]


def elsewhere(node: Mapping[str, Any], login: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node of a lab's inventory as one that is reached by ssh with `login`."""
    local = node["host"]
    pid_file = shlex.quote(str(local["pid_file"]))
    user = user_namespace.enter() if local.get("unprivileged") else ()
    commands = {
        "start": f"echo $$ > {pid_file}; exec {shlex.join((*user, *local['command']))}",
        "stop": f"kill -TERM $(cat {pid_file})",
        "pid_file": local["pid_file"],
        "program": Path(local["command"][0]).name,
        "log_file": local["log_file"],
    }
    same = {name: local[name] for name in ("config_file", "server_directory") if name in local}
    return {**node, "host": {"kind": "ssh", **login, **same, "commands": commands}}
