"""Where a cluster's load comes from, in its inventory:

load:
  host: {address: load1.example.com, user: brownout, identity_file: ~/.ssh/brownout}
"""

from typing import Annotated

from pydantic import Field

from brownout.cluster.settings import AbsolutePath, Settings
from brownout.cluster.ssh.spec import Login, RequiredHostName

__all__ = ["LoadHost", "LoadSettings"]


class LoadHost(Login):
    """The machine that the load generator runs on; the cluster's addresses must lead from there."""

    address: RequiredHostName
    directory: Annotated[
        AbsolutePath | None, Field(description="for the binary and the run; by default ~/.cache")
    ] = None


class LoadSettings(Settings):
    """Where the load comes from; by default the machine that brownout runs on."""

    host: LoadHost | None = None
