"""What tells a node from every other one: its addresses, and its process where that is ours."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from brownout.faults.claimed_nodes import nodes_of, overlap
from brownout.inventory.model import Cluster, ProcessSpec
from brownout.machine import procfs


def _cluster(*nodes: dict[str, object], **settings: object) -> Cluster:
    named = [{"name": f"n{number}", **node} for number, node in enumerate(nodes, 1)]
    document = {"name": "shop", "database": "mongodb", "environment": "test", "nodes": named}
    return Cluster.model_validate({**document, **settings})


def _same(first: Cluster, second: Cluster) -> bool:
    return overlap(nodes_of(first), nodes_of(second)) is not None


@pytest.mark.parametrize("other", ["localhost:7000", "[::1]:7000", "[::ffff:127.0.0.1]:7000"])
def test_every_way_to_write_this_machine_is_the_same_address(other: str) -> None:
    assert _same(_cluster({"address": "127.0.0.1:7000"}), _cluster({"address": other}))


@pytest.mark.parametrize("other", ["127.0.0.1:7001", "127.0.0.2:7000", "10.0.0.1:7000"])
def test_another_port_or_machine_is_another_node(other: str) -> None:
    assert not _same(_cluster({"address": "127.0.0.1:7000"}), _cluster({"address": other}))


def test_a_host_name_is_the_same_as_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.1.2.3", 0))]
    known = {"db1.example.com": answer, "10.1.2.3": answer}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port: known[host])
    by_name = _cluster({"address": "DB1.example.com:7000"})
    assert _same(by_name, _cluster({"address": "10.1.2.3:7000"}))


def test_a_name_that_nothing_resolves_is_compared_as_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def resolve(host: str, port: None) -> list[object]:
        raise socket.gaierror(f"{host} is not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    ours = _cluster({"address": "db1.invalid:7000"})
    assert _same(ours, _cluster({"address": "DB1.invalid:7000"}))
    assert not _same(ours, _cluster({"address": "db2.invalid:7000"}))


def test_the_loopback_of_another_container_is_another_address() -> None:
    (ours,) = nodes_of(_cluster({"address": "localhost:7000"}))
    here = str(Path("/proc/self/ns/net").readlink())
    theirs = replace(ours, identities=tuple(i.replace(here, "net:[1]") for i in ours.identities))
    assert overlap([ours], [ours])
    assert overlap([ours], [theirs]) is None


def test_a_process_of_this_machine_is_one_node_at_whatever_address(tmp_path: Path) -> None:
    me = procfs.identify(os.getpid())
    assert me is not None

    def at(address: str, pid_file: Path) -> Cluster:
        pid_file.write_text(f"{os.getpid()}\n")
        host = ProcessSpec(pid_file=pid_file, command=me.command)
        return _cluster({"address": address, "host": host})

    ours = at("127.0.0.1:7000", tmp_path / "a.pid")
    assert _same(ours, at("127.0.0.1:7001", tmp_path / "b.pid"))
    identities = nodes_of(ours)[0].identities
    assert f"process {me.pid} started {me.started}" in identities


def test_routers_and_a_cluster_of_atlas_are_held_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_TEST_KEY", "a-key")
    routed = {"connection": {"hosts": ["10.0.0.9:27017"]}}
    assert _same(
        _cluster({"address": "10.0.0.1:7000"}, **routed),
        _cluster({"address": "10.0.0.2:7000"}, **routed),
    )
    key = {each: {"env": "BROWNOUT_TEST_KEY"} for each in ("public_key", "private_key")}
    atlas = {"atlas": {"project": "a" * 24, "cluster": "orders", "api_key": key}}
    assert _same(
        _cluster({"address": "10.0.0.1:7000"}, **atlas),
        _cluster({"address": "10.0.0.2:7000"}, **atlas),
    )
