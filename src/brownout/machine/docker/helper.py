"""Running a script where a container's volumes are: in a short-lived container beside it.

It is made of the node's own image, as root without what root may do to the machine, with the
node's volumes at their places and without any network. It runs whether the node does or not, and
nothing of it stays: one that a crash of ours left behind is removed by the next.
"""

import time
from typing import Any

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.machine.commands import Completed, printed
from brownout.machine.docker.container import Container

__all__ = ["HELPER", "HelperRunner"]

#: The label of our own containers; its value is the id of the container they are for.
HELPER = "brownout.helper"
_POLL_S = 0.02


class HelperRunner:
    """Runs scripts with the volumes of one container; each in a helper of its own."""

    def __init__(self, client: Any, container: Container) -> None:
        self._client, self._container = client, container

    @property
    def where(self) -> str:
        """Whose volumes, for messages."""
        return f"container {self._container.name}"

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        """Run a script and wait for its end."""
        self._remove_left()
        sent = time.monotonic()
        helper = self._create(text)
        try:
            self._client.start(helper)
            status = self._status(helper, timeout_s)
            received = time.monotonic()
            output = printed(self._client.logs(helper, stdout=True, stderr=False))
            errors = printed(self._client.logs(helper, stdout=False, stderr=True))
        finally:
            self._client.remove_container(helper, force=True)
        return Completed(status, output, errors, sent, received, sent)

    def _create(self, text: str) -> str:
        """Make the helper; the engine keeps what it prints, whatever it does for others."""
        created = self._client.create_container(
            image=self._container.image,
            entrypoint=["/bin/sh", "-c", text],
            user="0:0",
            working_dir="/",
            labels={HELPER: self._container.id},
            healthcheck={"test": ["NONE"]},
            use_config_proxy=False,
            host_config=self._client.create_host_config(
                volumes_from=[self._container.id],
                network_mode="none",
                cap_drop=["ALL"],
                cap_add=["DAC_OVERRIDE", "FOWNER"],
                log_config={"Type": "json-file"},
            ),
        )
        return str(created["Id"])

    def _status(self, helper: str, timeout_s: float) -> int:
        state = wait_until(
            lambda: self._client.inspect_container(helper)["State"],
            timeout_s,
            _POLL_S,
            so=lambda state: not state["Running"],
        )
        if state["Running"]:
            raise HostError(
                f"a script did not end within {timeout_s:g} s on {self.where}'s volumes"
            )
        return int(state["ExitCode"])

    def _remove_left(self) -> None:
        mine = {"label": f"{HELPER}={self._container.id}"}
        for left in self._client.containers(all=True, filters=mine):
            self._client.remove_container(left["Id"], force=True)
