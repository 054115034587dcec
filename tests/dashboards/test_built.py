"""The committed dashboards are what the code builds, and have what everybody relies on."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.dashboards.questions import DASHBOARDS, ROOT

from brownout.dashboards.build import dashboards, text_of

BUILT = {dashboard["uid"]: dashboard for dashboard in dashboards()}


def test_the_committed_files_are_what_the_code_builds() -> None:
    committed = {path.stem: path.read_text() for path in DASHBOARDS}
    assert committed == {uid: text_of(dashboard) for uid, dashboard in BUILT.items()}, (
        "run `make dashboards`"
    )


def test_there_is_one_for_each_purpose() -> None:
    assert {dashboard["title"].removeprefix("brownout · ") for dashboard in BUILT.values()} == {
        "Game day", "Run", "Compare",
        "Aerospike", "Cassandra", "MongoDB", "PostgreSQL", "Redis", "etcd",
    }  # fmt: skip


@pytest.mark.parametrize("uid", sorted(BUILT))
def test_it_can_be_imported_as_it_is(uid: str) -> None:
    """It names no data source of anybody, and asks for no variable that it does not have."""
    text = text_of(BUILT[uid])
    sources = set(re.findall(r'"uid": "([^"]+)"', text)) - {uid}
    assert sources == {"${datasource}", "-- Grafana --"}
    assert "__inputs" not in text
    names = {variable["name"] for variable in BUILT[uid]["templating"]["list"]}
    asked = set(re.findall(r"\$\{?(\w+)", text))
    assert asked <= names | {"__range"}


@pytest.mark.parametrize("uid", sorted(BUILT))
def test_panels_have_titles_descriptions_units_and_do_not_overlap(uid: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BUILT[uid]["panels"]:
        place = panel["gridPos"]
        assert panel["title"]
        if panel["type"] != "row":
            assert panel["description"].endswith("."), panel["title"]
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize(
    "title",
    [
        "Throughput over time",
        "Read p95 and p99 over time",
        "Write p95 and p99 over time",
        "Node failure zoomed",
    ],
)
def test_each_figure_of_the_whitepaper_has_a_panel(title: str) -> None:
    assert title in {panel["title"] for panel in BUILT["brownout-run"]["panels"]}


def test_what_a_server_of_schedules_exposes_has_panels() -> None:
    panels = BUILT["brownout-game-day"]["panels"]
    titles = [panel["title"] for panel in panels]
    below = panels[titles.index("Schedules") + 1 :]
    asked = [panel["targets"][0]["expr"] for panel in below]
    assert [re.findall(r"brownout_gameday_\w+", each) for each in asked] == [
        ["brownout_gameday_next_due_time_seconds"],
        ["brownout_gameday_last_missed_time_seconds"],
        ["brownout_gameday_last_died_time_seconds"],
        ["brownout_gameday_pass_stale"],
    ]


def test_provisioning_fits_the_files() -> None:
    def read(name: str) -> Any:
        return yaml.safe_load((ROOT / "provisioning" / name).read_text())

    (provider,) = read("dashboards/brownout.yaml")["providers"]
    stack = yaml.safe_load(Path(ROOT.parent, "infra/docker/observability.yaml").read_text())
    mounts = [volume.split(":")[:2] for volume in stack["services"]["grafana"]["volumes"]]
    assert ["../../dashboards/grafana", provider["options"]["path"]] in mounts
    (source,) = read("datasources/prometheus.yaml")["datasources"]
    variable = source["url"].strip("${}")
    assert variable in stack["services"]["grafana"]["environment"]


@pytest.mark.parametrize("uid", sorted(BUILT))
def test_a_link_to_a_panel_leads_to_that_panel_alone(uid: str) -> None:
    ids = [panel["id"] for panel in BUILT[uid]["panels"]]
    assert len(set(ids)) == len(ids)
    assert all(0 < each < 2**31 for each in ids)


def test_json_is_plain() -> None:
    for path in DASHBOARDS:
        assert "null" not in json.dumps(json.loads(path.read_text()))
