"""A member's own configuration: the YAML file that Patroni's command names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["own_settings"]


def own_settings(node: Node, host: Host) -> Mapping[str, Any]:
    """Return Patroni's settings for the node; `Refused` if they cannot be read."""
    file = _file(node)
    try:
        found = yaml.safe_load(host.read_text(file))
    except (HostError, yaml.YAMLError) as error:
        reason = error.message if isinstance(error, HostError) else f"`{file}` is no YAML"
        raise Refused(f"node `{node.name}`: its configuration is not known: {reason}") from error
    if not isinstance(found, Mapping):
        raise Refused(f"node `{node.name}`: `{file}` is no configuration of Patroni")
    return found


def _file(node: Node) -> Path:
    host = node.host
    if host is not None and host.config_file is not None:
        return host.config_file
    named = [word for word in (host.command if host else ()) if word.endswith((".yml", ".yaml"))]
    if not named:
        raise Refused(
            f"node `{node.name}`: its data directory is not known: the inventory does not name "
            "Patroni's configuration",
            "give it the node's `host.config_file`",
        )
    return Path(named[-1])
