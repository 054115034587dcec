"""An inventory, whatever is in it, is read or refused in words."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from tests.fuzzing import answers, changed, damaged, fuzzed

from brownout.inventory import inventory

TEXT = b"""
name: orders
database: mongodb
environment: test
allow_data_loss: true
guards: {max_nodes_down: 1, allowed_hours: ["Mon-Fri 09:00-16:30 Europe/Berlin"], deny_acts: [wipe]}
nodes:
  - name: n1
    address: "db1:27017"
    host: {pid_file: /run/m.pid, command: [mongod, --config, /etc/m.conf], stop_timeout_s: 30}
  - name: n2
    address: "db2:27017"
    rack: b
    host: {kind: ssh, address: db2, user: chaos, unit: mongod}
  - {name: n3, address: "db3:27017"}
connection:
  replica_set: orders
  auth: {username: u, password: {env: HOME}}
  tls: {enabled: true, insecure: true}
  options: {write_concern: majority}
  timeout_s: 2
atlas:
  project: 5e2211c17a3e5a48f5497de3
  cluster: orders
  base_url: http://127.0.0.1:8080
  api_key: {public_key: {env: HOME}, private_key: {env: HOME}}
load: {host: {address: load1, user: chaos}, directory: /var/tmp/brownout}
labels: {team: orders}
"""
DOCUMENT = yaml.safe_load(TEXT)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inventory") / "orders.yaml"


@fuzzed()
@given(data=damaged(TEXT))
def test_a_damaged_file_is_read_or_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    answers(lambda: inventory.declared(path).public())


@fuzzed(100)
@given(odd=changed(DOCUMENT))
def test_other_settings_than_wanted_are_read_or_refused(path: Path, odd: Any) -> None:
    path.write_text(yaml.safe_dump(odd))
    answers(lambda: inventory.declared(path).public())
