"""What proves that a game day left nothing broken: the cluster that it was on, by its file."""

from pathlib import Path

import pytest
from tests.runs.gameday.conftest import Write

from brownout import cli
from brownout.inventory import inventory
from brownout.runs.gameday import days
from brownout.runs.gameday.days import Day
from brownout.runs.gameday.leases import Leases
from brownout.runs.gameday.record import Record


def test_a_day_that_died_is_stopped_from_another_folder_on_its_own_cluster(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    for folder, ours in (("ours", True), ("elsewhere", False)):
        clusters = home / folder / "infra" / "clusters"
        clusters.mkdir(parents=True)
        lab = "lab: {engine: mongodb}"
        other = "nodes: [{name: n1, address: '127.0.0.1:1'}]"
        text = f"database: mongodb\nenvironment: lab\n{lab if ours else other}\n"
        (clusters / "mine.yaml").write_text(text)
    file = write(cluster="mine")
    monkeypatch.chdir(home / "ours")
    path = str(inventory.path_of("mine"))
    record = Record("day", "day", "mine", "mine", str(file), 1, [], "", inventory_path=path)
    day = Day(days.new_place("day"), record)
    day.save()
    with Leases() as leases:
        lease, _ = leases.take("mine", day.path)
        dead = "UPDATE gameday_leases SET started = 1 WHERE token = :before"
        assert leases._change(dead, before=lease.token)
    monkeypatch.chdir(home / "elsewhere")
    code = cli.run(["gameday", "stop", "--timeout", "1s"])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "the lab `mine` is down, so nothing of it is broken" in said.out
