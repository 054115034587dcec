"""What an inventory says of a node that is a container: which one, and of which engine.

    host:
      kind: docker
      container: stone-1
      config_file: /etc/stone/stone.conf

`docs/docker.md` explains every setting.
"""

import ipaddress
import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from brownout.base.settings import LocalFile, Settings
from brownout.inventory.model import HostSpec
from brownout.machine.deadman import DEFAULT_UNDO_AFTER_S

__all__ = ["DockerSpec", "EngineSettings", "EngineTls"]

_Seconds = Annotated[float, Field(gt=0, le=86_400)]
_FORM = re.compile(r"unix:///\S+|tcp://(?P<host>\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):\d{1,5}")


class EngineTls(Settings):
    """How an engine that is reached by the network is known, and how it knows us."""

    ca_file: Annotated[LocalFile, Field(description="whom the engine's certificate is from")]
    certificate_file: Annotated[LocalFile, Field(description="our certificate, PEM")]
    key_file: Annotated[LocalFile, Field(description="its key, PEM, without a passphrase")]


class EngineSettings(Settings):
    """One Docker engine. Nothing is read from the environment or from Docker's own settings."""

    engine: Annotated[
        str, Field(description="unix:///path of its socket, or tcp://host:port with tls")
    ] = "unix:///var/run/docker.sock"
    tls: EngineTls | None = None
    timeout_s: Annotated[_Seconds, Field(description="for one answer of the engine")] = 30.0

    @field_validator("engine")
    @classmethod
    def _is_an_address(cls, engine: str) -> str:
        if not _FORM.fullmatch(engine):
            raise ValueError("wanted unix:///path or tcp://host:port")
        return engine

    @model_validator(mode="after")
    def _is_encrypted(self) -> Self:
        """Access to an engine is root on its machine."""
        match = _FORM.fullmatch(self.engine)
        host = match["host"] if match else None
        if host is None and self.tls is not None:
            raise ValueError("found tls with a unix socket, wanted tcp://host:port or no tls")
        if host is not None and self.tls is None and not _is_loopback(host):
            raise ValueError("an engine that is reached by the network wants tls")
        return self

    def only_engine(self) -> "EngineSettings":
        """Return what leads to the engine alone."""
        return EngineSettings.model_construct(
            engine=self.engine, tls=self.tls, timeout_s=self.timeout_s
        )


class DockerSpec(HostSpec, EngineSettings):
    """A node that is a container."""

    kind: Literal["docker"] = "docker"
    container: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", description="its name or id")
    ]
    undo_after_s: Annotated[
        _Seconds, Field(description="a paused node resumes by itself after this")
    ] = DEFAULT_UNDO_AFTER_S
    stop_timeout_s: Annotated[_Seconds, Field(description="for a clean stop")] = 60.0
    wipe_timeout_s: Annotated[_Seconds, Field(description="for emptying what is wiped")] = 3600.0

    def process(self, node_address: str) -> str:
        """Return the container and its engine."""
        return f"container {self.container} of {self.engine}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
