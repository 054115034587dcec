"""The toxiproxy of a lab: laid out, started, asked, stopped. It stands in front of every member.

    <lab>/toxiproxy/settings.json   which program, and where it takes its orders
    <lab>/toxiproxy/proxies.json    where each proxy listens and where its member does
    <lab>/toxiproxy/toxiproxy.log, toxiproxy.pid

It is Shopify's own server, which a checkout builds for labs alone.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError
from brownout.databases.lab import beside
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Node, ProxySpec
from brownout.machine import toxiproxy
from brownout.machine.host import host_for

__all__ = ["find_toxiproxy", "lay_out", "start", "stop"]

_HOST = "127.0.0.1"


def find_toxiproxy() -> Path:
    """Return the program; raises `ClusterError` where it was not built."""
    return beside.built("toxiproxy", "a lab with slow links")


def lay_out(directory: Path, names: Sequence[str]) -> dict[str, tuple[str, ProxySpec]]:
    """Write the configuration; return each node's address and the proxy that listens there."""
    program = find_toxiproxy()
    control, *ports = reserve_ports(2 * len(names) + 1, directory)
    place = directory / "toxiproxy"
    place.mkdir()
    by_node = {}
    for name, front, back in zip(names, ports[::2], ports[1::2], strict=True):
        proxy = ProxySpec(name=name, control=f"{_HOST}:{control}", upstream=f"{_HOST}:{back}")
        by_node[name] = (f"{_HOST}:{front}", proxy)
    proxies = [
        {"name": proxy.name, "listen": listen, "upstream": proxy.upstream, "enabled": True}
        for listen, proxy in by_node.values()
    ]
    settings = {"control": f"{_HOST}:{control}", "program": str(program), "proxies": proxies}
    (place / "settings.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    (place / "proxies.json").write_text(json.dumps(proxies, indent=2) + "\n", encoding="utf-8")
    return by_node


def start(directory: Path) -> None:
    """Start the lab's toxiproxy, if it has one, and return once every proxy is open; repeatable."""
    if _exists(directory):
        wanted = sorted(proxy["name"] for proxy in _settings(directory)["proxies"])
        control = _settings(directory)["control"]
        beside.start(_node(directory), lambda: _lacks(control, wanted))


def stop(directory: Path) -> None:
    """End the lab's toxiproxy, if it has one."""
    if _exists(directory):
        host_for(_node(directory)).stop("kill")


def _lacks(control: str, wanted: list[str]) -> str:
    try:
        existing = toxiproxy.proxies(control)
    except HostError as error:
        return error.message
    return "" if existing == wanted else f"it has {existing} open, wanted {wanted}"


def _exists(directory: Path) -> bool:
    return (directory / "toxiproxy" / "settings.json").is_file()


def _settings(directory: Path) -> dict[str, Any]:
    text = (directory / "toxiproxy" / "settings.json").read_text(encoding="utf-8")
    settings: dict[str, Any] = json.loads(text)
    return settings


def _node(directory: Path) -> Node:
    place, settings = directory / "toxiproxy", _settings(directory)
    config = place / "proxies.json"
    host, _, port = settings["control"].rpartition(":")
    command = (settings["program"], "-host", host, "-port", port, "-config", str(config))
    return beside.node_of(place, settings["control"], command, config)
