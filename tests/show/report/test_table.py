"""The table in the terminal: a fault's own values under its own name."""

from pathlib import Path
from typing import Any

import pytest
from tests.impacts import made
from tests.run_builder import RunScript, add_fault, build_run
from tests.wording import mentions

from brownout.judge.analysis import analyze
from brownout.measure.impact import Impact
from brownout.show.report import results
from brownout.show.report.grid import Cell
from brownout.show.report.markdown import render as markdown
from brownout.show.report.material import Material
from brownout.show.report.table import render, rows


def limit(measure: str, number: float, scope: str = "total") -> dict[str, Any]:
    return {"measure": measure, "scope": scope, "limit": number, "limit_from": "test", "why": ""}


@pytest.fixture(scope="module")
def two_faults(tmp_path_factory: pytest.TempPathFactory) -> Impact:
    """No service for 2.9 s after the first fault, and for 8 s after the second."""
    limits = (limit("blackout", 5.0, "write"), limit("recovery_time", 5.0))
    script = RunScript(rate=200, duration_s=95, again=((60.0, 8.0),), limits=limits, analyzed=False)
    path = build_run(tmp_path_factory.mktemp("runs"), script)
    add_fault(path, 60.0, "n2")
    return analyze(path)


def tables(text: str, marks: str = "") -> list[list[str]]:
    """The lines of each fault's table, its heading first."""
    lines = [line.strip(marks) for line in text.splitlines()]
    starts = [n for n, line in enumerate(lines) if line.startswith("fault ")]
    return [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]


def row(table: list[str], label: str) -> str:
    return next(line for line in table if line.strip("| ").startswith(label))


def test_each_fault_has_its_own_scoped_values_under_its_name_node_and_time(
    two_faults: Impact,
) -> None:
    first, second = tables(render(two_faults, "run"))
    assert first[0] == "fault 1 of 2: n1 killed at 25.4 s"
    assert second[0] == "fault 2 of 2: n2 killed at 60.0 s"
    assert row(first, "total outage (write)").split()[3:] == ["2.9", "s", "≤", "5", "s", "yes"]
    assert row(second, "total outage (write)").split()[3:] == ["8", "s", "≤", "5", "s", "NO"]
    assert row(first, "service recovered").endswith("yes")
    assert row(second, "service recovered").endswith("NO")


def test_the_reason_names_the_fault_that_broke_the_limit(two_faults: Impact) -> None:
    assert two_faults.verdict == "fail"
    assert all(" in fault 2 of 2 (kill_node n2 at 60.0 s); " in r for r in two_faults.reasons)
    assert {slo.by_fault for slo in two_faults.slos} == {(True, False)}


def test_markdown_has_a_table_of_each_of_several_faults(two_faults: Impact) -> None:
    first, second = tables(markdown(two_faults, "run"), "*")
    assert first[0] == "fault 1 of 2: n1 killed at 25.4 s"
    assert "| 2.9 s |" in row(first, "total outage (write)")
    assert "| 8 s |" in row(second, "total outage (write)")


def test_a_single_fault_has_a_heading_too(tmp_path: Path) -> None:
    text = render(analyze(build_run(tmp_path, RunScript(duration_s=45.0, rate=100.0))), "run")
    assert "\nn1 killed at 25.4 s\n" in text


def test_a_write_outage_behind_served_reads_is_named() -> None:
    """A primary that is cut off: no operation succeeded for 5.9 s, and no write for 9.8 s."""
    nodes = [{"name": "n5", "address": "10.0.0.5:3000"}]
    impact = made({
        "cluster": {"nodes": nodes},
        "faults": [{
            "blackout": 9.8, "longest_blackout": 9.8, "longest_blackout_op": "write",
            "recovery_time": 9.9, "tps_drop": 1.0, "partial_outage": 2.7,
            "partial_outage_in": {"lane": "10.0.0.5:3000", "op": "write"},
            "events": [{"type": "break", "name": "partition_node", "node": "n1"}],
        }],
        "slos": [{"name": "partial_outage", "scope": "total", "value": 2.7, "best": 2.7,
                  "worst": 2.7, "limit": 2.0, "met": False}],
    })  # fmt: skip
    text = render(impact, "run")
    assert "9.8 s  (writes)" in text
    assert "2.7 s  (writes of n5)" in text
    words = markdown(impact, "run")
    assert mentions(words, "9.8 s", "9.9 s")
    assert "No write succeeded for 9.8 s." in words


def test_a_register_that_is_not_linearizable_is_counted_and_its_drawing_linked() -> None:
    broken = {"key": "orders:r00000007", "stream": "orders", "lane": "a:1", "t": 31.2}
    broken |= {"operation": "read 5", "drawing": "history-orders-r00000007.html"}
    counts = {"registers": 60, "operations": 900, "nonlinearizable": 2, "unknown": 1}
    histories = {"streams": ["orders"], **counts, "examples": [broken]}
    impact = made({"faults": [{}], "ledger": {"histories": histories}})
    values = {label: value for label, value, *_ in rows(impact, impact.faults[0], 0)}
    assert values["registers that are not linearizable"] == "2 to 3 of 60, in 900 operations"
    grid = results.ledger(Material(Path("run"), impact))
    links = [cell.link for line in grid.rows for cell in line if isinstance(cell, Cell)]
    assert links == ["history-orders-r00000007.html"]
