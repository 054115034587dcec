"""Litmus's kinds in a real API server, and namespaces with what rbac.yaml gives."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.docs.documents import ROOT
from tests.litmus.definitions import CRDS

from brownout.faults.litmus.engines import Where, litmus_at

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

    from brownout.faults.litmus.api import Litmus

Document = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A namespace: `runner` and `driver` are the kubeconfigs of the accounts of rbac.yaml."""

    namespace: str
    admin: Path
    runner: Path
    driver: Path
    api: Any

    def where(self, kubeconfig: Path | None = None) -> Where:
        return Where(self.namespace, str(kubeconfig or self.admin))


@pytest.fixture(scope="session")
def litmus_plane(control_plane: "ControlPlane") -> "ControlPlane":
    """A control plane that knows Litmus's three kinds, by definitions of our own writing."""
    control_plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(CRDS))
    names = [f"crd/{crd['metadata']['name']}" for crd in CRDS]
    control_plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)
    return control_plane


def place_in(plane: "ControlPlane", namespace: str) -> Place:
    """Give a namespace the accounts of infra/litmus/rbac.yaml."""
    text = (ROOT / "infra" / "litmus" / "rbac.yaml").read_text()
    own = text.replace("namespace: litmus", f"namespace: {namespace}")
    plane.kubectl("apply", "-f", "-", stdin=own)
    runner = plane.kubeconfig_as(namespace, "brownout-litmus")
    driver = plane.kubeconfig_as(namespace, "brownout-litmus-driver")
    return Place(namespace, plane.kubeconfig, runner, driver, plane.api)


@pytest.fixture
def place(litmus_plane: "ControlPlane") -> Place:
    """A namespace of this test's own."""
    return place_in(litmus_plane, litmus_plane.new_namespace())


@pytest.fixture
def litmus(place: Place) -> Iterator["Litmus"]:
    """Its API, as administrator."""
    found = litmus_at(place.where())
    try:
        yield found
    finally:
        found.close()
