"""What the user's own ~/.ssh/config says of a login, where the inventory leaves it open.

`HostName`, `Port`, `User`, the first `IdentityFile` that exists, and `ProxyJump`, as `ssh` itself
reads them. Whom we believe is never taken from there: host keys are checked against the
inventory's `known_hosts`, a jump host's too.
"""

import getpass
from pathlib import Path
from typing import Any, TypeVar

import asyncssh
from asyncssh.config import SSHClientConfig, SSHConfig

from brownout.base.errors import ConfigurationError
from brownout.machine.ssh.spec import Bastion, Login

__all__ = ["resolved"]

_Login = TypeVar("_Login", bound=Login)


def resolved(login: Login) -> Login:
    """Return `login` with what the user's configuration adds to it; the inventory wins."""
    file = Path("~/.ssh/config").expanduser()
    return _resolved(login, file) if file.is_file() else login


def _resolved(login: _Login, file: Path, *, jumps: bool = True) -> _Login:
    try:
        entry = _read(login, file)
    except (OSError, asyncssh.Error, ValueError) as error:
        raise ConfigurationError(f"ssh: `{file}` cannot be read: {error}") from error
    way = str(entry.get("ProxyJump") or "none") if jumps else "none"
    bastion = _resolved(login.bastion, file) if login.bastion else None
    if bastion is None and way != "none":
        bastion = _through(way, login, file)
    filled: dict[str, Any] = {
        "address": str(entry.get("Hostname", login.address)),
        "port": int(str(entry.get("Port", login.port))),
        "user": login.user or str(entry.get("User", "")),
        "identity_file": login.identity_file or _identity(entry),
        "bastion": bastion,
    }
    return login.model_copy(update=filled)


def _read(login: Login, file: Path) -> SSHConfig:
    port = login.port if "port" in login.model_fields_set else ()
    own, user = getpass.getuser(), login.user or ()
    return SSHClientConfig.load(None, [file], False, False, False, own, user, login.address, port)


def _identity(entry: SSHConfig) -> Path | None:
    files: Any = entry.get("IdentityFile") or ()
    paths = (Path(file).expanduser() for file in files)
    return next((path for path in paths if path.is_file()), None)


def _through(way: str, login: Login, file: Path) -> Bastion | None:
    """Return the last of the machines that `ProxyJump` names, each reached through the one before.

    They get our file of host keys and our time limits, since they are part of one way.
    """
    bastion: Bastion | None = None
    for jump in way.split(","):
        user, _, place = jump.strip().removeprefix("ssh://").rpartition("@")
        host, _, port = place.partition(":")
        settings: dict[str, Any] = {
            "address": host,
            "user": user,
            **({"port": port} if port else {}),
            "known_hosts": login.known_hosts,
            "connect_timeout_s": login.connect_timeout_s,
            "keepalive_s": login.keepalive_s,
            "reconnect_s": login.reconnect_s,
            "bastion": bastion,
        }
        bastion = _resolved(Bastion.model_validate(settings), file, jumps=False)
    return bastion
