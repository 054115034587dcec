"""A lab of its own: of one member, when it freezes, everything does, and nothing fails over."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster, ProcessSpec

LAB = "lab-mongodb"


@contextmanager
def lab_of(members: int, name: str = LAB) -> Iterator[Cluster]:
    """Bring a lab of its own up, where child processes find it too, and take it down."""
    declared = inventory.declared(name)
    assert declared.lab is not None
    spec = declared.lab.model_copy(update={"members": members})
    with TemporaryDirectory() as directory:
        os.environ["BROWNOUT_LAB_DIR"] = directory
        os.environ["BROWNOUT_STATE"] = f"{directory}/state"
        os.environ["BROWNOUT_RUNS"] = f"{directory}/runs"
        try:
            yield lab.up(declared.model_copy(update={"lab": spec}))
        finally:
            lab.down(name)


def tell(cluster: Cluster, what: signal.Signals) -> None:
    """Send a signal to the first member's process."""
    host = cluster.nodes[0].host
    assert isinstance(host, ProcessSpec)
    os.kill(int(host.pid_file.read_text()), what)
