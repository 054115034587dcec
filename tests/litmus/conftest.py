"""Litmus's kinds in a real API server, and namespaces with what rbac.yaml gives."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.docs.documents import ROOT
from tests.litmus.definitions import CRDS

from brownout.session.engines import Where, litmus_at

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

    from brownout.litmus.api import Litmus

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


@pytest.fixture
def place(litmus_plane: "ControlPlane") -> Place:
    """A namespace of this test's own, with the accounts of infra/litmus/rbac.yaml."""
    name = litmus_plane.new_namespace()
    text = (ROOT / "infra" / "litmus" / "rbac.yaml").read_text()
    litmus_plane.kubectl(
        "apply", "-f", "-", stdin=text.replace("namespace: litmus", f"namespace: {name}")
    )
    runner = litmus_plane.kubeconfig_as(name, "brownout-litmus")
    driver = litmus_plane.kubeconfig_as(name, "brownout-litmus-driver")
    return Place(name, litmus_plane.kubeconfig, runner, driver, litmus_plane.api)


@pytest.fixture
def litmus(place: Place) -> Iterator["Litmus"]:
    """Its API, as administrator."""
    found = litmus_at(place.where())
    try:
        yield found
    finally:
        found.close()
