"""An experiment's variables and stop conditions, whatever they are: read, or refused in words."""

import json
import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from tests.fuzzing import VALUES, answers, changed, damaged, fuzzed

from brownout.session.options import (
    SETTINGS,
    complete,
    read_options,
    unknown_keys,
    unknown_variables,
)
from brownout.session.stop_conditions import Condition, parse_conditions

CONDITIONS = [
    {"availability_below": 0.5, "for_s": 60},
    {"file": "/run/stop-chaos"},
    {"http": "http://127.0.0.1:9000/healthy", "expect": 200, "every_s": 2},
]


def finite(found: list[Condition] | None) -> None:
    """A condition with a number that is none would never be met, or always."""
    for condition in found or []:
        numbers = [n for n in condition.model_dump().values() if isinstance(n, float)]
        assert all(math.isfinite(number) for number in numbers), condition


@fuzzed()
@given(odd=changed(CONDITIONS))
def test_stop_conditions_are_read_or_refused(odd: Any) -> None:
    finite(answers(lambda: parse_conditions(odd)))


@fuzzed()
@given(data=damaged(json.dumps(CONDITIONS).encode()))
@example(data=b"[" * 30_000)
def test_the_text_of_stop_conditions_is_read_or_refused(data: bytes) -> None:
    finite(answers(lambda: parse_conditions(data.decode("utf-8", "replace"))))


VARIABLES = st.dictionaries(st.sampled_from(sorted(SETTINGS)), VALUES, max_size=4)


@fuzzed(100)
@given(declared=VARIABLES, resolved=VARIABLES)
def test_variables_are_typed_or_each_is_named(
    declared: dict[str, Any], resolved: dict[str, Any]
) -> None:
    problems: list[str] = []
    options = answers(lambda: read_options(declared, {**declared, **resolved}, problems))
    assert options is not None
    assert all(problem.strip() for problem in problems)
    if not problems:
        assert options.seed
        assert 0 <= options.baseline_s < float("inf")
        for limit in options.variable_limits.values():
            assert limit == "none" or math.isfinite(float(limit))
    unknown_variables(resolved, declared)
    complete({}, resolved, declared)
    list(unknown_keys({"configuration": declared, "method": [resolved]}))
