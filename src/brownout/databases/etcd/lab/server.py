"""Finding an etcd that starts on this machine, and what goes into its configuration file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ClusterError
from brownout.databases.etcd.lab.settings import EtcdLab
from brownout.databases.lab import beside, programs

__all__ = ["VARIABLE", "Ports", "configuration", "find_etcd"]

VARIABLE = "BROWNOUT_ETCD"
_SAYS = r"etcd Version: 3\.\d"
#: Old versions of keys are forgotten beyond so many, or a long load would fill the members' quota.
_KEPT_REVISIONS = 10_000
_QUOTA_BYTES = 8 * 2**30


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a member listens."""

    host: str
    client: int
    peer: int


def find_etcd() -> Path:
    """Return an etcd that runs here: BROWNOUT_ETCD, one on PATH, or that of a checkout.

    Raises `ClusterError` with every place that was looked at and why it would not do.
    """
    binary = programs.first(
        programs.named(VARIABLE, "etcd"),
        lambda program: programs.problem(program, _SAYS, "an etcd 3"),
        VARIABLE,
        "etcd",
    )
    if isinstance(binary, Path):
        return binary
    try:
        return beside.built("etcd", "a lab of etcd")
    except ClusterError as error:
        raise ClusterError(
            "; ".join((*binary, error.message)),
            f"install etcd (Debian: etcd-server), set {VARIABLE} to one, or {error.hint}",
        ) from error


def configuration(
    spec: EtcdLab, name: str, number: int, ports: Mapping[int, Ports], home: Path, data: Path
) -> str:
    """Return the text of the etcd.yaml of member `number` of those with these `ports`.

    It keeps its files in `home`, and its `data` where that says.
    """
    scheme, own = "https" if spec.secure else "http", ports[number]
    peers = [f"n{n}={scheme}://{at.host}:{at.peer}" for n, at in sorted(ports.items())]
    settings: dict[str, Any] = {
        "name": f"n{number}",
        "data-dir": str(data),
        "listen-client-urls": f"{scheme}://{own.host}:{own.client}",
        "advertise-client-urls": f"{scheme}://{own.host}:{own.client}",
        "listen-peer-urls": f"{scheme}://{own.host}:{own.peer}",
        "initial-advertise-peer-urls": f"{scheme}://{own.host}:{own.peer}",
        "initial-cluster": ",".join(peers),
        "initial-cluster-token": name,
        "initial-cluster-state": "new",
        "heartbeat-interval": spec.heartbeat_ms,
        "election-timeout": spec.election_timeout_ms,
        "auto-compaction-mode": "revision",
        "auto-compaction-retention": str(_KEPT_REVISIONS),
        "quota-backend-bytes": _QUOTA_BYTES,
        "enable-grpc-gateway": True,  # etcd 3.4 leaves it off where a file configures it
        "log-level": "warn",
    }
    if spec.secure:
        tls = home.parent / "tls"
        own_pem, trusted = str(tls / f"n{number}.pem"), str(tls / "ca.pem")
        secured = {
            "cert-file": own_pem,
            "key-file": own_pem,
            "trusted-ca-file": trusted,
            "client-cert-auth": True,
        }
        settings |= {"client-transport-security": secured, "peer-transport-security": secured}
    return yaml.safe_dump(settings, sort_keys=False)


if __name__ == "__main__":
    print(find_etcd())  # for the Makefile, whose Go tests want one
