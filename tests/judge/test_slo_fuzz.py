"""A file of limits, whatever is in it, is read or refused in words."""

import math
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import VALUES, answers, changed, damaged, fuzzed

from brownout.judge import slo
from brownout.judge.slo import Limit

TEXT = b"""
- {measure: recovery_time, limit: 10, unit: s, why: an election takes 2 s}
- {measure: latency.during.p99_us, scope: read, limit: 400, unit: ms, why: users}
- {measure: availability, scope: total, limit: 99, unit: "%", why: users}
"""
DOCUMENT = yaml.safe_load(TEXT)


def sound(limits: list[Limit] | None) -> None:
    """What is read can be judged by: a finite number of a known direction."""
    for limit in limits or []:
        assert math.isfinite(limit.limit)
        assert limit.direction in ("at_most", "at_least")


@fuzzed()
@given(data=damaged(TEXT))
def test_a_damaged_file_is_read_or_refused(data: bytes) -> None:
    sound(answers(lambda: slo.parse(data.decode("utf-8", "replace"), "mine.yaml")))


@fuzzed()
@given(odd=changed(DOCUMENT))
def test_other_settings_than_wanted_are_read_or_refused(odd: Any) -> None:
    sound(answers(lambda: slo.parse(yaml.safe_dump(odd), "mine.yaml")))


GIVEN = (
    "recovery_time",
    "total.blackout",
    "a.availability",
    "read.",
    "BROWNOUT_LIMIT_",
    "BROWNOUT_LIMIT_READ_BLACKOUT",
    "BROWNOUT_LIMIT_LATENCY_DURING_P99_US",
)
NAMES = st.one_of(st.sampled_from(GIVEN), st.text(max_size=12))


@fuzzed()
@given(*[st.dictionaries(NAMES, VALUES, max_size=3)] * 3)
def test_limits_given_on_the_way_are_taken_or_refused(
    experiment: dict[str, Any], environment: dict[str, Any], variables: dict[str, Any]
) -> None:
    found = answers(
        lambda: slo.resolve(
            scenario="node-kill",
            database="mongodb",
            streams=["a", "b-c"],
            experiment=experiment,
            environment=environment,
            variables=variables,
        )
    )
    for limits in found or ():
        sound(limits)
