"""What can go wrong on the way to another machine, in words and with what to do about it."""

import os
import re

import asyncssh

from brownout.base.errors import BrownoutError, ConfigurationError, Denied, HostError
from brownout.machine.ssh.spec import Login

__all__ = ["SUDO", "Unreachable", "host_key_problem", "login_problem", "name_of", "sudo_problem"]

#: Constant, so that one sudoers line can allow exactly this.
SUDO = "sudo -n -- /bin/sh -s"

_SUDO_REFUSALS = re.compile(
    r"a password is required|a terminal is required|must have a tty|not in the sudoers"
    r"|may not run sudo|not allowed to execute|no new privileges|must be owned by uid 0"
)
_SUDO_MISSING = re.compile(r"sudo: (command )?not found|sudo: No such file")


class Unreachable(HostError):
    """The machine cannot be reached at this moment; another try may succeed."""


def name_of(login: Login) -> str:
    """Return a machine's name for messages, as `db1.example.com` or `127.0.0.1 (port 2222)`."""
    return login.address if login.port == 22 else f"{login.address} (port {login.port})"


def login_problem(error: Exception, login: Login, user: str) -> BrownoutError:
    """Return why a login did not come about."""
    where = name_of(login)
    if isinstance(error, asyncssh.PermissionDenied):
        return ConfigurationError(
            f"ssh: {where} refuses user `{user}` with {_offered(login)}",
            "add our public key to that user's authorized_keys, or correct user, identity_file "
            "or password in the inventory",
        )
    if isinstance(error, asyncssh.KeyImportError | asyncssh.KeyEncryptionError):
        file = login.identity_file or "the default keys"
        return ConfigurationError(
            f"ssh: the identity file `{file}` for {where} cannot be used: {error}",
            "wanted a private key; give `passphrase` as a reference if it is encrypted",
        )
    if isinstance(error, asyncssh.KeyExchangeFailed | asyncssh.ProtocolNotSupported):
        return HostError(f"ssh: {where} and we have no common way to talk: {error}")
    way = f" through {name_of(login.bastion)}" if login.bastion else ""
    return Unreachable(
        f"ssh: {where} cannot be reached{way}: {_reason(error)}",
        "check address, port and network, and that sshd runs there",
    )


def host_key_problem(
    login: Login, file: str, offered: tuple[str, str], fingerprints: list[str]
) -> BrownoutError:
    """Return why a host key is not believed.

    `offered` is the key's type and fingerprint, `fingerprints` those that `file` has for the
    machine.
    """
    where, (kind, fingerprint) = name_of(login), offered
    if fingerprints:
        return HostError(
            f"ssh: the host key of {where} is not the one that `{file}` knows: found {kind} "
            f"{fingerprint}, wanted {' or '.join(fingerprints)}; the connection may be intercepted",
            f"find out why it changed; only then `ssh-keygen -R {_entry(login)} -f {file}` and "
            "add the new one",
        )
    return ConfigurationError(
        f"ssh: the host key of {where} is unknown: found {kind} {fingerprint}, and `{file}` has "
        "none for it",
        f"compare it with the machine's own (`ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub`), then "
        f"`ssh-keyscan -p {login.port} {login.address} >> {file}`",
    )


def sudo_problem(
    status: int, errors: str, login: Login, user: str, program: str = "/bin/sh -s"
) -> BrownoutError | None:
    """Return why sudo did not run a program; None if it did."""
    where = name_of(login)
    if status == 127 and _SUDO_MISSING.search(errors):
        return HostError(
            f"ssh: {where} has no sudo", "install it, or log in as root and leave `sudo` out"
        )
    if status and _SUDO_REFUSALS.search(errors):
        last_line = errors.strip().splitlines()[-1]
        return Denied(
            f"ssh: user `{user}` may not use sudo without a password on {where}: {last_line}",
            f"allow it in sudoers: `{user} ALL=(root) NOPASSWD: {program}`",
        )
    return None


def _offered(login: Login) -> str:
    keys = f"the key `{login.identity_file}`" if login.identity_file else "our default keys"
    return f"{keys} and the password" if login.password else keys


def _entry(login: Login) -> str:
    """Return how a known_hosts file names the machine."""
    return login.address if login.port == 22 else f"'[{login.address}]:{login.port}'"


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not error.errno:
        return "no answer in time"
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0:  # asyncio puts the address in place of the reason
        return os.strerror(number)
    return str(getattr(error, "reason", None) or error) or type(error).__name__
