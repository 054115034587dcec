"""The maintenance window goes back to what it was, as a recorded API says it."""

from pathlib import Path
from typing import Any, cast

import pytest
from tests.atlas.conftest import api, spec_of
from tests.atlas.recorded_api import Api, Recorded
from tests.atlas.test_client import Make
from tests.faults.atlas.test_cluster_state import at

from brownout.databases.adapter import Adapter
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.run.events import EventLog

__all__ = ["api", "spec_of"]  # fixtures

NONE, OTHER = {"dayOfWeek": 0, "hourOfDay": 0}, {"dayOfWeek": 3, "hourOfDay": 4}
OURS = {"dayOfWeek": 1, "hourOfDay": 2}


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ({}, NONE, ""),
        ({}, {}, ""),
        ({}, OTHER, "wanted none"),
        (OURS, OURS, ""),
        (OURS, OTHER, "wanted {'dayOfWeek': 1"),
        (OURS, NONE, "wanted {'dayOfWeek': 1"),
    ],
)
def test_a_window_is_put_back_once_atlas_has_the_one_of_before_or_none(
    api: Api, spec_of: Make, tmp_path: Path, before: dict[str, int], after: Any, wrong: str
) -> None:
    api.answer(Recorded(200, {}), Recorded(200, after))
    pending = PendingUndo("set_maintenance_window", None, value=before)
    log = EventLog(tmp_path / "events.ndjson")
    # No database is asked about the project's window.
    faults = Faults(at(api.url, spec_of), cast(Adapter, None), log, lambda t: t, (pending,))

    problems = [str(problem) for problem in faults.put_back()]

    assert bool(problems) == bool(wrong)
    assert wrong in "".join(problems)
    assert bool(faults.pending) == bool(wrong)
    assert api.asked[0].split()[0] == ("PATCH" if before else "DELETE")
