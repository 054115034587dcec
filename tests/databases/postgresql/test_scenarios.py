"""What can be done to a cluster, said before anything is touched."""

from pathlib import Path

import pytest
from tests.databases.supports import supports

from brownout.databases.postgresql import scenarios
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.kubernetes import KubernetesSpec


def in_pods(server: Path | None) -> Cluster:
    host = KubernetesSpec(pod="db-0", container="main", program="patroni", server_directory=server)
    nodes = [
        Node(name=f"n{n}", address=f"p{n}:1", host=host.model_copy(update={"pod": f"db-{n}"}))
        for n in range(3)
    ]
    return Cluster(name="c", database="postgresql", environment="test", nodes=tuple(nodes))


def cluster(members: int, racks: int = 0, host: bool = True, server: bool = True) -> Cluster:
    nodes = tuple(
        Node(
            name=f"n{n}",
            address=f"p{n}:1",
            rack=f"r{n % racks}" if racks else "",
            host=ProcessSpec(
                pid_file=Path(f"/run/n{n}.pid"),
                command=("patroni",),
                server_directory=Path(f"/data/n{n}") if server else None,
            )
            if host
            else None,
        )
        for n in range(1, members + 1)
    )
    return Cluster(name="c", database="postgresql", environment="test", nodes=nodes)


@pytest.mark.parametrize(
    "act", ["node-kill", "supervisor", "wipe", "step_down_primary", "rolling", "resume"]
)
def test_three_members_can_do_it(act: str) -> None:
    assert supports(act, cluster(3), scenarios.support).ok


@pytest.mark.parametrize("act", ["kill", "pause", "wipe"])
def test_pods_can_do_it_where_their_servers_are_known(act: str) -> None:
    assert supports(act, in_pods(Path("/data")), scenarios.support).ok


@pytest.mark.parametrize("act", ["kill", "wipe", "rolling"])
def test_two_members_can_do_it_too_since_others_agree_who_leads(act: str) -> None:
    assert supports(act, cluster(2), scenarios.support).ok


@pytest.mark.parametrize(
    ("act", "of", "why"),
    [
        ("add", cluster(3), "PostgreSQL has no scenario `add`; it has"),
        ("stepdown", cluster(1), "take over"),
        ("wipe", cluster(1), "take over"),
        ("kill", cluster(3, host=False), "has no `host` in the inventory"),
        ("partition", cluster(3), "network"),
        ("racks", cluster(3), "0 racks"),
        ("supervisor", cluster(1), "take over"),
        ("supervisor", cluster(3, host=False), "has no `host` in the inventory"),
        ("supervisor", cluster(3, server=False), "node `n1`: set `host.server_dir"),
        ("kill", cluster(3, server=False), "only Patroni would be hit, and PostgreSQL would"),
        ("pause", cluster(3, server=False), "n1, n2, n3: set `host.server_dir"),
        ("wipe", cluster(3, server=False), "as a second primary"),
        ("pause", in_pods(None), "n0, n1, n2: set `host.server_dir"),
    ],
)
def test_what_cannot_be_done_says_why(act: str, of: Cluster, why: str) -> None:
    found = supports(act, of, scenarios.support)
    assert not found.ok
    assert why in found.reason


def test_a_clean_stop_is_patronis_own_affair() -> None:
    assert supports("stop", cluster(3, server=False), scenarios.support).ok
