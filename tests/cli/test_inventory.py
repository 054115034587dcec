"""`brownout inventory`: inventories of other tools' output, which load as they are."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.conftest import Brownout

from brownout.inventory import inventory

#: The shape of `aerolab inventory list -o json` of aerolab 8; the values are ours.
AEROLAB_8 = {
    "networks": [],
    "instances": [
        {
            "clusterName": "orders",
            "nodeNo": number,
            "IP": {"public": f"203.0.113.{number}", "private": f"10.0.0.{number}"},
            "instanceId": f"i-{number:04}",
            "backendType": "aws",
            "zoneName": "eu-west-1" + "abc"[number % 3],
            "lifeCycleState": "Running",
            "tags": {"aerolab.type": "aerospike", "aerolab.soft.version": "8.1.2.0"},
        }
        for number in (10, 1, 2)
    ],
    "images": [],
}
#: The shape of `aerolab cluster list -j` of aerolab 7.
AEROLAB_7 = [
    {"ClusterName": "orders", "NodeNo": "1", "PrivateIp": "10.0.0.1", "PublicIp": "",
     "InstanceId": "i-1", "State": "running", "Zone": "europe-west1-b", "Expires": ""},
    {"ClusterName": "orders", "NodeNo": "2", "PrivateIp": "10.0.0.2", "PublicIp": "",
     "InstanceId": "i-2", "State": "terminated", "Zone": "europe-west1-b", "Expires": ""},
]  # fmt: skip
INI = """\
# The machines of one team.
[aerospike]
as[01:03].example.com rack=r1
as04.example.com ansible_host=10.0.0.4 ansible_port=2222 ansible_user=admin   # another one

[load]
load1.example.com

[aerospike:vars]
ansible_user=ops
ansible_become=true
ansible_password="correct horse"

[database:children]
aerospike

[all:vars]
ansible_user=nobody
"""
YAML = """\
all:
  vars: {ansible_user: nobody}
  children:
    database:
      children:
        aerospike:
          hosts:
            as[01:03].example.com: {rack: r1}
            as04.example.com: {ansible_host: 10.0.0.4, ansible_port: 2222, ansible_user: admin}
          vars:
            ansible_user: ops
            ansible_become: true
            ansible_password: !vault |
              $ANSIBLE_VAULT;1.1;AES256
              6162
    load:
      hosts:
        load1.example.com:
"""
_OPS = {"ansible_user": "ops", "ansible_become": True, "ansible_password": "correct horse"}
LISTED = json.dumps({
    "_meta": {"hostvars": {
        **{f"as0{i}.example.com": {**_OPS, "rack": "r1"} for i in (1, 2, 3)},
        "as04.example.com": {**_OPS, "ansible_host": "10.0.0.4", "ansible_port": 2222,
                             "ansible_user": "admin"},
    }},
    "all": {"children": ["ungrouped", "database", "load"]},
    "database": {"children": ["aerospike"]},
    "aerospike": {"hosts": [f"as0{i}.example.com" for i in (1, 2, 3, 4)]},
    "load": {"hosts": ["load1.example.com"]},
})  # fmt: skip


@pytest.fixture
def given(home: Path) -> Any:
    """Write a file for the command to read."""

    def write(content: Any, name: str = "given") -> Path:
        text = content if isinstance(content, str) else json.dumps(content)
        (home / name).write_text(text)
        return Path(name)

    return write


def _hosts(text: str, tmp_path: Path) -> list[dict[str, Any]]:
    """The nodes of an inventory that was printed, as it is read."""
    cluster = inventory.parse(yaml.safe_load(text), tmp_path / "x.yaml")
    return [node.model_dump(mode="json", exclude_defaults=True) for node in cluster.nodes]


def test_aerolabs_nodes_become_an_inventory_that_is_right(
    brownout: Brownout, given: Any, home: Path
) -> None:
    said = brownout("inventory", "from-aerolab", given(AEROLAB_8), "-o", "clusters/orders.yaml")

    assert (said.code, said.out) == (0, "clusters/orders.yaml\n"), said.err
    checked = brownout("check", "clusters/orders.yaml")
    assert checked.code == 0, checked.err
    cluster = inventory.declared(home / "clusters" / "orders.yaml")
    assert (cluster.name, cluster.database) == ("orders", "aerospike")
    assert [(n.name, n.address, n.rack) for n in cluster.nodes] == [
        ("orders-1", "203.0.113.1:3000", "eu-west-1b"),
        ("orders-2", "203.0.113.2:3000", "eu-west-1c"),
        ("orders-10", "203.0.113.10:3000", "eu-west-1b"),
    ]
    assert not cluster.allow_data_loss


def test_private_addresses_and_another_name_may_be_wanted(
    brownout: Brownout, given: Any, tmp_path: Path
) -> None:
    said = brownout("inventory", "from-aerolab", given(AEROLAB_8), "--private", "--name", "mine",
                    "--port", "4000")  # fmt: skip
    assert "name: mine\n" in said.out
    assert _hosts(said.out, tmp_path)[0]["address"] == "10.0.0.1:4000"


def test_the_older_aerolab_is_read_too_without_what_is_gone(
    brownout: Brownout, given: Any, tmp_path: Path
) -> None:
    said = brownout("inventory", "from-aerolab", given({"Clusters": AEROLAB_7, "Clients": []}))
    (node,) = _hosts(said.out, tmp_path)
    assert (node["name"], node["address"]) == ("orders-1", "10.0.0.1:3000")
    assert said.out == brownout("inventory", "from-aerolab", given(AEROLAB_7)).out


def test_aerolabs_key_is_taken_over_and_a_stopped_node_is_noted(
    brownout: Brownout, given: Any, home: Path, tmp_path: Path
) -> None:
    (home / "aerolab-orders").write_text("k")
    key = {"SSHKeyPath": str(home / "aerolab-orders")}
    stopped = {**AEROLAB_7[0], **key, "NodeNo": "3", "PrivateIp": "10.0.0.3", "State": "stopped"}
    said = brownout("inventory", "from-aerolab", given([{**AEROLAB_7[0], **key}, stopped]))
    first, second = _hosts(said.out, tmp_path)
    assert first["host"]["identity_file"] == second["host"]["identity_file"] == key["SSHKeyPath"]
    assert "# orders-3: it was not running (stopped)" in said.out
    assert "# orders-1:" not in said.out


def test_containers_of_aerolabs_have_no_host(
    brownout: Brownout, given: Any, tmp_path: Path
) -> None:
    nodes = [{**AEROLAB_8["instances"][1], "backendType": "docker"}]
    said = brownout("inventory", "from-aerolab", given(nodes))
    assert "host" not in _hosts(said.out, tmp_path)[0]
    assert "# orders-1: it is a container of aerolab's" in said.out


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not valid JSON"),
        ({"error": 1}, "found neither `instances` nor `Clusters`"),
        ([], "has no node of an Aerospike cluster"),
        ([*AEROLAB_7, {**AEROLAB_7[0], "ClusterName": "b"}], "has the clusters b, orders; say whi"),
        ([1, {**AEROLAB_7[0], "PrivateIp": "N/A"}], "2 problems:\ngiven: [0]: found int"),
        ([AEROLAB_7[0], AEROLAB_7[0]], "orders-1"),
    ],
)
def test_what_is_not_aerolabs_is_refused(
    brownout: Brownout, given: Any, content: Any, told: str
) -> None:
    said = brownout("inventory", "from-aerolab", given(content))
    assert (said.code, said.out) == (64, "")
    assert told in said.err


@pytest.mark.parametrize("content", [INI, YAML, LISTED], ids=["ini", "yaml", "list"])
def test_every_form_of_an_ansible_inventory_says_the_same_and_no_password(
    brownout: Brownout, given: Any, tmp_path: Path, content: str
) -> None:
    said = brownout("inventory", "from-ansible", given(content))

    assert said.code == 0, said.err
    ssh = {"kind": "ssh", "sudo": True, "service": "aerospike",
           "config_file": "/etc/aerospike/aerospike.conf"}  # fmt: skip
    nodes = _hosts(said.out, tmp_path)
    assert [node["address"] for node in nodes] == [
        *(f"as0{i}.example.com:3000" for i in (1, 2, 3)), "10.0.0.4:3000",
    ]  # fmt: skip
    found = [{k: v for k, v in node["host"].items() if k != "commands"} for node in nodes]
    assert found[0] | {"kind": "ssh"} == {**ssh, "user": "ops"}
    assert found[3] | {"kind": "ssh"} == {**ssh, "user": "admin", "port": 2222}
    assert nodes[0]["rack"] == "r1"
    assert "correct horse" not in said.out + said.err
    assert "VAULT" not in said.out + said.err
    assert "`ansible_password` was not copied" in said.out


def test_a_group_that_is_only_named_has_no_hosts(brownout: Brownout, given: Any) -> None:
    listed = {"aerospike": {"hosts": ["a"], "children": ["unheard-of"]}}
    assert brownout("inventory", "from-ansible", given(listed)).code == 0


def test_a_key_file_is_named_where_it_is_there(
    brownout: Brownout, given: Any, home: Path, tmp_path: Path
) -> None:
    (home / "key").write_text("k")
    hosts = "[mongodb]\na ansible_ssh_private_key_file=key\nb ansible_private_key_file=~/no/such\n"
    said = brownout("inventory", "from-ansible", given(hosts), "--database", "mongodb")
    first, second = _hosts(said.out, tmp_path)
    assert first["host"]["identity_file"] == str(home / "key")
    assert "identity_file" not in second["host"]
    assert "# identity_file: ~/no/such   # there is no such file here" in said.out
    assert (first["address"], first["host"]["service"]) == ("a:27017", "mongod")


@pytest.mark.parametrize(
    ("content", "options", "database"),
    [
        ("[etcd:children]\ncontrol\n[control]\na\n[workers]\nb\n", (), "etcd"),
        ("[etcd]\nb\n[kv]\na\n", ("--group", "kv", "--database", "redis"), "redis"),
        ("[etcd]\nb\n[redis_prod]\na\n[redis_exporter]\nb\n", ("--database", "redis"), "redis"),
        ("[main]\na\n[replica]\nb\n[postgres_cluster:children]\nmain\n", (), "postgresql"),
        ("[blue:children]\nmongodb1\n[mongodb1]\na\n[mongos]\nb\n", ("--group", "blue"), "mongodb"),
    ],
)
def test_what_runs_is_what_the_name_of_the_group_says(
    brownout: Brownout, given: Any, content: str, options: tuple[str, ...], database: str
) -> None:
    said = brownout("inventory", "from-ansible", given(content), *options)
    assert said.code == 0, said.err
    written = yaml.safe_load(said.out)
    assert (written["database"], [node["name"] for node in written["nodes"]]) == (database, ["a"])


def test_a_group_whose_name_says_no_database_is_not_taken_for_one(
    brownout: Brownout, given: Any
) -> None:
    said = brownout("inventory", "from-ansible", given("[kv]\na\n"), "--group", "kv")
    assert (said.code, said.out) == (64, "")
    assert "--database" in said.err


def test_variables_that_lie_beside_an_inventory_are_read(
    brownout: Brownout, given: Any, home: Path, tmp_path: Path
) -> None:
    (home / "group_vars").mkdir()
    (home / "group_vars" / "aerospike").write_text("ansible_user: beside\nrack_id: 1.5\n")
    said = brownout("inventory", "from-ansible", given("[aerospike]\na1\n"))
    assert said.code == 0, said.err
    (node,) = _hosts(said.out, tmp_path)
    assert (node["host"]["user"], node["rack"]) == ("beside", "1.5")


def test_an_inventory_that_is_a_program_or_a_folder_is_read(
    brownout: Brownout, home: Path, tmp_path: Path
) -> None:
    program = home / "inventory" / "program"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat <<'end'\n{LISTED}\nend\n")
    program.chmod(0o700)
    for given in (program, program.parent):
        said = brownout("inventory", "from-ansible", given)
        assert said.code == 0, said.err
        assert len(_hosts(said.out, tmp_path)) == 4


def test_nobody_is_asked_for_the_password_of_a_vault(
    brownout: Brownout, given: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "ansible.cfg").write_text("[defaults]\nask_vault_pass = true\n")
    monkeypatch.setenv("ANSIBLE_CONFIG", str(home / "ansible.cfg"))
    said = brownout("inventory", "from-ansible", given(INI))
    assert (said.code, said.out) == (64, "")
    assert "`ansible-inventory -i given --list` says why" in said.err


def test_what_ansible_repeats_of_a_secret_is_not_repeated(brownout: Brownout, given: Any) -> None:
    said = brownout(
        "inventory", "from-ansible", given("[aerospike]\na1 ansible_password=correct horse\n")
    )
    assert said.code == 64
    assert "given: " in said.err
    assert "horse" not in said.err


def test_a_plugin_that_is_not_installed_is_named_with_its_collection(
    brownout: Brownout, given: Any
) -> None:
    file = given("plugin: amazon.aws.aws_ec2\nregions: [eu-west-1]\n", "stone.aws_ec2.yml")
    said = brownout("inventory", "from-ansible", file)
    assert said.code == 64
    assert "plugin `amazon.aws.aws_ec2` is not installed" in said.err
    assert "ansible-galaxy collection install amazon.aws" in said.err


def test_without_ansible_one_is_told_what_to_install(
    brownout: Brownout, given: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setattr(sys, "executable", str(home / "python"))
    said = brownout("inventory", "from-ansible", given(INI))
    assert said.code == 64
    assert "`ansible-inventory`, which reads inventories of Ansible, is not installed" in said.err
    assert "pip install ansible-core" in said.err
    assert brownout("inventory", "from-ansible", given(LISTED)).code == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"web": {"hosts": ["w1"]}}, "found none; it has web; say which by --group, and"),
        ("[aerospike]\n", "group `aerospike` has no hosts"),
        ('[aerospike]\na x="y\n', "given: Ansible cannot read it"),
        ({"_meta": {"hostvars": {"a": {"ansible_user": "{{ who }}"},
                                 "b": {"ansible_connection": "local"},
                                 "c": {"ansible_port": "x"}}},
          "aerospike": {"hosts": ["a", "b", "c"]}},
         "3 problems:\ngiven: host a: ansible_user: found a template"),
        ("aerospike: [a, b]\n", "found none; it has none; say which by --group"),
        ("[etcd]\na\n[redis_nodes]\nb\n", "found etcd (etcd), redis_nodes (redis); say which by -"),
        ({"_meta": {}, "aerospike": {"hosts": ["a"], "vars": {"ansible_user": "u"}}},
         "group `aerospike`: found `vars`, wanted them with each host; list without --export"),
        ('{"aerospike": ', "not valid JSON"),
        ("[aerospike]\na_b!c ansible_\x1f_password=x\n", "nodes[0].name: found 'a_b!c'"),
        ({"_meta": {"hostvars": {"b": {"ansible_host": "a"}}},
          "aerospike": {"hosts": ["a", "b"]}}, "address"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_all_that_is_wrong(
    brownout: Brownout, given: Any, content: Any, told: str
) -> None:
    said = brownout("inventory", "from-ansible", given(content))
    assert (said.code, said.out) == (64, "")
    assert told in said.err


def test_a_file_that_is_there_is_not_written_over(
    brownout: Brownout, given: Any, home: Path
) -> None:
    (home / "mine.yaml").write_text("precious")
    said = brownout("inventory", "from-ansible", given(LISTED), "-o", "mine.yaml")
    assert said.code == 64
    assert "mine.yaml: is there already and is not written over" in said.err
    assert (home / "mine.yaml").read_text() == "precious"
