"""Ports for members that go and come back."""

import socket
from pathlib import Path

from brownout.databases.lab.ports import free_ports


def test_they_are_different_and_free() -> None:
    ports = free_ports(5)

    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))


def test_no_outgoing_connection_can_be_given_one() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])

    assert first < 22_000 or max(free_ports(20)) < first


def test_a_port_in_use_is_left_out() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        taken = free_ports(1)[0]
        with socket.create_server(("127.0.0.1", taken)):
            assert taken not in free_ports(500)
