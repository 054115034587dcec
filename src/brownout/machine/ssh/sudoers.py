"""A sudoers file that allows the helpers of one node and nothing else, and what installs it.

n1/sudoers       by digest, an alias for each act     ──▶ /etc/sudoers.d/brownout-n1
n1/helpers/kill  …                                    ──▶ /usr/local/lib/brownout/n1/kill
n1/install.sh    run as root on the node's machine
"""

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Cluster, Node
from brownout.machine.ssh import helpers
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.spec import SshSpec
from brownout.machine.ssh.trust import user_of

__all__ = ["Installation", "acts_of", "installation"]

#: What undoes each act that a node's helpers may be for.
_UNDOS = {
    "stop": "start",
    "kill": "start",
    "supervisor": "start",
    "wipe": "start",
    "pause": "resume",
    "partition": "join",
    "delay": "undelay",
    "reboot": "",
}
#: What needs no quoting in a sudoers file.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PATH = re.compile(r"/[A-Za-z0-9_./-]+")


@dataclass(frozen=True, slots=True)
class Installation:
    """What one node's machine gets: each file by its name, and the `sudoers` among them."""

    node: str
    files: Mapping[str, str]

    @property
    def sudoers(self) -> str:
        """What goes to /etc/sudoers.d."""
        return self.files["sudoers"]


def acts_of(cluster: Cluster, node: Node) -> set[str]:
    """Return what the inventory lets be done to a node by its host, with what undoes it."""
    if node.name in cluster.guards.deny_nodes:
        return set()
    denied = set(cluster.guards.deny_acts)
    if not cluster.allow_data_loss:
        denied.add("wipe")
    if getattr(node.host, "server_directory", None) is None:
        denied.add("supervisor")
    allowed = _UNDOS.keys() - denied
    return {*allowed, *(_UNDOS[act] for act in allowed)} - {""}


def installation(cluster: Cluster, node: Node, directories: Sequence[Path]) -> Installation:
    """Return what gives our login the rights for a node, and no others.

    `directories` are what a wipe may empty. Raises `ConfigurationError` for a node that is not
    reached by ssh, or by a login that needs no sudo.
    """
    spec = node.host
    if not isinstance(spec, SshSpec):
        raise ConfigurationError(f"node `{node.name}` is not reached by ssh, so it needs no sudo")
    address = node.address.rpartition(":")[0].strip("[]")
    user = user_of(connection_for(spec.login(address)).login)
    if user == "root" or not _USER.fullmatch(user):
        raise ConfigurationError(
            f"node `{node.name}`: found the login `{user}`, wanted a user who is not root",
            "set `user` of its host in the inventory",
        )
    acts = acts_of(cluster, node) - (set() if directories or spec.devices else {"wipe"})
    by_act = helpers.names_for(acts, spec)
    place = helpers.helpers_of(node.name, spec)
    if not _PATH.fullmatch(str(place)):
        raise ConfigurationError(
            f"node `{node.name}`: host.helpers: found `{place}`, wanted letters, digits and `_.-/`"
        )
    texts = helpers.programs(sorted({n for names in by_act.values() for n in names}), place)
    peers = [n.address.rpartition(":")[0].strip("[]") for n in cluster.every if n != node]
    files = {f"helpers/{name}": text for name, text in texts.items()}
    files[helpers.NODE] = helpers.settings(spec, node.address)
    files[helpers.DIRECTORIES] = _lines(map(str, directories))
    files[helpers.PEERS] = _lines(dict.fromkeys(peers))
    about = f"brownout {version('brownout')}, node {node.name} of {cluster.name}"
    files["sudoers"] = _sudoers(about, node.name, user, by_act, texts, str(place))
    files["install.sh"] = _install(about, node.name, str(place))
    return Installation(node.name, files)


def _sudoers(
    about: str,
    node: str,
    user: str,
    by_act: Mapping[str, Sequence[str]],
    texts: Mapping[str, str],
    place: str,
) -> str:
    whole = f"BROWNOUT_{re.sub('[^A-Z0-9]', '_', node.upper())}"
    lines = [f"# {about}: made by `brownout sudoers`, and made anew with a new version."]
    for act, names in by_act.items():
        commands = (
            f"sha256:{hashlib.sha256(texts[name].encode()).hexdigest()} {place}/{name}"
            for name in names
        )
        lines.append(f"Cmnd_Alias {whole}_{act.upper()} = " + ", \\\n    ".join(commands))
    lines.append(f"Cmnd_Alias {whole} = " + ", ".join(f"{whole}_{act.upper()}" for act in by_act))
    lines.append(f"Defaults!{whole} env_reset, !setenv, !requiretty")
    lines.append(f"{user} ALL=(root) NOPASSWD: {whole}")
    return _lines(lines)


def _install(about: str, node: str, place: str) -> str:
    target = f"/etc/sudoers.d/brownout-{re.sub('[^A-Za-z0-9_-]', '_', node)}"
    beside = " ".join((helpers.NODE, helpers.DIRECTORIES, helpers.PEERS))
    to = shlex.quote(place)
    return f"""\
#!/bin/sh
# {about}: run as root on its machine.
set -e
cd "$(dirname "$0")"
visudo -c -q -f sudoers
install -d -o root -g root -m 755 {to}
install -o root -g root -m 755 helpers/* {to}
install -o root -g root -m 644 {beside} {to}
install -o root -g root -m 440 sudoers {shlex.quote(target)}
"""


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
