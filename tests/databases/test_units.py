"""How a server is started, by a systemd unit and what changes it."""

from pathlib import Path
from typing import cast

import pytest

from brownout.base.errors import HostError
from brownout.databases.units import Start, started_by
from brownout.machine.host import Host

UNIT = Path("/lib/systemd/system/stone.service")
ETC = "/etc/systemd/system"


class Files:
    """A machine with these files."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def read_text(self, path: Path) -> str:
        """Return one of them."""
        if str(path) not in self.files:
            raise HostError(f"`{path}`: no such file")
        return self.files[str(path)]

    def entries(self, directory: Path) -> list[str]:
        """Return the names in a directory."""
        names = [Path(file).name for file in self.files if Path(file).parent == directory]
        if not names:
            raise HostError(f"`{directory}`: no such directory")
        return names


def start(text: str, **files: str) -> Start | None:
    named = {name.replace("__", "/"): content for name, content in files.items()}
    return started_by(cast(Host, Files(named)), UNIT, text)


def test_a_unit_names_the_command_and_its_variables() -> None:
    found = start(
        "[Unit]\nDescription=x\n[Service]\nEnvironment=A=1 'B=two words'\nEnvironment=C=3\n"
        "# ExecStart=/no\nExecStart=-/opt/stone --a ${A} \\\n  --b=$B --d ${D}\n"
    )
    assert found is not None
    assert found.variables == {"A": "1", "B": "two words", "C": "3"}
    assert found.command == ("/opt/stone", "--a", "1", "--b=two words", "--d", "${D}")


def test_files_of_variables_win_and_those_with_a_dash_may_be_missing() -> None:
    text = "[Service]\nEnvironment=A=1\nEnvironmentFile=-/no\nEnvironmentFile=/e\nExecStart=/s $A"
    machine = Files({"/e": 'export A="2"\nODD=\'x\n'})
    found = started_by(cast(Host, machine), UNIT, text)
    assert found == Start(("/s", "2"), {"A": "2", "ODD": "'x"})
    with pytest.raises(HostError, match="`/e`"):
        started_by(cast(Host, Files({})), UNIT, text)


def test_an_administrators_change_counts_and_an_empty_value_begins_anew() -> None:
    machine = Files(
        {
            f"{ETC}/stone.service.d/20.conf": "[Service]\nExecStart=\nExecStart=/s --d /n\n",
            "/lib/systemd/system/stone.service.d/10.conf": "[Service]\nEnvironment=\n",
            f"{ETC}/stone.service.d/README": "[Service]\nExecStart=/no\n",
        }
    )
    text = "[Service]\nEnvironment=A=1\nExecStart=/opt/stone --d /old\n"
    found = started_by(cast(Host, machine), UNIT, text)
    assert found == Start(("/s", "--d", "/n"), {})


def test_an_administrators_own_unit_counts_instead_of_the_packages() -> None:
    machine = Files({f"{ETC}/stone.service": "[Service]\nExecStart=/own\n"})
    found = started_by(cast(Host, machine), UNIT, "[Service]\nExecStart=/old\n")
    assert found == Start(("/own",), {})


def test_a_command_in_a_shell_is_read() -> None:
    found = start(
        "[Service]\nEnvironment=D=/d\n"
        'ExecStart=/bin/bash -c "GOMAXPROCS=2 /opt/stone --d=\\"${D}\\""'
    )
    assert found is not None
    assert found.command == ("GOMAXPROCS=2", "/opt/stone", "--d=/d")


@pytest.mark.parametrize("program", ["/usr/bin/docker run", "sudo podman run", "-/usr/bin/nerdctl"])
def test_a_unit_of_a_container_is_refused(program: str) -> None:
    with pytest.raises(HostError, match="starts a container"):
        start(f"[Service]\nExecStart={program} stone --d /d\n")


@pytest.mark.parametrize("text", ["", "ExecStart=/x\n", "storage:\n  dbPath: /d\n"])
def test_what_is_not_a_unit_starts_nothing(text: str) -> None:
    assert start(text) is None
