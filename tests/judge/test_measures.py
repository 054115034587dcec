"""What a probe of the hypothesis is answered, and whether that is within what was promised."""

from typing import Any

import pytest

from brownout.judge.measures import answer
from brownout.probes.tolerances import within_limit

LIMIT = {"name": "recovery_time", "scope": "total", "limit": 10, "limit_from": "a file"}


def impact(found: float | None, **limit: Any) -> dict[str, Any]:
    """An impact with one fault, and with a limit on its recovery where one is given."""
    fault: dict[str, Any] = {"recovery_time": found, "scopes": {}}
    return {"faults": [fault], "slos": [{**LIMIT, **limit}] if limit else []}


@pytest.mark.parametrize(
    ("judged", "within"),
    [
        (impact(3.0, met=True), True),
        (impact(30.0, met=False), False),
        (impact(None, met=None), False),  # a limit that is open is no pass
        (impact(3.0), True),
        (impact(None), True),  # nothing was promised of what was not seen
        (None, False),
    ],
    ids=["met", "broken", "open", "no limit", "no limit and not seen", "no run"],
)
def test_a_probe_is_within_its_limit_unless_the_limit_is_broken_or_open(
    judged: dict[str, Any] | None, within: bool
) -> None:
    assert within_limit(answer(judged, True, "recovery_time", "total")) is within


def test_before_a_run_is_judged_no_limit_applies() -> None:
    found = answer(None, False, "recovery_time", "total")
    assert found["status"] == "not_applicable"
    assert within_limit(found)
