"""A member's own configuration: flags, a YAML file, a manifest, a unit, or variables."""

from pathlib import Path
from typing import cast

import pytest

from brownout.base.errors import HostError, Refused
from brownout.databases.etcd.settings import in_command, in_file, living_settings, own_settings
from brownout.databases.etcd.storage import directories
from brownout.inventory.model import HostSpec, Node
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
        "data-dir:\t/d\t# here\nname: n1\n",
        'ETCD_DATA_DIR="/d"\n# ETCD_NAME="x"\nexport ETCD_NAME=n1\nPATH=/bin\n',
    ],
)
def test_a_file_is_yaml_or_variables(text: str) -> None:
    assert in_file(text) == {"data-dir": "/d", "name": "n1"}


def settings_of(text: str, **files: str) -> dict[str, str]:
    """Return what a node's own settings are whose inventory names a file with this text."""
    host = HostSpec(kind="ssh", config_file=Path("/c"), command=())
    named = {"/c": text, **{f"/{name}": content for name, content in files.items()}}
    own = own_settings(Node(name="n1", address="n1:1", host=host), cast(Host, Machine(named)))
    return dict(own)


class Machine:
    """A machine with these files and no directory that could be listed."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def read_text(self, path: Path) -> str:
        """Return one of them."""
        if str(path) not in self.files:
            raise HostError(f"`{path}`: no such file")
        return self.files[str(path)]

    def entries(self, directory: Path) -> list[str]:
        """Find nothing."""
        raise HostError(f"`{directory}`: no such directory")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Pod\nspec:\n  containers:\n  - {name: x}\n"
        "  - {name: etcd, command: [etcd, --data-dir=/d], args: [--name, n1]}\n",
        "kind: Pod\nspec: {containers: [{name: etcd, command: [etcd, '--name=$(WHO)'], env: ["
        "{name: WHO, value: n1}, {name: ETCD_DATA_DIR, value: /d}]}]}\n",
        "[Service]\nEnvironment=ETCD_NAME=n1\nExecStart=/usr/bin/etcd \\\n  --data-dir /d\n",
        "[Service]\nType=notify\nEnvironmentFile=-/env\nExecStart=/usr/bin/etcd --name ${WHO}\n",
        "ETCD_LOG='odd\nETCD_DATA_DIR=/d  # here\nETCD_NAME=n1\n",
        "ETCD_CONFIG_FILE=/yaml\nETCD_DATA_DIR=/does-not-count\n",
    ],
)
def test_a_manifest_a_unit_and_a_file_of_variables_are_read(text: str) -> None:
    found = settings_of(text, env="ETCD_DATA_DIR=/d\nWHO=n1\n", yaml="data-dir: /d\nname: n1\n")
    assert {name: found[name] for name in ("data-dir", "name")} == {"data-dir": "/d", "name": "n1"}


MANIFEST = """\
kind: Pod
spec:
  containers:
  - name: etcd
    command: [etcd, --data-dir=/var/lib/etcd/member-data]
    volumeMounts:
    - {name: pki, mountPath: /etc/pki}
    - {name: data, mountPath: /var/lib/etcd}
  volumes:
  - {name: data, VOLUME}
  - {name: pki, hostPath: {path: /etc/kubernetes/pki}}
"""


def test_a_manifests_directory_is_the_one_of_the_machine() -> None:
    text = MANIFEST.replace("VOLUME", "hostPath: {path: /mnt/ssd}")
    assert settings_of(text)["data-dir"] == "/mnt/ssd/member-data"


@pytest.mark.parametrize("volume", ["emptyDir: {}", "persistentVolumeClaim: {claimName: c}"])
def test_a_manifest_that_keeps_data_elsewhere_is_refused(volume: str) -> None:
    with pytest.raises(Refused, match="on no directory of the machine"):
        settings_of(MANIFEST.replace("VOLUME", volume))
    with pytest.raises(Refused, match="on no directory of the machine"):
        settings_of(MANIFEST.replace("mountPath: /var/lib/etcd", "mountPath: /else"))


def test_a_directory_that_systemd_or_a_shell_fills_in_is_not_known() -> None:
    own = settings_of("[Service]\nExecStart=/usr/bin/etcd --data-dir=/var/lib/%i\n")
    with pytest.raises(Refused, match="/var/lib/%i"):
        directories(Node(name="n1", address="n1:1"), own)


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
