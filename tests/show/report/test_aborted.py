"""A run that was aborted did not see what would have come: nowhere does it say never."""

from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run
from tests.runs.gate.repeated import finished

from brownout.measure.document import read_impact
from brownout.measure.impact import NEVER
from brownout.run.directory import RunDirectory
from brownout.show.report import html, markdown, table
from brownout.show.report.words import NOT_SEEN

LIMITS = ({"measure": "recovery_time", "limit": 600.0, "scope": "total", "why": "users wait"},)


def test_every_view_of_an_aborted_run_says_what_it_did_not_see(tmp_path: Path) -> None:
    run = build_run(tmp_path, RunScript(duration_s=45, outage_s=60, abort="Ctrl-C", limits=LIMITS))
    impact = read_impact(RunDirectory.open(run))
    assert impact.faults[0].number("recovery_time") is None
    views = {
        "table": table.render(impact, "run"),
        "markdown": markdown.render(impact, "run"),
        "report": html.write(run).read_text(),
    }
    for name, text in views.items():
        assert NOT_SEEN in text, name
        assert ("never" if name != "report" else ">never") not in text, name
        assert "aborted: Ctrl-C" in text, name


@pytest.mark.parametrize(("verdict", "known"), [("aborted", None), ("fail", NEVER)])
def test_what_an_aborted_run_did_not_see_is_not_known_and_else_beyond_every_limit(
    verdict: str, known: float | None
) -> None:
    run = finished(1, verdict, recovery_time=NEVER, redundancy_time=NEVER)
    assert run.impact.value("recovery_time") == known
    assert run.impact.value("redundancy_time") == known
