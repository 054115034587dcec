"""What makes a lab a secured one: certificates of an authority of its own, and other secrets.

    tls/ca.pem          what everybody trusts
    tls/n1.pem, …       each node's certificate and key
    tls/client.pem      ours

The authority's key is not kept, so no further certificate can be made for this lab.
"""

from collections.abc import Mapping
from pathlib import Path

from brownout.base.errors import ConfigurationError
from brownout.base.extras import how_to_install
from brownout.inventory.connection import Tls

__all__ = ["issue", "keep"]


def issue(directory: Path, lab: str, nodes: Mapping[str, str], extra: str = "lab") -> Tls:
    """Write all certificates below the lab's directory; return how clients connect.

    `nodes` has the IP address of each. They are of the organisation `members`, we of `clients`.
    `extra` of brownout brings the package that makes certificates; without it this raises
    `ConfigurationError`.
    """
    try:
        from brownout.databases.lab.certificates import Authority
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"a secured lab needs the package `{error.name}`, which is not installed",
            how_to_install(extra),
        ) from error
    place = directory / "tls"
    place.mkdir(mode=0o700)
    authority = Authority(f"authority of {lab}")
    keep(place / "ca.pem", authority.pem)
    keep(place / "client.pem", authority.issue("brownout", "clients"))
    for node, address in nodes.items():
        hosts = (address, "localhost", f"{node}.{lab}.localhost")
        keep(place / f"{node}.pem", authority.issue(node, "members", hosts))
    return Tls(ca_file=place / "ca.pem", certificate_file=place / "client.pem")


def keep(path: Path, text: bytes) -> None:
    """Write what only its owner may read; some servers refuse a key that others can."""
    path.touch(mode=0o600)
    path.write_bytes(text)
