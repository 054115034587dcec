"""Logging in, with the machine's host key checked against a known_hosts file. Always.

Whatever ~/.ssh/config says of host keys: what it may add to a login, `config` has added before.
"""

import getpass
from pathlib import Path
from typing import Any

import asyncssh

from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.machine.ssh.failures import host_key_problem, login_problem
from brownout.machine.ssh.spec import Login

__all__ = ["log_in", "user_of"]

_SILENT_KEEPALIVES = 3


class _Client(asyncssh.SSHClient):
    """Remembers a host key that the known_hosts file does not have, and refuses it."""

    def __init__(self) -> None:
        self.refused: asyncssh.SSHKey | None = None

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        self.refused = key
        return False


async def log_in(
    login: Login, tunnel: asyncssh.SSHClientConnection | None
) -> asyncssh.SSHClientConnection:
    """Return a new connection to `login`, through `tunnel` if there is one.

    Raises `ConfigurationError` for an unknown host key and a refused login, `HostError` for a
    host key that has changed, `Unreachable` where another try may help.
    """
    file = _known_hosts(login)
    client = _Client()
    try:
        return await asyncssh.connect(
            host=login.address,
            port=login.port,
            tunnel=tunnel or (),
            config=None,
            client_factory=lambda: client,
            known_hosts=str(file),
            connect_timeout=login.connect_timeout_s,
            login_timeout=login.connect_timeout_s,
            keepalive_interval=login.keepalive_s,
            keepalive_count_max=_SILENT_KEEPALIVES,
            **_who(login),
        )
    except asyncssh.HostKeyNotVerifiable as error:
        raise _distrust(error, login, file, client.refused) from error
    except (OSError, asyncssh.Error, asyncssh.KeyImportError) as error:
        raise login_problem(error, login, user_of(login)) from error


def user_of(login: Login) -> str:
    """Return who logs in."""
    return login.user or getpass.getuser()


def _who(login: Login) -> dict[str, Any]:
    """Return the proofs of who we are; an identity file that is named is the only key offered."""
    who: dict[str, Any] = {"username": user_of(login), "gss_host": None}
    if login.identity_file is not None:
        who |= {"client_keys": [str(login.identity_file)], "agent_path": None}
    if login.passphrase is not None:
        who["passphrase"] = login.passphrase.get_secret_value()
    if login.password is not None:
        who["password"] = login.password.get_secret_value()
    return who


def _known_hosts(login: Login) -> Path:
    file = login.known_hosts or Path("~/.ssh/known_hosts").expanduser()
    if file.is_file():
        return file
    raise ConfigurationError(
        f"ssh: there is no `{file}`, so no host key can be believed",
        f"make it: `ssh-keyscan -p {login.port} {login.address} >> {file}`, and compare the key "
        "with the machine's own",
    )


def _distrust(
    error: Exception, login: Login, file: Path, refused: asyncssh.SSHKey | None
) -> BrownoutError:
    if refused is None:  # revoked, or a certificate that does not hold
        return ConfigurationError(f"ssh: the host key of {login.address} is not believed: {error}")
    offered = refused.get_algorithm(), refused.get_fingerprint()
    keys = asyncssh.read_known_hosts(str(file)).match(login.address, login.address, login.port)[0]
    fingerprints = [key.get_fingerprint() for key in keys if isinstance(key, asyncssh.SSHKey)]
    return host_key_problem(login, str(file), offered, fingerprints)
