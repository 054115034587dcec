"""A dry run shows what would be sent, and sends nothing."""

from collections.abc import Callable

import pytest
from tests.atlas.recorded_api import CLIENT, PROJECT, SECRET

from brownout.atlas import AtlasSpec, calls
from brownout.base.errors import ConfigurationError

Make = Callable[..., AtlasSpec]
URL = "https://cloud.mongodb.com"


def test_a_call_is_shown_with_method_path_media_type_and_body(spec_of: Make) -> None:
    spec = spec_of(URL)

    shown = calls.shown(calls.start_outage(spec, [("AWS", "US_EAST_1")]), spec)

    assert shown.splitlines() == [
        f"POST {URL}/api/atlas/v2/groups/{PROJECT}/clusters/orders/outageSimulation",
        "  Accept: application/vnd.atlas.2023-01-01+json",
        "  Content-Type: application/vnd.atlas.2023-01-01+json",
        '  {"outageFilters": [{"cloudProvider": "AWS", "regionName": "US_EAST_1", '
        '"type": "REGION"}]}',
    ]
    assert SECRET not in shown
    assert CLIENT not in shown


def test_a_question_is_shown_with_its_query(spec_of: Make) -> None:
    spec = spec_of(URL)

    shown = calls.shown(calls.read_measurements(spec, "h1:27017", ["CONNECTIONS", "QUERY"]), spec)

    assert "/processes/h1:27017/measurements?granularity=PT1M&period=PT15M&m=CONNECTIONS&m=QUERY" \
        in shown  # fmt: skip


@pytest.mark.parametrize("count", [0, 11])
def test_one_to_ten_measurements_can_be_asked_for(spec_of: Make, count: int) -> None:
    with pytest.raises(ConfigurationError, match=f"found {count} names, wanted 1 to 10"):
        calls.read_measurements(spec_of(URL), "h1:27017", ["M"] * count)


def test_only_what_cannot_be_sent_twice_is_not_repeatable(spec_of: Make) -> None:
    spec = spec_of(URL)

    once = [calls.restart_primaries(spec), calls.start_outage(spec, [("AWS", "US_EAST_1")])]
    again = [calls.end_outage(spec), calls.change_cluster(spec, {"paused": True})]

    assert not any(call.repeatable for call in once)
    assert all(call.repeatable for call in again)
