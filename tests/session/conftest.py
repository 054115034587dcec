"""Breaking things of a lab: a module says by its fixture `cluster` of which one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import await_whole

from brownout.cluster.adapter import Adapter, adapter_for
from brownout.cluster.model import Cluster
from brownout.run.events import EventLog, read_events
from brownout.session import debts
from brownout.session.faults import Faults
from brownout.session.heal import still_broken


@pytest.fixture
def adapter(cluster: Cluster) -> Iterator[Adapter]:
    """Asks the lab."""
    found = adapter_for(cluster)
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where what is done is written down; there once anything is."""
    return tmp_path / "events.ndjson"


@pytest.fixture
def faults(cluster: Cluster, adapter: Adapter, log: Path) -> Iterator[Faults]:
    """Breaks the lab; afterwards all is put back, by the record too, and the lab is whole."""
    found = Faults(cluster, adapter, EventLog(log), lambda monotonic: monotonic)
    yield found
    assert found.put_back() == []
    events = read_events(log) if log.exists() else []
    assert (still_broken(events), debts.left(events)) == ({}, ())
    await_whole(adapter)
