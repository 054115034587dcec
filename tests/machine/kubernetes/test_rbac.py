"""Each act with its own Role alone, and without it, against a real API server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.control_plane import ControlPlane
from tests.machine.kubernetes.conftest import DATA, PROGRAM, Make, host
from tests.machine.kubernetes.roles import account

from brownout.base.errors import HostError
from brownout.kubernetes.objects import Objects
from brownout.machine.kubernetes import KubernetesHost

pytestmark = pytest.mark.kubernetes

As = Callable[..., KubernetesHost]


@pytest.fixture
def as_account(control_plane: ControlPlane, objects: Objects, namespace: str) -> As:
    """Return a host that is a service account of its own with these manifests and no others."""

    def give(*manifests: str, **settings: Any) -> KubernetesHost:
        kubeconfig = account(control_plane, objects, namespace, *manifests)
        return host(namespace, program=PROGRAM, kubeconfig=kubeconfig, **settings)

    return give


def test_who_has_no_role_sees_nothing(made: Make, as_account: As) -> None:
    made()
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot get resource .pods"):
        as_account().running()


def test_who_may_look_may_pause_and_plan_and_neither_stop_nor_wipe(
    made: Make, as_account: As
) -> None:
    made(shareProcessNamespace=True)
    looking = as_account("look")
    assert looking.running().running
    assert looking.entries(Path(DATA)) == []
    assert "DELETE" in looking.would("kill")
    assert looking.pause().evidence["process"] == "paused"
    looking.resume()
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot patch resource .pods.*rbac"):
        looking.stop("kill")
    assert looking.running().running


def test_who_may_stop_may_start_and_not_wipe_and_who_may_wipe_may_not_stop(
    made: Make, as_account: As
) -> None:
    made(shareProcessNamespace=True)
    stopping, wiping = as_account("look", "stop"), as_account("look", "wipe")
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot patch resource .pods"):
        wiping.stop("kill")
    stopping.stop("kill")
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot create resource .pods"):
        stopping.wipe([Path(DATA)])
    assert wiping.wipe([Path(DATA)]).evidence["state"] == "empty"
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot patch resource .pods"):
        wiping.start()
    stopping.start()
    assert stopping.running().running


def test_who_may_not_look_at_volumes_may_not_replace_a_claim(made: Make, as_account: As) -> None:
    made(shareProcessNamespace=True)
    stopping = as_account("look", "stop", "wipe", claims=["data-db-0"])
    replacing = as_account("look", "stop", "wipe", "wipe-volumes", claims=["data-db-0"])
    replacing.stop("kill")
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot get resource .persistentvolumes"):
        stopping.wipe([Path(DATA)])
    assert replacing.wipe([Path(DATA)]).evidence["claims"][0]["claim"] == "data-db-0"
    assert replacing.start().evidence["claims"][0]["claim"] == "data-db-0"
