"""`brownout store push`, `list` and `pull`, and what heal does, on a store in a folder."""

import json
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout
from tests.wording import mentions

from brownout.faults import open_runs
from brownout.runs.store.delivery import deliver

RUN = "20261122T101500Z-node-kill-4711"


def files(folder: Path) -> dict[str, bytes]:
    """Everything below a folder but hidden notes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_a_run_goes_there_and_back_and_can_be_used_as_before(
    brownout: Brownout, run: Path, stored: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = brownout("store", "push")
    assert (said.code, said.err) == (0, "")
    assert f"file://{stored}/{RUN}  " in said.out
    before, there = files(run), files(stored / RUN)
    manifest = json.loads(there.pop("manifest.json"))
    assert manifest["verdict"] == json.loads(before["impact.json"])["verdict"]
    assert set(there) == set(before) == set(manifest["files"])
    assert there["generator.log"] == b"dial mongodb://***@db1:27017 failed\n"
    assert not [name for name, text in there.items() if b"hunter2" in text]

    monkeypatch.setenv("BROWNOUT_RUNS", str(home / "elsewhere"))
    assert f"{RUN}  {manifest['verdict']}" in brownout("store", "list").out
    pulled = brownout("store", "pull", RUN)
    assert pulled.out.strip() == str(home / "elsewhere" / RUN)
    assert files(home / "elsewhere" / RUN) == there
    shown = brownout("show", RUN)
    assert "total outage" in shown.out
    assert brownout("analyze", RUN).code == shown.code
    gate = brownout("gate", RUN)
    assert gate.code == shown.code, gate.err
    again = brownout("store", "pull", RUN)
    assert again.code == 64
    assert "is there already" in again.err


def test_only_what_is_new_is_sent_again(brownout: Brownout, run: Path, stored: Path) -> None:
    assert brownout("store", "push").code == 0
    assert brownout("store", "push").out == ""
    assert "0 of " in brownout("store", "push", RUN).out
    with (run / "events.ndjson").open("a") as file:
        file.write('{"id": 99, "stage": "point", "type": "note", "name": "later"}\n')
    assert "1 of " in brownout("store", "push").out
    assert (stored / RUN / "events.ndjson").read_bytes() == (run / "events.ndjson").read_bytes()


def test_what_was_removed_or_cut_in_the_store_is_sent_again(
    brownout: Brownout, run: Path, stored: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert brownout("store", "push").code == 0
    (stored / RUN / "series.csv").unlink()
    (stored / RUN / "events.ndjson").write_bytes(b"")
    assert "2 of " in brownout("store", "push", RUN).out
    monkeypatch.setenv("BROWNOUT_RUNS", str(home / "elsewhere"))
    assert brownout("store", "pull", RUN).code == 0


def test_what_was_changed_in_the_store_is_not_pulled(
    brownout: Brownout, run: Path, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brownout.runs.store.objects.PATIENCE_S", 0.3)
    assert brownout("store", "push").code == 0
    shutil.rmtree(run)
    there = stored / RUN / "series.csv"
    there.write_bytes(there.read_bytes().replace(b"1", b"2", 1))
    said = brownout("store", "pull", RUN)
    assert (said.code, "series.csv: is damaged" in said.err) == (2, True)
    assert list(run.parent.iterdir()) == []


def test_what_has_no_manifest_is_not_whole(brownout: Brownout, run: Path, stored: Path) -> None:
    brownout("store", "push")
    (stored / RUN / "manifest.json").unlink()
    assert json.loads(brownout("store", "list", "--json").out)[0]["verdict"] == "not whole"
    shutil.rmtree(run)
    said = brownout("store", "pull", RUN)
    assert (said.code, "not whole" in said.err) == (64, True)


def test_a_manifest_that_leads_elsewhere_is_refused(
    brownout: Brownout, run: Path, stored: Path
) -> None:
    brownout("store", "push")
    shutil.rmtree(run)
    place = stored / RUN / "manifest.json"
    manifest = json.loads(place.read_text())
    manifest["files"]["../../evil"] = next(iter(manifest["files"].values()))
    place.write_text(json.dumps(manifest))
    assert brownout("store", "pull", RUN).code == 64
    assert brownout("store", "pull", "../x").code == 64


def test_a_run_that_goes_on_waits_until_it_is_over(
    brownout: Brownout, run: Path, stored: Path
) -> None:
    open_runs.claim("shop", run, "shop", brought_up=False)
    said = brownout("store", "push", RUN)
    assert (said.code, "in progress" in said.err) == (64, True)
    assert brownout("store", "push").out == ""
    open_runs.release("shop")
    assert RUN in brownout("store", "push").out


def test_heal_copies_what_a_dead_pod_had_not(brownout: Brownout, run: Path, stored: Path) -> None:
    (run / "impact.json").unlink()
    assert brownout("heal").code == 0
    assert json.loads((stored / RUN / "manifest.json").read_text())["verdict"] == "not judged"


def test_a_game_day_lies_beside_the_runs(
    brownout: Brownout, home: Path, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = home / "runs" / "gamedays" / "20261122T101500Z-shop"
    day.mkdir(parents=True)
    (day / "gameday.json").write_text('{"verdict": "pass"}')
    assert brownout("store", "push").code == 0
    name = "gamedays/20261122T101500Z-shop"
    assert f"{name}  pass" in brownout("store", "list").out
    monkeypatch.setenv("BROWNOUT_RUNS", str(home / "elsewhere"))
    assert brownout("store", "pull", name).code == 0
    assert (home / "elsewhere" / name / "gameday.json").is_file()


def test_what_cannot_be_copied_is_said_and_stays(
    run: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real connection that is refused; nothing is awaited but the patience."""
    monkeypatch.setattr("brownout.runs.store.objects.PATIENCE_S", 0.5)
    for name, value in {
        "BROWNOUT_STORE": "s3://bucket/prefix",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "an-access-key",
        "AWS_SECRET_ACCESS_KEY": "hunter2hunter2",
    }.items():
        monkeypatch.setenv(name, value)
    said: list[str] = []
    why = deliver(run, said.append)
    assert why is not None
    assert "times tried" in why
    (words,) = said
    assert mentions(words, run, f"s3://bucket/prefix/{RUN}/manifest.json")
    assert "brownout store push" in words
    assert "builder error" not in words  # it came as far as the connection
    assert "hunter2" not in words
    assert (run / ".stored").read_text() == "{}\n"


def test_without_a_store_nothing_is_copied(
    brownout: Brownout, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BROWNOUT_STORE", raising=False)
    assert deliver(run) is None
    assert brownout("store", "list").code == 64
