"""What an inventory says of a node on another machine: how to log in, and what the node is there.

    host:
      kind: ssh
      user: brownout
      identity_file: ~/.ssh/brownout
      bastion: {address: jump.example.com, user: ops}
      sudo: true
      service: stone

`docs/ssh.md` explains every setting.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from brownout.base.secret import Secret
from brownout.base.settings import AbsolutePath, LocalFile, Settings
from brownout.inventory.model import HostSpec, ServerDirectory
from brownout.machine.deadman import DEFAULT_UNDO_AFTER_S

__all__ = ["Bastion", "Commands", "Login", "RequiredHostName", "SshSpec"]

_Seconds = Annotated[float, Field(gt=0, le=86_400)]
_HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._:-]*$|^$")]
RequiredHostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._:-]*$")]


class Login(Settings):
    """One ssh server and how to log in to it.

    There is no setting that leaves its host key unchecked.
    """

    address: Annotated[
        _HostName, Field(description="name or IP address; by default that of the node's `address`")
    ] = ""
    port: Annotated[int, Field(ge=1, le=65_535)] = 22
    user: Annotated[str, Field(description="by default the one that runs brownout")] = ""
    identity_file: Annotated[
        LocalFile | None, Field(description="our private key; by default those of ~/.ssh and agent")
    ] = None
    passphrase: Annotated[Secret | None, Field(description="of `identity_file`")] = None
    password: Annotated[Secret | None, Field(description="where no key is accepted")] = None
    known_hosts: Annotated[
        LocalFile | None, Field(description="host keys to believe; by default ~/.ssh/known_hosts")
    ] = None
    bastion: Annotated["Bastion | None", Field(description="the way leads through it")] = None
    connect_timeout_s: _Seconds = 10.0
    keepalive_s: Annotated[
        _Seconds, Field(description="a connection that is silent for three of these is given up")
    ] = 5.0
    reconnect_s: Annotated[
        _Seconds, Field(description="for how long a lost connection is tried again")
    ] = 60.0

    def login(self, address: str = "") -> "Login":
        """Return the settings of the login alone, with `address` where none is given."""
        values: dict[str, Any] = {name: getattr(self, name) for name in Login.model_fields}
        given = self.model_fields_set & values.keys()
        return Login.model_construct(given, **{**values, "address": self.address or address})


class Bastion(Login):
    """A machine that only leads to others."""

    address: RequiredHostName


Login.model_rebuild()  # it names Bastion, which is made of it


class Commands(Settings):
    """How a node that is not a systemd service is started, stopped and found.

    Each is one line for `/bin/sh` on the node, run with sudo where `sudo` is set.
    """

    start: Annotated[str, Field(min_length=1)]
    stop: Annotated[str, Field(min_length=1, description="an orderly stop")]
    status: Annotated[str, Field(description="exits with 0 while the node runs")] = ""
    pid_file: Annotated[AbsolutePath | None, Field(description="holds the process's id")] = None
    pid_command: Annotated[str, Field(description="prints the process's id")] = ""
    program: Annotated[
        str, Field(min_length=1, pattern=r"^[^/\s]+$", description="what that process runs")
    ]
    log_file: Annotated[AbsolutePath | None, Field(description="gets what `start` prints")] = None

    @model_validator(mode="after")
    def _finds_its_process(self) -> Self:
        if (self.pid_file is None) is (not self.pid_command):
            raise ValueError("wanted one of pid_file, pid_command")
        return self


class SshSpec(HostSpec, Login):
    """A node on a machine that is reached by ssh."""

    kind: Literal["ssh"] = "ssh"
    server_directory: ServerDirectory = None
    sudo: Annotated[
        bool | Literal["helpers"],
        Field(description="run all by `sudo -n`: as root, or only what `brownout sudoers` allows"),
    ] = False
    helpers: Annotated[
        AbsolutePath | None,
        Field(description="where its helpers lie; by default /usr/local/lib/brownout/NODE"),
    ] = None
    service: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9@._:\\-]*$", description="the node's systemd unit")
    ] = ""
    commands: Commands | None = None
    devices: Annotated[
        tuple[AbsolutePath, ...],
        Field(description="block devices that a wipe may empty, by their stable ids"),
    ] = ()
    undo_after_s: Annotated[
        _Seconds, Field(description="a paused node resumes by itself after this")
    ] = DEFAULT_UNDO_AFTER_S
    stop_timeout_s: Annotated[_Seconds, Field(description="for a clean stop")] = 60.0
    start_timeout_s: Annotated[_Seconds, Field(description="for the service's start")] = 90.0
    wipe_timeout_s: Annotated[_Seconds, Field(description="for emptying what is wiped")] = 3600.0
    reboot_command: Annotated[str, Field(min_length=1)] = "systemctl reboot"
    reboot_timeout_s: Annotated[_Seconds, Field(description="until the new boot answers")] = 600.0

    @model_validator(mode="after")
    def _says_what_it_is(self) -> Self:
        if bool(self.service) is (self.commands is not None):
            raise ValueError("wanted one of service, commands")
        return self

    def process(self, node_address: str) -> str:
        """Return the unit, or what finds its process, and the machine."""
        machine = self.address or node_address.rpartition(":")[0]
        return f"{self._unit()} on {machine}:{self.port}"

    def _unit(self) -> str:
        if self.commands is None:
            return f"service {self.service.removesuffix('.service')}"
        if self.commands.pid_file is not None:
            return f"pid_file {self.commands.pid_file}"
        return f"pid_command {self.commands.pid_command}"
