"""A member's own configuration: flags, a YAML file, or a file of variables."""

from pathlib import Path
from typing import cast

import pytest

from brownout.base.errors import HostError
from brownout.databases.etcd.settings import in_command, in_file, living_settings
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host

HERE = Path("/etc/etcd")


class Files:
    """A machine with one file."""

    def read_text(self, path: Path) -> str:
        """Return that file."""
        if path != HERE / "etcd.yaml":
            raise HostError("no such file")
        return "data-dir: /y\n"


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("etcd", "--data-dir", "/d", "--name=n1"), {"data-dir": "/d", "name": "n1"}),
        (("etcd", "-data-dir=/d"), {"data-dir": "/d"}),
        (("etcd", "--pre-vote", "--name", "n1"), {"pre-vote": "true", "name": "n1"}),
        (("sh", "-c", "etcd"), {"c": "etcd"}),
        ((), {}),
    ],
)
def test_flags_are_read_in_both_ways(command: tuple[str, ...], found: dict[str, str]) -> None:
    assert in_command(command) == found


@pytest.mark.parametrize(
    "text",
    [
        "data-dir: /d\nname: n1\nlog-level:\n",
        'ETCD_DATA_DIR="/d"\n# ETCD_NAME="x"\nexport ETCD_NAME=n1\nPATH=/bin\n',
    ],
)
def test_a_file_is_yaml_or_variables(text: str) -> None:
    assert in_file(text) == {"data-dir": "/d", "name": "n1"}


@pytest.mark.parametrize(
    "text",
    [
        "kind: Pod\nspec:\n  containers:\n  - {name: x}\n"
        "  - {name: etcd, command: [etcd, --data-dir=/d], args: [--name, n1]}\n",
        "[Service]\nEnvironment=ETCD_NAME=n1\nExecStart=/usr/bin/etcd \\\n  --data-dir /d\n",
        "ETCD_LOG='odd\nETCD_DATA_DIR=/d  # here\nETCD_NAME=n1\n",
    ],
)
def test_a_manifest_a_unit_and_a_file_with_an_odd_quote_are_read(text: str) -> None:
    found = in_file(text)
    assert {name: found[name] for name in ("data-dir", "name")} == {"data-dir": "/d", "name": "n1"}


@pytest.mark.parametrize(
    ("footprint", "data"),
    [
        (Footprint(("etcd", "--data-dir=/d"), {"ETCD_DATA_DIR": "/e"}, Path("/w")), "/d"),
        (Footprint(("run.sh",), {"ETCD_DATA_DIR": "e"}, Path("/w")), "/w/e"),
        (Footprint(("/bin/etcd", "--name", "n1"), {}, Path("/w")), "/w/n1.etcd"),
        (Footprint(("etcd",), {}, Path("/")), "/default.etcd"),
        (Footprint(("etcd",), {}, None), None),  # where it works is not to be seen
        (Footprint(("run.sh",), {}, Path("/w")), None),
        (Footprint(("etcd", "--config-file", "etcd.yaml"), {"ETCD_DATA_DIR": "/e"}, HERE), "/y"),
        (Footprint(("run.sh",), {"ETCD_CONFIG_FILE": f"{HERE}/etcd.yaml"}, None), "/y"),
        (Footprint(("etcd", "--config-file", "/none.yaml"), {}, Path("/w")), None),
    ],
)
def test_a_living_member_is_known_by_how_it_was_started(
    footprint: Footprint, data: str | None
) -> None:
    assert living_settings(cast(Host, Files()), footprint).get("data-dir") == data


@pytest.mark.parametrize("text", ["", "[1, 2]", "ETCD_DATA_DIR\n", ": : :"])
def test_what_is_neither_sets_nothing(text: str) -> None:
    assert in_file(text) == {}
