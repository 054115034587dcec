"""`brownout compare`: what may stand beside what, the tables, and the page in a browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.cli.conftest import Brownout, brownout, home
from tests.run_builder import EXPERIMENT, RunScript, build_run
from tests.show.report.conftest import browser

from brownout.base.words import duration
from brownout.measure.settings import MeasureSettings
from brownout.run.metadata import digest_of, read_json, write_json

__all__ = ["brownout", "browser", "home"]

PRICE = {"currency": "USD", "per_node_hour": 2.0}


def built(root: Path, number: int, cluster: dict[str, Any] | None = None, **script: Any) -> Path:
    """A run of node-kill; `cluster` changes what its record says of the cluster."""
    lab = {"name": "lab-mongodb", "database": "mongodb", "engine": "mongod 6.0.5", "members": 3,
           "environment": "lab", "stand_in": False, "nodes": []}  # fmt: skip
    run = {"cluster": {**lab, **(cluster or {})}, **script.pop("run", {})}
    name = f"20261122T10{number:02}00Z-node-kill-{number}"
    values = {"rate": 200.0, "duration_s": 50.0, **script}
    return build_run(root, RunScript(name=name, seed=number, run=run, **values))


def versions(server: str) -> dict[str, Any]:
    return {"versions": {"server": server, "brownout": "0.1.0"}}


@pytest.fixture
def pair(home: Path) -> list[Path]:
    """Two versions: the second serves twice as much and is out for twice as long."""
    return [
        built(home / "runs", 1, {"price": PRICE}, run=versions("mongod 6.0.5"), outage_s=2.0),
        built(home / "runs", 2, run=versions("mongod 7.0.1"), outage_s=4.0, rate=400.0),
    ]


def test_the_tables_are_those_of_the_runs(pair: list[Path], brownout: Brownout) -> None:
    said = brownout("compare", *pair, "--json")
    assert said.code == 0, said.err
    tables = json.loads(said.out)["tables"]
    assert list(tables) == ["Summary", "Throughput", "Response time", "Cost"]
    impacts = [json.loads((run / "impact.json").read_text()) for run in pair]
    for row, impact in zip(tables["Summary"], impacts, strict=True):
        assert row["service recovered"] == duration(impact["faults"][0]["recovery_time"])
        assert row["operations lost"] == f"{impact['faults'][0]['lost_operations']:,.0f}"
    names = [row["system"] for row in tables["Summary"]]
    assert names == ["mongod 6.0.5 on lab-mongodb", "mongod 7.0.1 on lab-mongodb"]
    served = [row["served before"] for row in tables["Throughput"]]
    assert [abs(int(s.removesuffix("/s")) - wanted) < 10
            for s, wanted in zip(served, (200, 400), strict=True)] == [True, True]  # fmt: skip
    assert [row["scope"] for row in tables["Response time"]] == ["read", "write"] * 2
    (cost,) = tables["Cost"]
    assert (cost["nodes"], cost["a node-hour"], cost["a month"]) == ("3", "2 USD", "4,380.00 USD")
    notes = json.loads(said.out)["notes"]
    assert notes[0].startswith("rate: mongod 6.0.5 on lab-mongodb 200.0, ")
    assert notes[1] == (
        "settings of the load differ: workload.streams.0.rate, workload.streams.1.rate"
    )


def test_drivers_that_differ_are_said(pair: list[Path], brownout: Brownout) -> None:
    said = json.loads((pair[1] / "generator.json").read_text())
    said["driver_settings"]["heartbeat_ms"] = 500
    (pair[1] / "generator.json").write_text(json.dumps(said))
    assert brownout("analyze", pair[1]).code == 0
    found = json.loads(brownout("compare", *pair, "--json").out)["notes"]
    (note,) = [each for each in found if each.startswith("driver: ")]
    for value in (10000, 500):
        words = f"mongo-driver/v2 2.9.3 (app off, orders off, heartbeat_ms {value})"
        assert words in note


def test_seconds_of_own_load_compare_systems_of_different_speed(
    home: Path, brownout: Brownout
) -> None:
    slow, fast = built(home / "runs", 1, rate=100.0), built(home / "runs", 2, rate=400.0)
    rows = json.loads(brownout("compare", f"slow={slow}", f"fast={fast}", "--json").out)
    lost = [float(row["seconds of load lost"].removesuffix(" s"))
            for row in rows["tables"]["Summary"]]  # fmt: skip
    assert lost[0] == pytest.approx(lost[1], abs=0.15)
    count = [int(row["operations lost"].replace(",", "")) for row in rows["tables"]["Summary"]]
    assert count[1] > 3 * count[0]


def test_repeats_of_a_system_are_one_row_of_medians(home: Path, brownout: Brownout) -> None:
    outages = (2.0, 3.0, 9.0)
    runs = [built(home / "runs", n, outage_s=s) for n, s in enumerate(outages)]
    other = built(home / "runs", 7, run=versions("mongod 7.0.1"))
    rows = json.loads(brownout("compare", *runs, other, "--json").out)["tables"]["Summary"]
    assert [row["runs"] for row in rows] == ["3", "1"]
    assert float(rows[0]["total outage"].removesuffix(" s")) == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize(
    ("cluster", "script", "said"),
    [
        ({"stand_in": True, "name": "lab-aerospike"}, {}, "stand-ins are compared"),
        ({"name": "other"}, {"concurrency": 8}, "loops are mixed (closed, open)"),
        ({"name": "other"}, {"settings": MeasureSettings(baseline_s=20.0, resolution_s=5.0)},
         "resolutions are mixed (0.1 s, 5 s)"),
        ({"name": "other"}, {"deadline_s": 0.5}, "deadlines are mixed (0.5 s, 1 s)"),
        ({"name": "other"},
         {"run": {"experiment": {**EXPERIMENT, "variables": {"downtime_s": 60}}}},
         "variables are mixed (variables.downtime_s: mongod 6.0.5 on lab-mongodb 5.0, mongod 6.0.5 "
         "on other 60)"),
        ({"name": "other"}, {"run": {"experiment": {**EXPERIMENT, "method": ["kill_node {}"]}}},
         "steps of the method are mixed (method.count: mongod 6.0.5 on lab-mongodb 2, mongod 6.0.5 "
         "on other 1; method.0: "),
    ],
)  # fmt: skip
def test_what_misleads_is_refused_unless_it_is_said(
    cluster: dict[str, Any], script: dict[str, Any], said: str, home: Path, brownout: Brownout
) -> None:
    runs = [built(home / "runs", 1), built(home / "runs", 2, cluster, **script)]
    refused = brownout("compare", *runs)
    assert (refused.code, said in refused.err, refused.out) == (64, True, "")
    told = brownout("compare", *runs, "--mixed", "-o", home / "page.html")
    assert (told.code, f"MIXED: {said}" in told.out) == (0, True)
    assert f"Mixed: {said}" in (home / "page.html").read_text()
    assert ("(STAND-IN)" in told.out) == ("stand_in" in cluster)


def test_what_decides_no_fault_is_named_with_its_values(home: Path, brownout: Brownout) -> None:
    waits = {**EXPERIMENT["variables"], "milestone_limit_s": 450}
    settings = MeasureSettings(baseline_s=20.0, milestone_hold_s=7.0)
    runs = [
        built(home / "runs", 1, settings=MeasureSettings(baseline_s=20.0)),
        built(
            home / "runs",
            2,
            settings=settings,
            run={"experiment": {**EXPERIMENT, "variables": waits}},
        ),
    ]
    said = brownout("compare", f"a={runs[0]}", f"b={runs[1]}", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["notes"] == [
        "variables.milestone_limit_s: a 300, b 450", "settings.milestone_hold_s: a 3.0, b 7.0"
    ]  # fmt: skip


def test_a_deadline_that_no_run_recorded_is_not_known(home: Path, brownout: Brownout) -> None:
    runs = [built(home / "runs", n, {"name": f"lab-{n}"}) for n in (1, 2)]
    for run in runs:
        impact = {**read_json(run / "impact.json"), "deadline_s": None}
        write_json(run / "impact.json", {**impact, "digest": digest_of(impact)})
    assert brownout("compare", *runs, "-o", home / "page.html").code == 0
    assert "deadline not known" in (home / "page.html").read_text()


def test_other_scenarios_and_one_system_are_refused(home: Path, brownout: Brownout) -> None:
    first = built(home / "runs", 1)
    wiped = built(home / "runs", 2, run={"experiment": {"name": "node-wipe", "mode": "kill"}})
    other = brownout("compare", f"a={first}", f"b={wiped}")
    assert (other.code, "scenario is node-wipe, but node-kill" in other.err) == (64, True)
    alone = brownout("compare", first, built(home / "runs", 3))
    assert (alone.code, "found 1 systems, wanted 2 to 6" in alone.err) == (64, True)
    unlike = built(home / "runs", 4, rate=300.0)
    named = brownout("compare", f"a={first}", f"a={unlike}", f"b={built(home / 'runs', 5)}")
    assert (named.code, "called a too: give it another name" in named.err) == (64, True)
    assert brownout("compare", first, "no-such-run").code == 64


def test_the_page_draws_every_system_from_its_fault_on(
    browser: Chrome, pair: list[Path], brownout: Brownout, home: Path
) -> None:
    page = home / "compared.html"
    assert brownout("compare", *pair, "-o", page).code == 0
    browser.get(page.as_uri())
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
    lines = browser.find_elements(By.CSS_SELECTOR, "#aligned .row path[class^='s-']")
    assert [line.get_attribute("class") for line in lines] == ["s-one line", "s-two line"]
    assert len(browser.find_elements(By.CSS_SELECTOR, "#aligned .pin.break")) == 1
    stage = browser.find_element(By.CSS_SELECTOR, "#aligned .stage")
    stage.send_keys("\ue014")  # arrow right
    assert "mongod 7.0.1 on lab-mongodb" in browser.find_element(
        By.CSS_SELECTOR, "#aligned .readout"
    ).text  # fmt: skip
    captions = [c.text.split(" · ")[0] for c in browser.find_elements(By.TAG_NAME, "caption")]
    assert [c for c in captions if not c.startswith("Throughput, of")][:1] == ["Summary"]
    head = browser.find_element(By.TAG_NAME, "header").text
    assert "mongod 7.0.1 on lab-mongodb, 1 run of 2026-" in head
    columns = [each.text for each in browser.find_elements(By.CSS_SELECTOR, "#summary th")]
    assert columns[:3] == ["system", "acknowledged writes lost", "verdicts"]
    links = browser.find_elements(By.CSS_SELECTOR, "#runs td a")
    assert [each.text for each in links] == [run.name for run in pair]
    browser.get(links[0].get_attribute("href") or "")
    assert pair[0].name in browser.current_url
    assert "impact.json" in browser.page_source


def test_systems_of_which_other_roles_were_broken_are_told(home: Path, brownout: Brownout) -> None:
    for number, role in ((1, "primary"), (2, "secondary"), (3, "secondary")):
        run = built(home / "runs", number)
        events = (run / "events.ndjson").read_text().splitlines()
        lines = [json.loads(line) for line in events]
        for line in lines:
            if line.get("name") == "kill_node" and "evidence" in line:
                line["evidence"]["role"] = role
        (run / "events.ndjson").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        assert brownout("analyze", run).code == 0
    first, *others = sorted((home / "runs").iterdir())
    pairs = [f"a={first}", *(f"b={each}" for each in others)]
    notes = json.loads(brownout("compare", *pairs, "--json").out)["notes"]
    assert "broken: a 1 × primary; b 2 × secondary" in notes
