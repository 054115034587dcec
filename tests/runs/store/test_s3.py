"""Runs in a real S3 server: there and back, refused, and while it is away."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.cli.conftest import Brownout
from tests.s3_server import S3Server, serving

from brownout.inventory.model import Cluster
from brownout.runs.store.delivery import deliver

pytestmark = pytest.mark.kubernetes
RUN = "20261122T101500Z-node-kill-4711"


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server that the environment names."""
    with serving(home / "s3") as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


def test_a_run_goes_to_s3_and_back(
    brownout: Brownout, run: Path, server: S3Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert brownout("store", "push").code == 0
    there = {path.name for path in (server.bucket / "runs" / RUN).iterdir()}
    assert {"manifest.json", "series.csv", "impact.json", "events.ndjson"} <= there
    assert "hunter2" not in (server.bucket / "runs" / RUN / "generator.log").read_text()
    monkeypatch.setenv("BROWNOUT_RUNS", str(home / "elsewhere"))
    assert RUN in brownout("store", "list").out
    assert brownout("store", "pull", RUN).code == 0
    for name in ("series.csv", "latency.hlog", "impact.json"):
        assert (home / "elsewhere" / RUN / name).read_bytes() == (run / name).read_bytes()
    assert "PASS" in brownout("show", RUN).out


def test_a_file_of_many_parts_is_whole(brownout: Brownout, run: Path, server: S3Server) -> None:
    (run / "latency.hlog").write_bytes(bytes(range(256)) * 100_000)  # 25.6 MB: sent in parts
    assert brownout("store", "push").code == 0
    there = server.bucket / "runs" / RUN / "latency.hlog"
    assert there.read_bytes() == (run / "latency.hlog").read_bytes()


def test_a_server_that_is_away_for_a_while_is_waited_for(run: Path, server: S3Server) -> None:
    server.stop()
    said: list[str | None] = []
    delivering = threading.Thread(target=lambda: said.append(deliver(run)))
    delivering.start()
    delivering.join(1.0)  # it must not have given up when the server comes back
    assert delivering.is_alive()
    server.start()
    delivering.join(60)
    assert said == [None]
    assert (server.bucket / "runs" / RUN / "manifest.json").is_file()


def test_a_wrong_key_is_refused_at_once_and_not_repeated(
    brownout: Brownout, run: Path, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")
    said = brownout("store", "push")
    assert said.code == 2
    assert "refused" in said.err
    assert "times tried" not in said.err
    assert "hunter2" not in said.err + said.out


def test_an_experiment_that_ends_is_in_the_store(
    server: S3Server, tmp_path: Path, lab_mongodb: Cluster
) -> None:
    ran = chaos.run(chaos.quick(chaos.load("stepdown")), tmp_path, *chaos.GENTLY)
    assert ran.directory is not None, ran.output
    there = server.bucket / "runs" / ran.directory.name
    assert (there / "manifest.json").is_file()
    assert (there / "journal.json").read_bytes() == (ran.directory / "journal.json").read_bytes()
    assert ran.journal["brownout"]["not_stored"] is None
    assert (ran.code == 0) == (ran.impact["verdict"] == "pass")
