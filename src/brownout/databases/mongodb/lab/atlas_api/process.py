"""The local API as a process of the lab: laid out, started, asked whether it is idle, stopped.

<lab>/atlas/api.json      where it listens, how long it waits
<lab>/atlas/id, secret    the login of its one service account, made anew for each lab
"""

import json
import secrets
import sys
import urllib.request
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.mongodb.lab.settings import AtlasLab
from brownout.inventory.atlas import AtlasSpec, ServiceAccount
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine.host import host_for
from brownout.machine.launch import last_words

__all__ = ["idle", "lay_out", "start", "stop"]

_ASK_S = 5.0
_STARTS_WITHIN_S = 60.0
_POLL_S = 0.05


def lay_out(directory: Path, name: str, spec: AtlasLab) -> AtlasSpec:
    """Write the API's settings and login; return how it is reached."""
    place = directory / "atlas"
    place.mkdir(mode=0o700)
    (port,) = reserve_ports(1, directory)
    settings = {
        "port": port,
        "begins_after_s": spec.begins_after_s,
        "python": sys.executable,  # who takes the lab down may have another name for it
    }
    (place / "api.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    login = {"id": f"mdb_sa_id_{secrets.token_hex(12)}", "secret": secrets.token_urlsafe(32)}
    for file, text in login.items():
        (place / file).touch(mode=0o600)
        (place / file).write_text(text, encoding="ascii")
    account = ServiceAccount(
        client_id=SecretStr(login["id"]), client_secret=SecretStr(login["secret"])
    )
    return AtlasSpec(
        project=secrets.token_hex(12),
        cluster=name,
        base_url=f"http://127.0.0.1:{port}",
        service_account=account,
    )


def start(directory: Path) -> None:
    """Start it and return once it answers; safe where it runs."""
    node = _node(directory)
    host_for(node).start()
    if not wait_until(
        lambda: idle(directory),
        _STARTS_WITHIN_S,
        _POLL_S,
        stopped=lambda: not host_for(node).running().running,
    ):
        words = last_words(node.host) if isinstance(node.host, ProcessSpec) else ""
        raise HostError(f"the local Atlas API does not answer{words}")


def idle(directory: Path) -> bool:
    """Whether it answers, and nothing is changed or being changed by it."""
    try:
        with urllib.request.urlopen(f"{_url(directory)}/idle", timeout=_ASK_S) as response:
            return bool(json.load(response)["idle"])
    except (OSError, ValueError, KeyError):
        return False


def stop(directory: Path) -> None:
    """End it, where this lab has one; it must not stop or resume members any more."""
    if (directory / "atlas" / "api.json").is_file():
        host_for(_node(directory)).stop("kill")


def _node(directory: Path) -> Node:
    place = directory / "atlas"
    module = "brownout.databases.mongodb.lab.atlas_api.server"
    host = ProcessSpec(
        config_file=place / "api.json",
        pid_file=place / "api.pid",
        log_file=place / "api.log",
        working_directory=place,
        command=(_settings(directory)["python"], "-P", "-m", module, str(place / "api.json")),
    )
    return Node(name="api", address=_url(directory).removeprefix("http://"), host=host)


def _url(directory: Path) -> str:
    return f"http://127.0.0.1:{_settings(directory)['port']}"


def _settings(directory: Path) -> dict[str, Any]:
    settings = json.loads((directory / "atlas" / "api.json").read_text(encoding="utf-8"))
    return dict(settings)
