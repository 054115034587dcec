"""A member's own configuration: flags, a YAML file, or a file of variables."""

import pytest

from brownout.databases.etcd.settings import in_command, in_file


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


@pytest.mark.parametrize("text", ["", "[1, 2]", "ETCD_DATA_DIR\n", ": : :"])
def test_what_is_neither_sets_nothing(text: str) -> None:
    assert in_file(text) == {}
