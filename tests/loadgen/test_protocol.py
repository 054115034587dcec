"""The words that the generator understands, and those it says."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.loadgen.driving import Load, Server, rows, running, specification, stream, verified

from brownout.base.binary import find_loadgen


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_loadgen(), *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["serve", "--help"]])
def test_help_tells_the_commands_and_exit_codes(arguments: list[str]) -> None:
    done = command(*arguments)
    assert done.returncode == 0
    for word in ("loadgen run", "loadgen serve", "exit codes"):
        assert word in done.stdout


@pytest.mark.parametrize("name", ["columns", "percentiles"])
def test_a_command_that_reads_files_tells_what_it_writes(name: str) -> None:
    done = command(name, "--help")
    assert done.returncode == 0
    assert f"loadgen {name}" in done.stdout
    assert "exit codes" in done.stdout


def test_a_file_that_has_no_columns_is_refused(tmp_path: Path) -> None:
    done = command("columns", str(tmp_path / "errors.csv"))
    assert done.returncode == 1
    assert "wanted series.csv, outcomes.csv, lanes.csv or latency.hlog" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["walk"],
        ["run", "fast"],
        ["serve"],
        ["serve", "a", "b"],
        ["--fast"],
        ["serve", "none.yaml"],
        ["columns"],
        ["columns", "--fast", "series.csv"],
        ["percentiles", "latency.hlog"],
        ["percentiles", "latency.hlog", "1.5"],
        ["percentiles", "latency.hlog", "0.9", "0.5"],
    ],
)
def test_misuse_is_told_and_exits_64(arguments: list[str]) -> None:
    done = command(*arguments)
    assert done.returncode == 64
    assert done.stderr.startswith("loadgen: ")


def test_a_bad_script_is_refused_with_all_its_faults(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("lanes: 0\neffects: [{effect: explode, at: 1, for: 1}]")
    done = command("serve", str(script))
    assert done.returncode == 64
    assert "`lanes` is 0" in done.stderr
    assert "explode" in done.stderr


def test_version_is_one_line() -> None:
    done = command("--version")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1


def test_a_bad_specification_is_told_at_once_and_exits_64(tmp_path: Path) -> None:
    with Server(tmp_path, {}) as server, Load() as load:
        bad = specification(server, tmp_path / "run", stream("app", rate=-1, deadline_s=-1))
        load.say("open", spec=bad)
        error = load.hear("error")
        assert error["where"] == "open"
        for part in ('stream "app"', "`rate` is -1", "`deadline_s` is -1"):
            assert part in error["message"]
        assert load.join() == 64
    assert not (tmp_path / "run").exists()


def test_commands_out_of_order_are_refused_with_a_hint(tmp_path: Path) -> None:
    with Server(tmp_path, {}) as server, Load() as load:
        for cmd in ("load", "start", "stop", "verify", "clean"):
            load.say(cmd)
            error = load.hear("error")
            assert error["where"] == cmd
            assert error["hint"]
        load.say("dance")
        assert 'unknown command "dance"' in load.hear("error")["message"]
        load.ask("open", "opened", spec=specification(server, tmp_path / "run", stream()))
        load.say("start")
        assert "not loaded" in load.hear("error")["message"]
        assert load.finish() == 0


def test_a_server_that_is_not_there_is_an_error_and_may_be_tried_again(tmp_path: Path) -> None:
    with Server(tmp_path, {}) as server, Load() as load:
        good = specification(server, tmp_path / "run", stream())
        load.say("open", spec={**good, "connection": {"uri": "scripted://127.0.0.1:1"}})
        assert "127.0.0.1:1" in load.hear("error")["message"]
        load.ask("open", "opened", spec=good)


def test_the_clock_is_told_at_any_time(tmp_path: Path) -> None:
    with Load() as load:
        said = load.ask("clock", "clock", id=7)
        assert said == {"event": "clock", "id": 7, "t": None, "up": said["up"]}
        assert 0 < said["up"] < load.ask("clock", "clock", id=8)["up"]
    with running(tmp_path, {}, stream()) as (load, _, _):
        first = load.ask("clock", "clock", id="a")["t"]
        second = load.ask("clock", "clock", id="b")["t"]
        assert 0 <= first < second < 30


def test_live_events_hold_what_the_files_hold(tmp_path: Path) -> None:
    script = {"lanes": 2, "effects": [{"at": 0.5, "for": 1, "effect": "error", "share": 0.5}]}
    with running(tmp_path, script, stream(), verified()) as (load, _, run):
        load.until(2)
        load.ask("stop", "stopped")
        assert load.finish() == 0
        live = [event for event in load.events if event["event"] == "live"]
    for name in ("series", "outcomes"):
        told = [[str(field) for field in row[1:]] for event in live for row in event[name]]
        written = [list(row.values())[1:] for row in rows(run / f"{name}.csv")]
        times = [row[0] for event in live for row in event[name]]
        assert times == [row.t for row in rows(run / f"{name}.csv")][: len(times)]
        assert told == written[: len(told)]
        assert len(told) > 50
    causes = sum(event["causes"].get("overloaded", 0) for event in live)
    assert causes > 100
    last = live[-1]
    assert set(last["lanes"]) == {"lane-0", "lane-1"}
    assert last["p50_us"] <= last["p99_us"]
    assert last["lag_p99_ms"] is not None


def test_the_summary_is_there_from_the_start(tmp_path: Path) -> None:
    with running(tmp_path, {}, stream()) as (load, _, run):
        begun = json.loads((run / "generator.json").read_text())
        stopped = load.ask("stop", "stopped")
        ended = json.loads((run / "generator.json").read_text())
    assert begun["ended"] is False
    assert begun["driver_settings"]["pool"] == 64
    assert begun["pid"] == load.process.pid
    assert {name: value for name, value in stopped.items() if name != "event"} == ended
    assert set(begun) == set(ended)
    assert ended["loop"] == "open"


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    with Server(tmp_path, {}) as server:
        for code in (0, 74):
            with Load() as load:
                load.say("open", spec=specification(server, tmp_path / "run", stream()))
                load.hear("opened", "error")
                if code == 0:
                    load.say("exit")
                assert load.join() == code


def test_secrets_are_never_said_nor_written(tmp_path: Path) -> None:
    secret = "pa$$ w/rd"
    with Server(tmp_path, {}) as server, Load() as load:
        spec = specification(server, tmp_path / "run", stream())
        for uri in (f"scripted://user:{secret}@127.0.0.1:1", f"scripted://{secret}"):
            load.say("open", spec={**spec, "connection": {"uri": uri, "password": secret}})
            assert "***" in load.hear("error")["message"]
        assert secret not in json.dumps(load.events)


def test_inserts_never_meet_and_cleaning_empties_the_namespace(tmp_path: Path) -> None:
    with running(tmp_path, {}, stream(mix={"insert": 1, "read": 1})) as (load, _, run):
        load.until(1)
        stopped = load.ask("stop", "stopped")
        load.ask("clean", "cleaned")
    assert stopped["ok"] == stopped["offered"]
    assert {row["op"] for row in rows(run / "series.csv")} == {"read", "insert"}


def test_prometheus_sees_the_load(tmp_path: Path) -> None:
    script = {"effects": [{"at": 0, "for": 60, "effect": "error", "share": 0.5}]}
    with Server(tmp_path, script) as server, Load() as load:
        assert load.ask("metrics", "metrics", id=1)["text"] is None
        spec = specification(server, tmp_path / "run", stream(), labels={"cluster": "c1"})
        load.ask("open", "opened", spec=spec)
        load.ask("load", "loaded")
        load.ask("start", "started")
        load.until(1.6)
        text = load.ask("metrics", "metrics", id=2)["text"]
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    labels = 'cluster="c1",op="read",outcome="ok",run="test-run",stream="app"'
    assert float(figures[f"brownout_operations_total{{{labels}}}"]) > 50
    labels = 'cause="overloaded",cluster="c1",op="read",run="test-run",stream="app"'
    assert float(figures[f"brownout_errors_total{{{labels}}}"]) > 50
    # 64 for reads, and as many for writes.
    assert figures['brownout_lane_cap{cluster="c1",lane="lane-0",run="test-run"}'] == "128"
