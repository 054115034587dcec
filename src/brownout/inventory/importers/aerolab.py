"""What aerolab prints of its clusters, as JSON.

aerolab inventory list -o json      from version 8 on: {"instances": [{"clusterName": …}]}
aerolab cluster list -o json                           [{"clusterName": …, "IP": {…}}]
aerolab inventory list -j           version 7:         {"Clusters": [{"ClusterName": …}]}
aerolab cluster list -j                                [{"ClusterName": …, "PublicIp": …}]
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["DATABASE", "read"]

#: What aerolab's clusters are of.
DATABASE = "aerospike"
#: aerolab's machines of other kinds (load, monitoring) carry this tag, too.
_KIND = "aerolab.type"
_RUNNING = ("running", "up")


@dataclass(frozen=True, slots=True)
class _Node:
    """One node of either version's output."""

    cluster: str
    number: str
    public: str
    private: str
    zone: str
    state: str
    container: bool
    key: str


def read(text: str, source: str, cluster: str = "", private: bool = False) -> Imported:
    """Return the cluster called `cluster`, or the only one there is.

    Its machines are reached at their public addresses, where they have one, unless `private`.
    Raises `ConfigurationError` with all problems.
    """
    nodes, problems = _nodes(_parsed(text, source), source)
    names = sorted({node.cluster for node in nodes})
    names_of_all = ", ".join(names) or "none"
    if cluster and cluster not in names:
        problems.append(f"{source}: has no cluster `{cluster}`; it has {names_of_all}")
    elif not cluster and len(names) > 1:
        problems.append(f"{source}: has the clusters {names_of_all}; say which by --cluster")
    elif not names and not problems:
        problems.append(f"{source}: has no node of an Aerospike cluster")
    wanted = cluster or next(iter(names), "")
    own = [node for node in nodes if node.cluster == wanted]
    for node in own:
        if not _address(node, private):
            problems.append(f"{source}: node {node.number} of `{wanted}` has no address")
    if problems:
        raise ConfigurationError(problems)
    ordered = sorted(own, key=lambda node: (len(node.number), node.number))
    machines = tuple(_machine(node, private) for node in ordered)
    return Imported(wanted, f"aerolab's {source}", machines)


def _parsed(text: str, source: str) -> Sequence[Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{source}: not valid JSON: {error}",
            "it is made by `aerolab inventory list -o json` (version 7: `-j`)",
        ) from error
    if isinstance(data, Mapping):
        data = data.get("instances", data.get("Clusters"))
    if not isinstance(data, list):
        raise ConfigurationError(
            f"{source}: found neither `instances` nor `Clusters`, wanted aerolab's JSON",
            "it is made by `aerolab inventory list -o json` (version 7: `-j`)",
        )
    return data


def _nodes(items: Sequence[Any], source: str) -> tuple[list[_Node], list[str]]:
    nodes, problems = [], []
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            problems.append(f"{source}: [{index}]: found {type(item).__name__}, wanted an object")
            continue
        node = _of_8(item) if "clusterName" in item else _of_7(item)
        if not node.cluster or not node.number:
            problems.append(f"{source}: [{index}]: its cluster's name or its number is missing")
        elif "terminat" not in node.state and _is_server(item):
            nodes.append(node)
    return nodes, problems


def _of_8(item: Mapping[str, Any]) -> _Node:
    addresses = item.get("IP") if isinstance(item.get("IP"), Mapping) else {}
    return _Node(
        cluster=_text(item, "clusterName"),
        number=_text(item, "nodeNo"),
        public=_text(addresses or {}, "public"),
        private=_text(addresses or {}, "private"),
        zone=_text(item, "zoneName"),
        state=_text(item, "lifeCycleState").lower(),
        container=_text(item, "backendType") == "docker",
        key=_text(item, "sshKeyPath") or _text(item, "SSHKeyPath"),
    )


def _of_7(item: Mapping[str, Any]) -> _Node:
    return _Node(
        cluster=_text(item, "ClusterName"),
        number=_text(item, "NodeNo"),
        public=_text(item, "PublicIp"),
        private=_text(item, "PrivateIp"),
        zone=_text(item, "Zone"),
        state=_text(item, "State").lower(),
        container=bool(_text(item, "DockerExposePorts")),
        key=_text(item, "SSHKeyPath"),
    )


def _is_server(item: Mapping[str, Any]) -> bool:
    tags = item.get("tags")
    kind = tags.get(_KIND, DATABASE) if isinstance(tags, Mapping) else DATABASE
    return kind == DATABASE


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _address(node: _Node, private: bool) -> str:
    addresses = (node.private, node.public) if private else (node.public, node.private)
    return next((address for address in addresses if address not in ("", "N/A")), "")


def _machine(node: _Node, private: bool) -> Machine:
    notes = ["it is a container of aerolab's; docs/docker.md"] if node.container else []
    if node.state not in ("", *_RUNNING):
        notes.append(f"it was not running ({node.state}), so its addresses may change")
    return Machine(
        name=f"{node.cluster}-{node.number}",
        address=_address(node, private),
        user="root",
        identity_file=node.key,
        rack=node.zone,
        by_ssh=not node.container,
        notes=tuple(notes),
    )
