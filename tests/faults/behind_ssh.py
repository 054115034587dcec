"""Nodes of a lab as an inventory of other machines would describe them."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["elsewhere"]


def elsewhere(node: Mapping[str, Any], login: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node of a lab's inventory as one that is reached by ssh with `login`."""
    local = node["host"]
    pid_file = shlex.quote(str(local["pid_file"]))
    commands = {
        "start": f"echo $$ > {pid_file}; exec {shlex.join(local['command'])}",
        "stop": f"kill -TERM $(cat {pid_file})",
        "pid_file": local["pid_file"],
        "program": Path(local["command"][0]).name,
        "log_file": local["log_file"],
    }
    host = {"kind": "ssh", **login, "config_file": local["config_file"]}
    return {**node, "host": {**host, "commands": commands}}
