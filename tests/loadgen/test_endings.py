"""However a load ends, its files say what happened until then."""

import json
import resource
import signal
from pathlib import Path

import pytest
from tests.loadgen.driving import (
    Load,
    Server,
    check_identities,
    ledger,
    rows,
    running,
    specification,
    stream,
    verified,
)
from tests.waiting import await_true

pytestmark = pytest.mark.live


def summary(run: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((run / "generator.json").read_text())
    return found


def test_without_anybody_to_listen_to_it_goes_on_for_a_while_and_completes_its_files(
    tmp_path: Path,
) -> None:
    with running(tmp_path, {}, stream(), verified(), linger_s=1.5) as (load, _, run):
        load.until(0.5)
        assert load.process.stdin is not None
        load.process.stdin.close()
        assert load.join() == 0
    check_identities(run)
    assert summary(run)["stop_reason"] == "end of input"
    assert rows(run / "series.csv")[-1].t > 1.5
    promised, found, _ = ledger(run)
    assert len(promised) == 400
    assert not found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_completes_the_files(tmp_path: Path, number: signal.Signals) -> None:
    script = {"effects": [{"at": 0.5, "for": 1.5, "effect": "freeze"}]}
    with running(tmp_path, script, stream(deadline_s=5), verified()) as (load, _, run):
        load.until(1)
        load.process.send_signal(number)
        assert load.hear("stopped")["stop_reason"] == "signal"
        assert load.join() == 0
    check_identities(run)
    assert summary(run)["ended"] is True
    assert summary(run)["undrained"] == 0
    assert len(ledger(run)[0]) == 400


def test_a_signal_ends_a_generator_that_does_nothing_yet(tmp_path: Path) -> None:
    with Load() as load:
        load.hear("ready")
        load.process.terminate()
        assert load.join() == 0


def test_exit_while_running_completes_the_files(tmp_path: Path) -> None:
    with running(tmp_path, {}, stream()) as (load, _, run):
        load.until(0.5)
        assert load.finish() == 0
    check_identities(run)
    assert summary(run)["stop_reason"] == "exit"


def test_a_killed_generator_leaves_whole_lines_and_says_it_did_not_end(tmp_path: Path) -> None:
    with running(tmp_path, {}, stream()) as (load, _, run):
        load.until(2)
        load.process.kill()
        assert load.join() == -signal.SIGKILL
    assert summary(run)["ended"] is False
    for name in ("series.csv", "outcomes.csv", "generator.csv", "lanes.csv", "latency.hlog"):
        assert (run / name).read_bytes().endswith(b"\n"), name
    assert rows(run / "series.csv")[-1].t >= 1.0


def test_a_full_disk_stops_the_load_and_says_so(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))

    streams = [stream(f"s{number}", rate=50) for number in range(8)]  # so many rows each 0.1 s

    with Server(tmp_path, {}) as server, Load(preexec=small_files) as load:
        load.begin(specification(server, tmp_path / "run", *streams))
        error = load.hear("error")
        assert error["where"] == "run directory"
        assert "file too large" in error["message"]
        assert load.join() == 74
    assert summary(tmp_path / "run")["ended"] is False
    assert (tmp_path / "run" / "series.csv").read_bytes().endswith(b"\n")


def test_a_directory_that_cannot_be_made_is_known_before_the_start(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with Server(tmp_path, {}) as server, Load() as load:
        load.say("open", spec=specification(server, tmp_path / "run", stream()))
        error = load.hear("error")
        assert error["where"] == "open"
        assert "cannot write the run directory" in error["message"]
        assert load.join() == 74


def test_a_reader_that_does_not_read_holds_nothing_up(tmp_path: Path) -> None:
    """The pipe fills, the load goes on, and its files are complete."""
    run = tmp_path / "run"
    mix = {"read": 1, "update": 1, "insert": 1, "increment": 1}
    streams = [stream(f"s{i}", rate=20, mix=mix) for i in range(20)]
    with Server(tmp_path, {}) as server, Load(listen=False) as load:
        load.say("open", spec=specification(server, run, *streams))
        load.say("load")
        load.say("start")
        await_true(lambda: (run / "series.csv").exists() and last_t(run) >= 6)
        load.process.terminate()
        assert load.join() == 0
    check_identities(run)
    assert summary(run)["ended"] is True


def last_t(run: Path) -> float:
    found = rows(run / "series.csv")
    return found[-1].t if found else 0.0
