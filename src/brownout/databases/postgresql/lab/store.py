"""The store of a lab, in which Patroni's members agree who leads: an etcd of one member.

    <lab>/store/store.yaml, program (its path), store.log, store.pid, data/

It is not under test, and nothing breaks it.
"""

import json
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import yaml

from brownout.databases.etcd.lab.server import find_etcd
from brownout.databases.lab import beside
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Node
from brownout.machine.host import host_for

__all__ = ["find_store", "lay_out", "start", "stop"]

_FILE, _PROGRAM = "store.yaml", "program"


def find_store() -> Path:
    """Return the etcd; `ClusterError` where there is none."""
    return find_etcd()


def lay_out(directory: Path, name: str, host: str) -> str:
    """Write its configuration; return where it will listen on `host`, as `127.0.0.1:2379`."""
    program = find_store()
    client, peer = (f"{host}:{port}" for port in reserve_ports(2, directory))
    place = directory / "store"
    (place / "data").mkdir(parents=True, mode=0o700)
    settings = {
        "name": "store",
        "data-dir": str(place / "data"),
        "listen-client-urls": f"http://{client}",
        "advertise-client-urls": f"http://{client}",
        "listen-peer-urls": f"http://{peer}",
        "initial-advertise-peer-urls": f"http://{peer}",
        "initial-cluster": f"store=http://{peer}",
        "initial-cluster-token": name,
        "enable-grpc-gateway": True,  # Patroni asks by it
        "log-level": "warn",
    }
    (place / _FILE).write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    (place / _PROGRAM).write_text(str(program), encoding="utf-8")
    return client


def start(directory: Path) -> None:
    """Start the lab's store and return once it serves; safe where it does."""
    node = _node(directory)
    beside.start(node, lambda: _lacks(node.address))


def stop(directory: Path) -> None:
    """End the lab's store, if it has one."""
    if (directory / "store" / _FILE).is_file():
        host_for(_node(directory)).stop("kill")


def _node(directory: Path) -> Node:
    place = directory / "store"
    settings = yaml.safe_load((place / _FILE).read_text(encoding="utf-8"))
    address = settings["listen-client-urls"].removeprefix("http://")
    program = (place / _PROGRAM).read_text(encoding="utf-8")
    command = (program, "--config-file", str(place / _FILE))
    return beside.node_of(place, address, command, place / _FILE)


def _lacks(address: str) -> str:
    connection = HTTPConnection(address, timeout=1.0)
    try:
        connection.request("GET", "/health")
        health = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError) as error:
        return f"etcd at {address} does not answer: {error}"
    finally:
        connection.close()
    return "" if str(health.get("health")) == "true" else f"etcd at {address} says {health}"
