"""Inventories of Ansible in the shapes that people publish, as `ansible-inventory --list` has them.

The names and numbers are ours.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.wording import naming

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.importers import ansible
from brownout.inventory.importers.ansible_variables import Wanted
from brownout.inventory.importers.document import server_of, written
from brownout.inventory.model import Cluster
from brownout.machine.ssh.spec import SshSpec

Hosts = Mapping[str, Mapping[str, Any]]


def listing(groups: Mapping[str, Sequence[str]], hosts: Hosts, **children: Sequence[str]) -> str:
    """Return what Ansible lists of groups with hosts, and of groups with groups."""
    return json.dumps(
        {
            "_meta": {"hostvars": hosts},
            "all": {"children": ["ungrouped", *groups, *children]},
            **{name: {"hosts": list(of)} for name, of in groups.items()},
            **{name: {"children": list(of)} for name, of in children.items()},
        }
    )


def text_of(listed: str, database: str, groups: str, **wanted: Any) -> str:
    of = Wanted(tuple(groups.split(",")), database, server_of(database), **wanted)
    return written(ansible.read(listed, "hosts", of), database, of.port, Path("x.yaml"))


def cluster_of(listed: str, database: str, groups: str, **wanted: Any) -> Cluster:
    text = text_of(listed, database, groups, **wanted)
    return inventory.parse(yaml.safe_load(text), Path("x.yaml"))


def login(cluster: Cluster) -> list[str]:
    """Return where the login of each node leads, where that is another address."""
    return [getattr(node.host, "address", "") for node in cluster.nodes]


KUBESPRAY = listing(
    {"kube_control_plane": ["cp1", "cp2"], "kube_node": ["w1"]},
    {
        f"cp{n}": {"ansible_host": f"203.0.113.{n}", "ip": f"10.0.0.{n}", "etcd_member_name": "e"}
        for n in (1, 2)
    },
    etcd=["kube_control_plane"],
)


def test_the_address_of_a_node_is_not_that_of_its_login() -> None:
    cluster = cluster_of(KUBESPRAY, "etcd", "etcd")
    assert [node.address for node in cluster.nodes] == ["10.0.0.1:2379", "10.0.0.2:2379"]
    assert login(cluster) == ["203.0.113.1", "203.0.113.2"]
    assert "# Every node: its address is `ip`, a guess" in text_of(KUBESPRAY, "etcd", "etcd")


def test_the_variable_may_be_named_and_then_nothing_is_a_guess() -> None:
    for name, address in (("ansible_host", "203.0.113.1:2379"), ("ip", "10.0.0.1:2379")):
        text = text_of(KUBESPRAY, "etcd", "etcd", address_from=name)
        assert inventory.parse(yaml.safe_load(text), Path("x")).nodes[0].address == address
        assert "guess" not in text


@pytest.mark.parametrize(
    ("name", "variables", "address"),
    [
        ("n1", {"ansible_host": "198.51.100.1", "private_ip": "10.0.0.1"}, "10.0.0.1"),
        ("n1", {"access_ip": "10.0.0.1", "ip": "10.9.9.9"}, "10.0.0.1"),
        ("n1", {"private_ip_address": "10.0.0.1/24"}, "10.0.0.1"),
        ("n1", {"ansible_host": "198.51.100.1", "etcd_address": "10.0.0.1"}, "10.0.0.1"),
        ("10.0.0.1", {"ansible_host": "198.51.100.1", "hostname": "pg01"}, "10.0.0.1"),
        ("n1", {"ansible_host": "10.0.0.1", "listen_address": "0.0.0.0"}, "10.0.0.1"),
        ("n1", {"ansible_host": "10.0.0.1", "ip": "127.0.0.1", "private_ip": ""}, "10.0.0.1"),
        ("n1", {"ansible_host": "198.51.100.1", "n": 1, "ip": "10.0.0.{{ n }}"}, "10.0.0.1"),
        ("n1", {"ansible_host": "{{ ip }}", "ip": "{{ it }}", "it": "10.0.0.1"}, "10.0.0.1"),
        ("10.0.0.1", {"ip": "{{ ip }}"}, "10.0.0.1"),
    ],
)  # fmt: skip
def test_playbooks_name_addresses_in_many_ways(
    name: str, variables: Mapping[str, Any], address: str
) -> None:
    cluster = cluster_of(listing({"etcd": [name]}, {name: variables}), "etcd", "etcd")
    assert cluster.nodes[0].address == f"{address}:2379"


def test_a_template_that_only_a_playbook_fills_in_is_said() -> None:
    hosts = {"n1": {"ansible_host": "10.0.0.1", "ip": "{{ ansible_default_ipv4.address }}"}}
    assert "`ip` is a template" in text_of(listing({"etcd": ["n1"]}, hosts), "etcd", "etcd")


@pytest.mark.parametrize("value", ["127.0.0.1", "", "{{ facts.ip }}", "0.0.0.0 ::"])
def test_a_named_variable_without_an_address_is_refused(value: str) -> None:
    listed = listing({"etcd": ["n1", "n2"]}, {"n1": {"here": value}, "n2": {"here": "10.0.0.2"}})
    with pytest.raises(ConfigurationError, match=naming("host n1", "here", "--address-from")):
        cluster_of(listed, "etcd", "etcd", address_from="here")


ONE_MACHINE = {f"r{n}": {"ansible_host": "192.0.2.1", "redis_port": 7000 + n} for n in (1, 2)}


@pytest.mark.parametrize(
    ("hosts", "port_from"),
    [
        (ONE_MACHINE, ""),
        (ONE_MACHINE, "redis_port"),
        ({"r": {"ansible_host": "192.0.2.1", "redis_instances": {"7001": {}, "7002": {}}}}, ""),
        ({"r": {"ansible_host": "192.0.2.1", "redis_ports": [7001, "7002"]}}, ""),
        ({"r": {"ansible_host": "192.0.2.1", "of": [{"port": 7001}, {"port": 7002}]}}, "of"),
        ({"r": {"ansible_host": "192.0.2.1", "of": [{"at": 7001}, {"at": 7002}]}}, "of.at"),
    ],
)
def test_several_nodes_on_a_machine_have_their_ports_and_services(
    hosts: Hosts, port_from: str
) -> None:
    cluster = cluster_of(
        listing({"redis": list(hosts)}, hosts), "redis", "redis", port_from=port_from
    )
    assert [node.address for node in cluster.nodes] == ["192.0.2.1:7001", "192.0.2.1:7002"]
    assert [getattr(node.host, "service", "") for node in cluster.nodes] == [
        "redis-server@7001",
        "redis-server@7002",
    ]


def test_nodes_at_one_address_name_the_variables_that_may_tell_them_apart() -> None:
    hosts = {f"r{n}": {"ansible_host": "192.0.2.1", "at": 7000 + n, "other": 5} for n in (1, 2)}
    with pytest.raises(ConfigurationError, match=naming("r1, r2", "--port-from", "it may be at")):
        cluster_of(listing({"redis": list(hosts)}, hosts), "redis", "redis")
    with pytest.raises(ConfigurationError, match=naming("host r1", "none", "--port-from")):
        cluster_of(listing({"redis": list(hosts)}, hosts), "redis", "redis", port_from="none")


@pytest.mark.parametrize(
    ("variables", "port"),
    [
        ({"mongodb_net_port": 27018}, 27018),
        ({"mongod_port": 1, "mongodb_other_port": 2}, 1),
        ({"mongodb_a_port": 1, "mongodb_b_port": 2}, 27017),
        ({"mongodb_exporter_port": 9216}, 27017),
    ],
)
def test_a_port_is_guessed_where_one_variable_alone_may_be_it(
    variables: Mapping[str, int], port: int
) -> None:
    listed = listing({"mongodb": ["m"]}, {"m": variables})
    assert cluster_of(listed, "mongodb", "mongodb").nodes[0].address == f"m:{port}"


@pytest.mark.parametrize(
    ("arguments", "bastion"),
    [
        ("-o ProxyJump=ops@jump.example.com:2222", ("jump.example.com", "ops", 2222)),
        ("-C -J jump", ("jump", "", 22)),
        ('-o "ProxyJump jump"', ("jump", "", 22)),
        ("-o ProxyJump=a,b", None),
        ("-o ProxyCommand='ssh -W %h:%p jump'", None),
    ],
)
def test_a_machine_that_a_login_leads_through_is_a_bastion_or_a_note(
    arguments: str, bastion: tuple[str, str, int] | None
) -> None:
    listed = listing({"etcd": ["n1"]}, {"n1": {"ansible_ssh_common_args": arguments}})
    host = cluster_of(listed, "etcd", "etcd").nodes[0].host
    assert isinstance(host, SshSpec)
    jump = host.bastion
    assert (jump and (jump.address, jump.user, jump.port)) == bastion
    assert ("`bastion`" in text_of(listed, "etcd", "etcd")) is (bastion is None)


SHARDS = {"s0": ["s0a", "s0b"], "s1": ["s1a", "s1b"]}


def test_without_routers_a_node_has_a_note_of_the_shard_that_its_group_may_be() -> None:
    listed = listing(SHARDS, {}, mongodb=["s0", "s1"])
    text = text_of(listed, "mongodb", "mongodb")
    assert "# s1a: its group may be its shard: `s1`" in text
    assert "name the routers in `connection.hosts`" in text


@pytest.mark.parametrize("group", ["mongodb", "s0,s1"])
def test_groups_are_shards_where_there_are_routers(group: str) -> None:
    groups = {**SHARDS, "mongodb-cfgsrv": ["c1"], "mongos_servers": ["q1"]}
    hosts = {"q1": {"private_ip": "10.0.0.9", "ansible_host": "198.51.100.9"}}
    listed = listing(groups, hosts, mongodb=list(groups))
    cluster = cluster_of(listed, "mongodb", group)
    assert {node.name: node.shard for node in cluster.nodes} == {
        name: shard for shard, names in SHARDS.items() for name in names
    }
    assert cluster.connection.hosts == ("10.0.0.9:27017",)


def test_config_servers_beside_the_same_hosts_leave_none_out() -> None:
    listed = listing({"mongo_servers": ["m1"], "mongoc_servers": ["m1"], "mongos": ["m1"]}, {})
    assert [node.name for node in cluster_of(listed, "mongodb", "mongo_servers").nodes] == ["m1"]


def test_a_replica_sets_name_that_all_hosts_have_is_taken_over() -> None:
    hosts = {name: {"mongodb_replication_replset": "rs0"} for name in ("m1", "m2")}
    cluster = cluster_of(listing({"mongodb": list(hosts)}, hosts), "mongodb", "mongodb")
    assert cluster.connection.replica_set == "rs0"


def test_groups_of_another_database_are_no_shards() -> None:
    groups = {"redis-master": ["m"], "redis-slave": ["a", "b"]}
    cluster = cluster_of(listing(groups, {}), "redis", "redis-master,redis-slave")
    assert [node.name for node in cluster.nodes] == ["m", "a", "b"]
    assert not any(node.shard for node in cluster.nodes)


def test_every_unknown_group_is_named() -> None:
    with pytest.raises(ConfigurationError, match=naming("`a`", "`b`", "it has redis")):
        cluster_of(listing({"redis": ["r"]}, {}), "redis", "a,b")
