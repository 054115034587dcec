"""The page of a comparison of clients, from made-up runs."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout
from tests.runs.clients.comparisons import add_run, record_of

from brownout.runs.clients.record import ClientsRun, Record

#: The outage of the default's runs lasts to their end.
NEVER_S = 60.0


@pytest.fixture
def record(home: Path) -> Record:
    """One client is never served again, the same with another option is after 4 to 5 s."""
    _, record = record_of(home, together=False)
    for outage_s in (NEVER_S,) * 3:
        add_run(home, record, "app", "fail", outage_s=outage_s)
    for outage_s in (4.5, 4.6, 5.0):
        add_run(home, record, "orders", "pass", outage_s=outage_s)
    record.runs.append(ClientsRun("orders", "inconclusive", "", 99, 60.0))
    record.ended = "2026-11-28T14:00:00+00:00"
    record.save()
    return record


def test_each_client_has_a_finding_and_the_setting_that_made_the_difference(
    record: Record, brownout: Brownout
) -> None:
    page = brownout("clients", "page", record.path)
    assert page.code == 0
    assert page.out.startswith("1 of 2 clients never served again: app (3 of 3 runs)\n")
    text = (record.path / "clients.md").read_text()
    default, cured = re.findall(r"(?m)^- (.*)$", text)
    assert re.fullmatch(
        r"`app`: never served again in 3 of 3 runs, in at least [\d.]+ s that were observed; "
        r"with `recycle: 10` served again [\d.]+ s \([\d.]+ s to [\d.]+ s\) after the database had "
        r"a new primary\.",
        default,
    )
    assert re.fullmatch(
        r"`orders`: served again .* after the database had a new primary, in 3 of 3 runs\.", cured
    )
    assert "## Settings that made the difference" in text


def test_the_data_have_what_each_client_met_in_each_run(record: Record, brownout: Brownout) -> None:
    assert brownout("clients", "page", record.path).code == 0
    default, cured = json.loads((record.path / "figures.json").read_text())["clients"]
    assert [each["served_again_s"] for each in default["runs"]] == ["never"] * 3
    assert [each["served_again_s"] for each in cured["runs"]] == pytest.approx(
        [4.6, 4.7, 5.1], abs=0.1
    )
    assert all(each["errors"]["client-timeout-total"] > 0 for each in cured["runs"])
    assert (default["setting"], cured["setting"]) == ("`recycle: 10`", "")


def test_a_client_of_which_a_part_fails_for_longer_is_told_from_one_that_recovers(
    home: Path, brownout: Brownout
) -> None:
    _, record = record_of(home, together=False)
    for outage_s in (9.0, 9.5, 10.0):  # a third of the operations, as those of one shard
        add_run(home, record, "app", "pass", outage_s=outage_s, depth=0.33)
    for outage_s in (2.0, 2.1, 2.2):
        add_run(home, record, "orders", "pass", outage_s=outage_s, depth=0.33)
    page = brownout("clients", "page", record.path)
    assert page.code == 0
    assert "every client was served again" in page.out
    text = (record.path / "clients.md").read_text()
    default = re.findall(r"(?m)^- (.*)$", text)[0]
    assert re.search(r"no total outage, its last dip ended [\d.]+ s \(.*\) after", default)
    assert "; with `recycle: 10` " in default
    assert re.search(r"(?m)^\| app \| `recycle: 10` \| service recovered \|", text)
    figures = json.loads((record.path / "figures.json").read_text())["clients"]
    assert [each["recovered_s"] for each in figures[0]["runs"]] == pytest.approx(
        [9.0, 9.5, 10.0], abs=0.2
    )


def test_a_client_of_which_a_part_never_recovers_is_in_the_headline(
    home: Path, brownout: Brownout
) -> None:
    _, record = record_of(home, together=False)
    for _ in range(3):
        add_run(home, record, "app", "fail", outage_s=NEVER_S, depth=0.33)
        add_run(home, record, "orders", "pass", outage_s=2.0, depth=0.33)
    page = brownout("clients", "page", record.path)
    assert page.code == 0
    assert "; app never recovered in part\n" in page.out
    text = (record.path / "clients.md").read_text()
    assert "`app`: no total outage, never recovered, in 3 of 3 runs; with `recycle: 10` " in text


def test_losses_are_counted_for_the_client_whose_writes_they_were(
    home: Path, brownout: Brownout
) -> None:
    _, record = record_of(home, repeats=1)
    add_run(home, record, "together", "fail", lost_keys=3)
    assert brownout("clients", "page", record.path).code == 0
    app, orders = json.loads((record.path / "figures.json").read_text())["clients"]
    assert [each["lost_writes"] for each in app["runs"]] == [None]  # it keeps no ledger there
    assert [each["lost_writes"] for each in orders["runs"]] == [3]
    assert "3 acknowledged writes lost in 1 of 1 run" in orders["finding"]
    assert app["setting"] == ""


def test_the_page_needs_nothing_else_and_leads_to_its_runs(
    record: Record, brownout: Brownout
) -> None:
    assert brownout("clients", "page", record.path).code == 0
    page = (record.path / "clients.html").read_text()
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    for each in record.runs[:-1]:
        assert f'href="{each.run}/report.html"' in page
    assert "none was opened" in page


def test_a_client_without_a_run_is_not_measured(home: Path, brownout: Brownout) -> None:
    _, record = record_of(home)
    record.runs.append(ClientsRun("together", "inconclusive", "", 1, 60.0))
    record.save()
    page = brownout("clients", "page", record.path)
    assert page.code == 0
    assert "no client was measured" in page.out
    assert "`app`: not measured." in (record.path / "clients.md").read_text()


def test_a_run_that_is_gone_is_named(record: Record, brownout: Brownout) -> None:
    run = record.path / record.runs[0].run
    run.rename(run.with_name("elsewhere"))
    page = brownout("clients", "page", record.path)
    assert page.code == 64
    assert run.name in page.err
