"""What goes into a node's aerospike.conf. The real server and the stand-in both read it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.cluster.model import LabSpec

__all__ = ["NAMESPACE", "Ports", "configuration"]

NAMESPACE = "test"
_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a node listens. The stand-in has no admin port."""

    service: int
    fabric: int
    heartbeat: int
    admin: int


def configuration(spec: LabSpec, name: str, number: int, ports: Sequence[Ports], home: Path) -> str:
    """Return the file of node `number`, from 1, of as many as there are `ports`."""
    own = ports[number - 1]
    return _context(
        "service",
        f"cluster-name {name}",
        f"node-id A{number}",
        f"pidfile {home}/asd.pid",
        f"work-directory {home}/server",
        "run-as-daemon false",
        "log-millis true",
        "proto-fd-max 1024",
        "migrate-threads 1",
    ) + "".join(
        (
            _context("mod-lua", f"user-path {home}/server/usr/udf/lua"),
            _context("logging", _context(f"file {home}/asd.log", "context any info")),
            _context("network", *_network(spec, own, ports)),
            _context(f"namespace {NAMESPACE}", "replication-factor 2", _storage(spec, home)),
        )
    )


def _network(spec: LabSpec, own: Ports, ports: Sequence[Ports]) -> list[str]:
    seeds = [f"mesh-seed-address-port {_ADDRESS} {p.heartbeat}" for p in ports if p is not own]
    return [
        _context("service", f"access-address {_ADDRESS}", *_endpoint(own.service)),
        _context("fabric", *_endpoint(own.fabric)),
        _context("admin", *_endpoint(own.admin)),
        _context(
            "heartbeat",
            "mode mesh",
            *_endpoint(own.heartbeat),
            *seeds,
            f"interval {spec.heartbeat_ms}",
            f"timeout {spec.heartbeat_timeout}",
        ),
    ]


def _storage(spec: LabSpec, home: Path) -> str:
    return _context(
        "storage-engine device",
        f"file {home}/data/{NAMESPACE}.dat",
        f"filesize {spec.device_mb}M",
    )


def _endpoint(port: int) -> tuple[str, str]:
    return f"address {_ADDRESS}", f"port {port}"


def _context(head: str, *lines: str) -> str:
    """Return `head { … }` with each line indented once more."""
    inner = "\n".join(lines).rstrip("\n").splitlines()
    return "\n".join([f"{head} {{", *(f"\t{line}" for line in inner), "}", ""])
