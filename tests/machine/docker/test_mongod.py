"""A real replica set in containers of a recorded engine: killed, wiped, started, whole again."""

from collections.abc import Iterator

import pytest
from tests.waiting import await_whole

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for


@pytest.fixture
def adapter(contained: Cluster) -> Iterator[Adapter]:
    """Asks the lab, every member of which is a container."""
    adapter = adapter_for(contained)
    yield adapter
    adapter.close()


def test_a_primary_is_killed_wiped_and_started_and_the_set_is_whole_again(
    adapter: Adapter,
) -> None:
    await_whole(adapter)
    (node,) = adapter.targets("primary", 4711)
    host = host_for(node)
    with pytest.raises(Refused, match="it is running; stop it first"):
        host.wipe(adapter.data_directories(node))

    killed = host.stop("kill")
    wiped = host.wipe(adapter.data_directories(node))
    started = host.start()

    await_whole(adapter)
    assert wiped.evidence["directories"][0]["files_removed"] > 20
    assert killed.effective_monotonic < wiped.effective_monotonic < started.effective_monotonic
