"""`brownout list`: everything there is, each with a line."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout

from brownout import discover
from brownout.base import catalog

KINDS = (
    "experiments", "gamedays", "books", "comparisons", "workloads", "clusters", "faults",
    "actions", "probes", "measures",
)  # fmt: skip


def test_everything_is_listed_with_a_line_each(brownout: Brownout, home: Path) -> None:
    listed = json.loads(brownout("list", "--json").out)
    assert tuple(listed) == KINDS
    assert all(row["name"] and row["about"] for rows in listed.values() for row in rows)
    assert {row["name"] for row in listed["experiments"]} == set(catalog.names("experiments"))
    activities = {f"{found['mod']}.{found['name']}" for found in discover()["activities"]}
    named = {f"brownout.{kind}.{row['name']}" for kind in ("actions", "probes")
             for row in listed[kind]}  # fmt: skip
    assert named == activities


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_is_listed_without_a_heading(kind: str, brownout: Brownout, home: Path) -> None:
    said = brownout("list", kind)
    assert said.code == 0
    assert kind not in said.out.splitlines()
    assert said.out.splitlines()


def test_the_path_of_an_experiment_is_printed_alone(brownout: Brownout, home: Path) -> None:
    said = brownout("list", "--path", "node-kill")
    assert json.loads(Path(said.out.strip()).read_text())["title"].startswith("A node dies")
    wrong = brownout("list", "--path", "node-kil")
    assert (wrong.code, "did you mean `node-kill`?" in wrong.err) == (64, True)


def test_an_inventory_that_cannot_be_read_is_listed_with_the_reason(
    brownout: Brownout, home: Path
) -> None:
    folder = home / "infra" / "clusters"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text("database: mongodb\n")
    (row,) = [
        line for line in brownout("list", "clusters").out.splitlines() if line.startswith("broken")
    ]
    assert "environment" in row


def test_reading_what_is_not_there_names_what_is(brownout: Brownout, home: Path) -> None:
    said = brownout("new", "no-such-scenario")
    assert said.code == 64
    assert "node-kill" in said.err
    assert not list(home.glob("*"))
