"""A replica set with TLS and logins, users of each kind, and inventories that reach it."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo
import pytest
import yaml
from cryptography.hazmat.primitives import serialization as form

from brownout.databases.lab import certificates
from brownout.databases.lab.certificates import Authority
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.lab import security
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster

LAB = "lab-mongodb-secure"
USERNAME = "chaos-engineer"
VARIABLE = "BROWNOUT_TEST_SECRET"


@dataclass(frozen=True)
class SecuredLab:
    """The lab, and what logs in to it.

    Every secret has `mark` in it, which no way of quoting changes: to look for a leak is to look
    for the mark.
    """

    cluster: Cluster
    authority: Authority
    mark: str
    password: str
    passphrase: str

    @classmethod
    def up(cls) -> "SecuredLab":
        """Bring the lab up, with a user for a password beside its own."""
        authorities = []

        class Kept(Authority):
            def __init__(self, common_name: str) -> None:
                super().__init__(common_name)
                authorities.append(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(certificates, "Authority", Kept)
            cluster = lab.up(LAB)
        mark = f"leak{secrets.token_hex(8)}"
        found = cls(cluster, authorities[0], mark, f"p@ss/w:%ö&{mark}\"'?#", f"key {mark} phrase")
        found.add_user(USERNAME, found.password, security.ROLES)
        return found

    @property
    def tls(self) -> Path:
        """Where the lab's certificates lie."""
        return labs.directory(LAB) / "tls"

    def admin(self) -> pymongo.MongoClient[dict[str, Any]]:
        """Return a client that may do everything, of the whole set."""
        way = access(security.without_login(self.cluster))
        login = security.member_login(labs.directory(LAB))
        return pymongo.MongoClient(way.uri, **way.pymongo(), **login, timeoutMS=20_000)

    def add_user(self, name: str, password: str, roles: Any) -> None:
        """Make a user that logs in by SCRAM-SHA-256."""
        with self.admin() as admin:
            admin.admin.command(
                "createUser", name, pwd=password, roles=list(roles), mechanisms=["SCRAM-SHA-256"]
            )

    def scram(self, password: Mapping[str, str], username: str = USERNAME) -> dict[str, Any]:
        """Return `connection` with a password by reference, and no certificate of ours."""
        return {
            "replica_set": LAB,
            "auth": {"username": username, "password": dict(password)},
            "tls": {"ca_file": str(self.tls / "ca.pem")},
        }

    def x509(self, certificate: Path | None = None, **tls: Any) -> dict[str, Any]:
        """Return `connection` with a certificate, the lab's own unless another is given."""
        own = certificate or self.tls / "client.pem"
        files = {"ca_file": str(self.tls / "ca.pem"), "certificate_file": str(own)}
        return {"replica_set": LAB, "auth": {"mechanism": "x509"}, "tls": {**files, **tls}}

    def locked_certificate(self, where: Path) -> Path:
        """Write the lab's own certificate with its key encrypted by the passphrase."""
        text = (self.tls / "client.pem").read_bytes()
        key = form.load_pem_private_key(text, None)
        locked = form.BestAvailableEncryption(self.passphrase.encode())
        path = where / "locked.pem"
        path.write_bytes(
            text.partition(b"-----BEGIN PRIVATE KEY")[0]
            + key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, locked)
        )
        return path

    def inventory(self, where: Path, connection: Mapping[str, Any], **more: Any) -> Path:
        """Write an inventory of the lab's members with another `connection`; it is no lab."""
        running = yaml.safe_load((labs.directory(LAB) / "inventory.yaml").read_text())
        data = {**running, "name": "secured", "connection": dict(connection), **more}
        del data["lab"]
        path = where / "secured.yaml"
        path.write_text(yaml.safe_dump(data))
        return path
