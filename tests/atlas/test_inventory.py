"""An inventory with `atlas`: read with its secrets, and wrong ones are said without them."""

from pathlib import Path

import pytest
from tests.atlas.recorded_api import PROJECT

from brownout.base.errors import ConfigurationError
from brownout.databases.mongodb.scenarios import support
from brownout.inventory import inventory

SECRET = "0rders-in-the-clear"


def written(directory: Path, atlas: str) -> Path:
    path = directory / "orders.yaml"
    path.write_text(
        "database: mongodb\nenvironment: test\n"
        'nodes: [{name: n1, address: "db1:27017"}]\n'
        f"atlas: {atlas}\n",
        encoding="utf-8",
    )
    return path


def test_its_login_comes_from_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("the-id", encoding="utf-8")
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    login = "{client_id: {file: id}, client_secret: {file: secret}}"

    cluster = inventory.load(
        written(tmp_path, f"{{project: {PROJECT}, cluster: orders, service_account: {login}}}")
    )

    assert cluster.atlas is not None
    assert cluster.atlas.secrets() == ["the-id", SECRET]
    assert SECRET not in repr(cluster) + cluster.model_dump_json()


@pytest.mark.parametrize(
    "login",
    [
        f"service_account: {SECRET}",
        f"service_account: {{client_id: {{env: NONE}}, client_secret: {SECRET}}}",
        f"api_key: [{SECRET}]",
        f"base_url: 'https://me:{SECRET}@cloud.mongodb.com'",
        f"base_url: 'me:{SECRET}@cloud.mongodb.com'",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, login: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        inventory.load(written(tmp_path, f"{{project: {PROJECT}, cluster: orders, {login}}}"))

    assert "atlas." in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_failover_can_be_tested_only_where_atlas_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET, encoding="utf-8")
    login = "api_key: {public_key: {file: key}, private_key: {file: key}}"
    of_atlas = inventory.load(
        written(tmp_path, f"{{project: {PROJECT}, cluster: orders, {login}}}")
    )

    assert support("failover", of_atlas).ok
    found = support("failover", of_atlas.model_copy(update={"atlas": None}))
    assert (found.ok, "`atlas`" in found.reason) == (False, True)
