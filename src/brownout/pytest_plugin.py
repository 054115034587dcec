"""pytest with experiments: the fixture `resilience`, its options and its marker.

    def test_node_wipe(resilience):
        impact = resilience.run("node-wipe", cluster="staging")
        assert impact.recovery_time <= 5
        assert impact.ledger.lost == 0

pytest loads this wherever brownout is installed, so nothing else is imported until a test asks
for the fixture. docs/pytest.md explains it.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from brownout.testing.resilience import Resilience

__all__ = ["resilience"]

_MADE = pytest.StashKey["Resilience"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--resilience-cluster` and `--resilience-baseline`."""
    group = parser.getgroup("resilience", "experiments on a database cluster, by brownout")
    cluster = (
        "The cluster of tests that name none: an inventory's name or path. Several, separated by "
        "commas: one for each worker of pytest-xdist."
    )
    baseline = "A baseline pinned by `brownout baseline pin`."
    group.addoption("--resilience-cluster", metavar="NAME", default=None, help=cluster)
    group.addoption("--resilience-baseline", metavar="FILE", default=None, help=baseline)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "resilience(cluster=None, baseline=None): breaks something in a cluster; every test with "
        "the fixture `resilience` has it",
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse mistaken options before anything runs, in one line."""
    clusters = _listed(session.config.getoption("--resilience-cluster"))
    baseline = session.config.getoption("--resilience-baseline")
    if hasattr(session.config, "workerinput") or not (clusters or baseline):
        return
    from brownout.base.errors import BrownoutError
    from brownout.inventory import inventory
    from brownout.runs.gate import baseline as baselines

    try:
        for name in clusters:
            inventory.declared(name)
        if baseline:
            baselines.read(session.config.rootpath / baseline)
    except BrownoutError as error:
        raise pytest.UsageError(_one_line(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the fixture, so that `-m "not resilience"` leaves them out."""
    for item in items:
        if "resilience" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.resilience)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Say value, limit, interval and report of a comparison of ours that does not hold."""
    if not any(type(side).__module__ == "brownout.testing.value" for side in (left, right)):
        return None
    from brownout.testing.value import explained

    return explained(op, left, right)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A run that failed by its own limits fails a test whose assertions held, or that skips."""
    try:
        done = yield
    except (pytest.skip.Exception, pytest.xfail.Exception):
        _check(item)
        raise
    except BaseException as error:  # the test fails, and says why
        if _MADE in item.stash:
            item.stash[_MADE].forget()
            _say_usage(error)
        raise
    _check(item)
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """A fixture that names an experiment or a baseline that does not exist is a mistake, too."""
    try:
        return (yield)
    except Exception as error:
        if "resilience" in getattr(item, "fixturenames", ()):
            _say_usage(error)
        raise


def _say_usage(error: BaseException) -> None:
    """Raise a mistake in what a test asks for in one line, without a traceback through us."""
    from brownout.base.errors import ConfigurationError

    if isinstance(error, ConfigurationError):
        _fail(f"UsageError: {_one_line(error)}")


def _fail(message: str) -> NoReturn:
    raise pytest.fail.Exception(message, pytrace=False) from None


def _one_line(error: Exception) -> str:
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _listed(option: str | None) -> list[str]:
    return [name.strip() for name in (option or "").split(",") if name.strip()]


def _check(item: pytest.Item) -> None:
    """Raise for the runs of a test that failed, however it got the fixture."""
    if _MADE in item.stash:
        item.stash[_MADE].check()


@pytest.fixture
def resilience(request: pytest.FixtureRequest, _resilience_holds: Any) -> Iterator["Resilience"]:
    """Run experiments on a cluster, one process each, and assert what its users felt."""
    from brownout.testing.resilience import Resilience

    marker = _marked(request.node)
    clusters = _listed(marker.get("cluster") or request.config.getoption("--resilience-cluster"))
    baseline = marker.get("baseline") or request.config.getoption("--resilience-baseline")

    def note(name: str, value: object) -> None:
        request.node.user_properties.append((name, value))

    path = request.config.rootpath / Path(baseline) if baseline else None
    fixture = request.node.stash[_MADE] = Resilience(clusters, path, note, _resilience_holds)
    yield fixture
    fixture.close()


@pytest.fixture(scope="session")
def _resilience_holds(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The clusters that this worker of pytest-xdist has taken; None without workers."""
    worker = getattr(request.config, "workerinput", {}).get("workerid")
    if worker is None:
        yield None
        return
    from brownout.testing.hold import Holds

    holds = Holds(f"worker {worker}")
    yield holds
    holds.release()


def _marked(item: pytest.Item) -> dict[str, Any]:
    """What the markers nearest to the test say."""
    options: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("resilience"))):
        options |= marker.kwargs
    return options
