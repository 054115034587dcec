"""What goes into a node's aerospike.conf. The real server and the stand-in both read it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.databases.aerospike.lab.settings import AerospikeLab

__all__ = ["NAMESPACE", "SETTINGS", "Ports", "as_made", "configuration"]

NAMESPACE = "test"
#: What can be changed while a node runs, as it is made here, as the adapter calls it.
SETTINGS: dict[str, Any] = {
    "replication_factor": 2,
    "migration_speed": {"migrate_threads": 1, "migrate_sleep": 1, "migrate_max_num_incoming": 4},
}


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a node listens. The stand-in has no admin port."""

    address: str
    service: int
    fabric: int
    heartbeat: int
    admin: int


def as_made() -> tuple[str, ...]:
    """Return what tells a node its settings as it was made; they may hold up a cluster otherwise.

    Nodes of different replication factors form none, and migrations may have been all but stopped.
    """
    speed = SETTINGS["migration_speed"]
    of_service = ("migrate_threads", "migrate_max_num_incoming")
    of_namespace = {
        "replication-factor": SETTINGS["replication_factor"],
        "migrate-sleep": speed["migrate_sleep"],
    }
    place = f"context=namespace;id={NAMESPACE}"
    return (
        *(f"set-config:{place};{name}={value}" for name, value in of_namespace.items()),
        *(f"set-config:context=service;{n.replace('_', '-')}={speed[n]}" for n in of_service),
    )


def configuration(
    spec: AerospikeLab, name: str, number: int, ports: Sequence[Ports], home: Path, data: Path
) -> str:
    """Return the file of node `number`, from 1; the members come first in `ports`, then spares.

    All nodes know the members; no node knows a spare before it joins. `data` is the directory of
    its storage.
    """
    own = ports[number - 1]
    rack = spec.rack_of(number)
    return _context(
        "service",
        f"cluster-name {name}",
        f"node-id A{number}",
        f"pidfile {home}/asd.pid",
        f"work-directory {home}/server",
        "run-as-daemon false",
        "log-millis true",
        "proto-fd-max 1024",
        f"migrate-threads {SETTINGS['migration_speed']['migrate_threads']}",
    ) + "".join(
        (
            _context("mod-lua", f"user-path {home}/server/usr/udf/lua"),
            _context("logging", _context(f"file {home}/asd.log", "context any info")),
            _context("network", *_network(spec, own, ports[: spec.members])),
            _context(
                f"namespace {NAMESPACE}",
                f"replication-factor {SETTINGS['replication_factor']}",
                *([f"rack-id {rack}"] if rack else []),
                _storage(spec, data),
            ),
        )
    )


def _network(spec: AerospikeLab, own: Ports, members: Sequence[Ports]) -> list[str]:
    seeds = [f"mesh-seed-address-port {p.address} {p.heartbeat}" for p in members if p is not own]
    return [
        _context("service", f"access-address {own.address}", *_endpoint(own, own.service)),
        _context("fabric", *_endpoint(own, own.fabric)),
        _context("admin", *_endpoint(own, own.admin)),
        _context(
            "heartbeat",
            "mode mesh",
            *_endpoint(own, own.heartbeat),
            *seeds,
            f"interval {spec.heartbeat_ms}",
            f"timeout {spec.heartbeat_timeout}",
        ),
    ]


def _storage(spec: AerospikeLab, data: Path) -> str:
    return _context(
        "storage-engine device",
        f"file {data}/{NAMESPACE}.dat",
        f"filesize {spec.device_mb}M",
    )


def _endpoint(own: Ports, port: int) -> tuple[str, str]:
    return f"address {own.address}", f"port {port}"


def _context(head: str, *lines: str) -> str:
    """Return `head { … }` with each line indented once more."""
    inner = "\n".join(lines).rstrip("\n").splitlines()
    return "\n".join([f"{head} {{", *(f"\t{line}" for line in inner), "}", ""])
