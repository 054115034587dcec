"""Fixtures for everyone: real labs of their own, gone after the test whatever happened in it."""

import functools
import gc
import logging
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from tests.fuzzing import EXAMPLES
from tests.own_lab import note_logs
from tests.sshd import WHY_NOT, Sshd
from tests.waiting import await_whole
from xdist.scheduler import LoadFileScheduling

from brownout.base.errors import BrownoutError, ClusterError
from brownout.databases.adapter import Adapter, adapter_for
from brownout.databases.cassandra.lab.server import find_server as find_cassandra
from brownout.databases.couchbase.lab.server import find_server as find_couchbase
from brownout.databases.redis.lab.server import find_redis
from brownout.faults import undos
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.machine import network
from brownout.machine.ssh import pool
from brownout.run.events import EventLog, read_events

if TYPE_CHECKING:  # its client takes a second to import, which only tests that use it are to pay
    from tests.control_plane import ControlPlane

# How fast an example is depends on who else uses the machine; pytest's timeout finds what hangs.
# The examples are the same every time; only `make soak` tries new ones.
settings.register_profile(
    "brownout", deadline=None, derandomize=not EXAMPLES, max_examples=EXAMPLES or 100
)
settings.load_profile("brownout")

# Thousands of tests are collected, and none of them is garbage. Looking through them takes a third
# of the collection's time and slows every later search for garbage.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but never search the tests."""
    gc.freeze()
    gc.enable()


LAB = "lab-mongodb"
AEROSPIKE = "lab-aerospike"
ETCD = "lab-etcd"
REDIS = "lab-redis"
POSTGRESQL = "lab-postgresql"
CASSANDRA = "lab-cassandra"
COUCHBASE = "lab-couchbase"
PARTITION = "lab-mongodb-partition"
SLOW = "lab-mongodb-slow"
SECURED = "lab-mongodb-secure"


#: The files that use a lab, where several workers share them; where the shared labs are, by name.
_USING_LABS = pytest.StashKey[set[Path]]()
_SHARED: set[tuple[Path, str]] = set()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several workers share the files, begin with those that use a lab or run pytest.

    They take longest. With short files at the end, all workers finish at about the same time.
    """
    if not hasattr(config, "workerinput"):
        return
    live, long = config.stash.setdefault(_USING_LABS, set()), set()
    for item in items:
        names = getattr(item, "fixturenames", ())
        if any("lab" in name for name in names):
            live.add(item.path)
        elif "pytester" in names:
            long.add(item.path)
    first = live | long
    items.sort(key=lambda item: item.path not in first)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Take the shared labs down where no file that uses any comes next: idle ones take time too.

    The next test that wants one brings it up again.
    """
    live = item.config.stash.get(_USING_LABS, set())
    if nextitem is not None and item.path in live and nextitem.path not in live:
        for directory, name in _SHARED:
            _take_down(directory, name)


def _take_down(directory: Path, name: str) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", str(directory))
        lab.down(name)


class _ByLab(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives each file to one worker, and all that use one of these labs to the same one.

    A lab takes time also while it idles.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return _lab_of(self.config.rootpath / file) or file


@functools.cache
def _lab_of(file: Path) -> str:
    text = file.read_text()
    if "security" in file.parts and "secured: " in text:
        return SECURED
    labs = (
        *((AEROSPIKE, "aerospike"), (CASSANDRA, "cassandra"), (COUCHBASE, "couchbase")),
        *((ETCD, "etcd"), (POSTGRESQL, "postgresql"), (REDIS, "redis")),
    )
    return next((lab for lab, it in labs if it in file.parts or f"lab_{it}" in text), "")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _ByLab | None:
    """Share the files out by lab where whole files are shared out."""
    return _ByLab(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Show the ends of the logs of the labs in which a test failed."""
    try:
        return (yield)
    except Exception as error:
        for given in getattr(item, "funcargs", {}).values():
            if isinstance(given, Cluster) and given.lab is not None:
                note_logs(error, given.name)
        raise


@pytest.fixture(scope="session", autouse=True)
def _hears_signals() -> None:
    """Let the programs that tests start receive SIGINT and SIGHUP.

    A shell starts background processes with SIGINT ignored, and nohup does the same with SIGHUP;
    a child inherits that. A signal with a handler gets its default action in the child instead.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # we go on, as under nohup


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the claims of runs apart from those of the person whose machine this is."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_STATE", str(tmp_path_factory.mktemp("state")))
        yield


def _whole(name: str) -> Cluster:
    """Mend what a failed test left broken; make the lab anew where that is beyond mending."""
    try:
        return lab.up(name)
    except BrownoutError as error:
        logging.getLogger("chaostoolkit").warning("%s is made anew: %s", name, error)
        lab.down(name)
        return lab.up(name)


def _lab_in(directory: Path) -> Iterator[Cluster]:
    """Bring a lab up below `directory`, where child processes find it too, and take it down."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", str(directory))
        environment.delenv("BROWNOUT_CLUSTERS", raising=False)
        try:
            yield lab.up(LAB)
        finally:
            _take_down(directory, LAB)


@pytest.fixture(scope="session")
def _session_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("lab")
    _SHARED.add((directory, LAB))
    yield from _lab_in(directory)


@pytest.fixture
def lab_mongodb(_session_lab: Cluster) -> Cluster:
    """A replica set of three that all tests share: leave it whole. It is whole at the start.

    Its name is `lab-mongodb`, and BROWNOUT_LAB_DIR points to it.
    """
    return _whole(LAB)


@pytest.fixture
def fresh_lab(tmp_path: Path) -> Iterator[Cluster]:
    """A replica set of three for one test, which may leave it in any condition.

    While it is there, BROWNOUT_LAB_DIR points to it instead of to the shared one.
    """
    yield from _lab_in(tmp_path / "lab")


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """A real sshd on loopback that this test alone uses; no connection to it is left."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    server = Sshd(tmp_path / "sshd").start()
    try:
        yield server
    finally:
        pool.close_all()
        server.stop()


@pytest.fixture(scope="session")
def homes_of_labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """Give each lab its place for the whole session, and take all down at the end."""
    homes: dict[str, Path] = {}

    def home(name: str) -> Path:
        if name not in homes:
            homes[name] = tmp_path_factory.mktemp(name)
            _SHARED.add((homes[name], name))
        return homes[name]

    try:
        yield home
    finally:
        for name, directory in homes.items():
            _take_down(directory, name)


def _shared(
    name: str, why_not: Callable[[], str] = lambda: "", environment: Mapping[str, str] | None = None
) -> Any:
    """A lab that all tests share, whole at the start; they leave it whole.

    During a test BROWNOUT_LAB_DIR points to it, so that child processes find it. Where `why_not`
    says something, the tests that want it are skipped.
    """

    @pytest.fixture
    def shared(homes_of_labs: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Cluster:
        if reason := why_not():
            pytest.skip(f"NOT TESTED: {name}: {reason}")
        for variable, value in (environment or {}).items():
            monkeypatch.setenv(variable, value)
        monkeypatch.setenv("BROWNOUT_LAB_DIR", str(homes_of_labs(name)))
        monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
        return _whole(name)

    return shared


def _lacks(find: Callable[[], object]) -> Callable[[], str]:
    """Say why a server is not to be found."""

    def why_not() -> str:
        try:
            find()
        except ClusterError as error:
            return str(error)
        return ""

    return why_not


lab_aerospike = _shared(AEROSPIKE, environment={"BROWNOUT_ASD": "stand-in"})
lab_etcd = _shared(ETCD)
lab_redis = _shared(REDIS, _lacks(find_redis))
lab_postgresql = _shared(POSTGRESQL)
#: Only for tests that are `matrix`: it takes 2 GB and, on a busy machine, minutes to start.
lab_cassandra = _shared(CASSANDRA, _lacks(find_cassandra))
#: A mock. Only for tests that are `matrix`: Maven fetches it.
lab_couchbase = _shared(COUCHBASE, _lacks(find_couchbase))
#: In network namespaces.
lab_partition = _shared(PARTITION, network.why_not)
#: Its members can be slowed, by netem where this machine has it, else by toxiproxy.
lab_slow = _shared(SLOW)


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator["ControlPlane"]:
    """A real Kubernetes on loopback that all tests share: work in a namespace of your own."""
    from tests import control_plane as plane_of_tests

    with plane_of_tests.running(tmp_path_factory.mktemp("kubernetes")) as plane:
        yield plane


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
    assert undos.left(events) == ()
    await_whole(adapter)
