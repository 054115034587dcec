"""How clients reach a cluster: addresses, login, encryption."""

import ssl
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from brownout.base.pem import pem_problem
from brownout.base.secret import Secret, SecretUri
from brownout.base.settings import Address, LocalFile, Settings

__all__ = ["Auth", "Connection", "LoadLogin", "Tls"]


class Auth(Settings):
    """Who we are to the database."""

    mechanism: Literal["scram", "x509"] = "scram"
    username: str = ""
    password: Secret | None = None
    source: Annotated[str, Field(description="database that holds the user; scram only")] = "admin"

    @model_validator(mode="after")
    def _is_complete(self) -> "Auth":
        if self.mechanism == "x509":
            if self.password is not None:
                raise ValueError("found a password with x509; the certificate is the proof")
            return self
        missing = [n for n in ("username", "password") if not getattr(self, n)]
        if missing:
            raise ValueError(f"{self.mechanism} needs {' and '.join(missing)}")
        return self


class Tls(Settings):
    """How the connection is encrypted."""

    enabled: bool = True
    ca_file: LocalFile | None = None
    certificate_file: Annotated[
        LocalFile | None, Field(description="our certificate and its key in one PEM file")
    ] = None
    key_passphrase: Annotated[
        Secret | None, Field(description="of the key in certificate_file, if that is encrypted")
    ] = None
    insecure: Annotated[bool, Field(description="accept any certificate and name")] = False

    @model_validator(mode="after")
    def _can_be_used(self) -> "Tls":
        """A driver would say only `PEM lib`, and ask the terminal for a passphrase."""
        problem = pem_problem(self.ca_file, self.certificate_file, self.key_passphrase)
        if problem:
            raise ValueError(problem)
        return self

    def context(self) -> ssl.SSLContext:
        """Return it for connections that Python itself makes."""
        context = ssl.create_default_context(cafile=str(self.ca_file) if self.ca_file else None)
        if self.insecure:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if self.certificate_file:
            passphrase = self.key_passphrase.get_secret_value() if self.key_passphrase else None
            context.load_cert_chain(self.certificate_file, password=passphrase)
        return context

    def for_generator(self) -> dict[str, Any]:
        """Return it as the load generator's specification has it; it holds secrets.

        Our one PEM file holds certificate and key.
        """
        pem = str(self.certificate_file or "")
        return {
            "enabled": self.enabled,
            "ca_file": str(self.ca_file or ""),
            "cert_file": pem,
            "key_file": pem,
            "key_passphrase": self.key_passphrase.get_secret_value() if self.key_passphrase else "",
            "insecure_skip_verify": self.insecure,
        }


class Connection(Settings):
    """How clients connect: a URI, or hosts (by default the nodes' addresses) and the rest."""

    uri: Annotated[SecretUri | None, Field(description="instead of hosts")] = None
    hosts: tuple[Address, ...] = ()
    replica_set: str = ""
    auth: Auth | None = None
    tls: Tls | None = None
    options: dict[str, str | int | float | bool] = Field(
        default_factory=dict,
        description="for the load's driver, as write_concern; a workload's win",
    )
    timeout_s: Annotated[
        float, Field(gt=0, le=60, description="for one question to one member")
    ] = 2.0

    @model_validator(mode="after")
    def _says_it_once(self) -> "Connection":
        if self.uri is not None and self.hosts:
            raise ValueError("found uri and hosts, wanted one of them")
        if self.auth:
            self.check_login(self.auth)
        return self

    def check_login(self, auth: Auth, where: str = "") -> None:
        """Raise `ValueError` where such a login is not possible over this connection."""
        certified = self.uri is not None or (self.tls and self.tls.certificate_file)
        if auth.mechanism == "x509" and not certified:
            raise ValueError(f"{where}x509 needs tls.certificate_file")


class LoadLogin(Settings):
    """What stands under `load`, wherever the load comes from."""

    auth: Annotated[
        Auth | None,
        Field(description="who the load is to the database; by default `connection.auth`"),
    ] = None
