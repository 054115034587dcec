"""Live figures of several generators are added as their files are."""

from typing import Any

import pytest

from brownout.base.errors import GeneratorError
from brownout.load.group.live import LiveSum


def live(rows: list[list[Any]], **more: Any) -> dict[str, Any]:
    told = {"t": 1.0, "causes": {}, "p50_us": None, "p99_us": 5, "lag_p99_ms": 1.0, "missed": 0,
            "in_flight": 1, "lanes": {"n1": 2}}  # fmt: skip
    return {"event": "live", "series": rows, "outcomes": [], **told, **more}


def test_a_live_row_is_given_on_once_every_generator_has_said_its_own() -> None:
    added = LiveSum(2)
    one = [[0.0, "app", "read", *[1] * 9, 40], [0.1, "app", "read", *[2] * 9, 50]]
    other = [[0.0, "app", "read", *[3] * 9, 45]]
    assert added.feed(0, live(one, causes={"reset": 1})) is None
    found = added.feed(1, live(other, t=0.9, p99_us=9, causes={"reset": 2}))
    assert found is not None
    assert found["series"] == [[0.0, "app", "read", *[4] * 9, 45]]
    assert (found["t"], found["p50_us"], found["p99_us"]) == (0.9, None, 9)
    assert (found["causes"], found["lanes"], found["in_flight"]) == ({"reset": 3}, {"n1": 4}, 2)
    assert added.feed(0, live([])) is None
    last = added.feed(1, live([[0.1, "app", "read", *[1] * 9, 1]]))
    assert last is not None
    assert last["series"] == [[0.1, "app", "read", *[3] * 9, 50]]
    assert last["causes"] == {}


def test_rows_that_do_not_match_are_no_sum() -> None:
    added = LiveSum(2)
    added.feed(0, live([[0.0, "app", "read", *[1] * 10]]))
    with pytest.raises(GeneratorError, match="live rows do not match"):
        added.feed(1, live([[0.1, "app", "read", *[1] * 10]]))
