"""Run commands in this process, with what they print and their exit code."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brownout import cli
from brownout.inventory.model import Cluster


@dataclass(frozen=True)
class Said:
    """A finished command: its exit code, what it printed, what it said on stderr."""

    code: int
    out: str
    err: str


Brownout = Callable[..., Said]


def set_each(settings: str) -> list[str]:
    """Return `--set` for each of some settings, as `data.keys=5,streams.orders.rate=3`."""
    return [word for each in settings.split(",") for word in ("--set", each)]


@pytest.fixture
def brownout(capsys: pytest.CaptureFixture[str]) -> Brownout:
    """Run `brownout` with arguments, with its own handling of errors."""

    def run(*arguments: str | Path) -> Said:
        capsys.readouterr()
        code = cli.run([str(argument) for argument in arguments])
        return Said(code, *capsys.readouterr())

    return run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with its own runs and state."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    for variable in ("BROWNOUT_CLUSTER", "BROWNOUT_CLUSTERS"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def database(request: pytest.FixtureRequest, lab_mongodb: Cluster, home: Path) -> Iterator[Any]:
    """The database that a module's NAMESPACE names; it is not there before and after."""
    name: str = request.module.NAMESPACE
    address = ",".join(node.address for node in lab_mongodb.nodes)
    client: pymongo.MongoClient[dict[str, Any]]
    with pymongo.MongoClient(f"mongodb://{address}/?replicaSet={lab_mongodb.name}") as client:
        client.drop_database(name)
        yield client[name]
        client.drop_database(name)
