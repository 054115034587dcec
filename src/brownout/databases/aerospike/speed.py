"""How fast partitions migrate: three settings of each node, changed while it serves.

`{"migrate_threads": 4, "migrate_sleep": 0, "migrate_max_num_incoming": 8}`: how many partitions a
node sends at once, how many microseconds it sleeps after each record, and how many partitions it
takes at once. One of them alone will do; the others stay.
"""

import time
from collections.abc import Mapping
from typing import Any

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.info import pairs
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.view import View
from brownout.databases.aerospike.waits import since
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["LIMITS", "objections", "set_speed", "speed"]

#: From and to, as the server takes them; with 0 threads or 0 incoming nothing would ever move.
LIMITS = {
    "migrate_threads": (1, 100),
    "migrate_sleep": (0, 2**31 - 1),
    "migrate_max_num_incoming": (1, 256),
}
Speed = dict[str, int]


def objections(value: Any) -> list[str]:
    """Say why these are not settings, or not settings by node."""
    if not isinstance(value, Mapping) or not value:
        return [f"migration speed: found {value!r}, wanted some of {', '.join(LIMITS)}"]
    if _by_node(value):
        return [words for each in value.values() for words in _of_settings(each)]
    return _of_settings(value)


def _by_node(value: Mapping[str, Any]) -> bool:
    return all(isinstance(each, Mapping) for each in value.values())


def _of_settings(value: Mapping[Any, Any]) -> list[str]:
    words = []
    for name, number in value.items():
        low, high = LIMITS.get(name, (0, 0))
        if not high:
            words.append(f"migration speed: found {name!r}, wanted some of {', '.join(LIMITS)}")
        elif isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            words.append(f"{name}: found {number!r}, wanted a number from {low} to {high}")
    return words


def speed(panel: Panel, namespace: str, node: Node | None) -> dict[str, Any]:
    """Return the settings of `node`; without one those of each, `{"n1": {…}, "n2": {…}}`.

    Raises `ClusterError` for a node that does not say.
    """
    wanted = [node] if node else list(panel.nodes)
    speeds = {
        view.node: _read(view, namespace) for view in panel.views_of(wanted, _asks(namespace))
    }
    return speeds[node.name] if node else speeds


def set_speed(panel: Panel, namespace: str, value: Mapping[str, Any], node: Node | None) -> Proof:
    """Give the settings to `node`, else to all nodes, or to each its own of `{"n1": {…}, …}`.

    Proven by reading them back. A node that is not a member any more is left alone.
    """
    asked = time.monotonic()
    nodes = {each.name: each for each in ((node,) if node else panel.nodes)}
    own = _by_node(value)
    wanted: dict[str, Speed] = {n: dict(value.get(n, {}) if own else value) for n in nodes}
    before = {name: speed(panel, namespace, nodes[name]) for name in wanted}
    changed = [name for name in wanted if not wanted[name].items() <= before[name].items()]
    for name in changed:
        _write(panel, nodes[name], namespace, wanted[name])
    after = {name: speed(panel, namespace, nodes[name]) for name in wanted}
    for name, settings in wanted.items():
        if not settings.items() <= after[name].items():
            raise ClusterError(f"node `{name}`: found {after[name]}, wanted {settings}")
    return since(asked, {"before": before, "after": after}, already=not changed)


def _asks(namespace: str) -> tuple[str, str]:
    return "get-config:context=service", f"get-config:context=namespace;id={namespace}"


def _read(view: View, namespace: str) -> Speed:
    settings: dict[str, str] = {}
    for command in _asks(namespace):
        settings |= pairs(view.answers.get(command, ""))
    limits = {name: settings.get(name.replace("_", "-"), "") for name in LIMITS}
    silent = [name for name, text in limits.items() if not text.isdigit()]
    if silent:
        raise ClusterError(view.error or f"node `{view.node}` does not say {', '.join(silent)}")
    return {name: int(text) for name, text in limits.items()}


def _write(panel: Panel, node: Node, namespace: str, settings: Speed) -> None:
    for name, number in settings.items():
        place = (
            f"context=namespace;id={namespace}" if name == "migrate_sleep" else "context=service"
        )
        command = f"set-config:{place};{name.replace('_', '-')}={number}"
        answer = panel.view(node, (command,)).answers.get(command, "")
        if answer != "ok":
            raise ClusterError(f"node `{node.name}` answers {command} with {answer or 'nothing'}")
