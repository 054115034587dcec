"""Times on the command line have a unit."""

import pytest

from brownout.base.errors import ConfigurationError
from brownout.cli.durations import seconds


@pytest.mark.parametrize(
    ("text", "length"),
    [("250ms", 0.25), ("30s", 30.0), ("1.5m", 90.0), (" 2h ", 7200.0), ("30d", 2_592_000.0),
     ("8w", 4_838_400.0)],
)  # fmt: skip
def test_a_time_is_read(text: str, length: float) -> None:
    assert seconds(text, "--for") == length


@pytest.mark.parametrize("text", ["", "90", "0s", "-3s", "soon", "3 days", "d", "3y", "1h30m"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--for: found .*, wanted"):
        seconds(text, "--for")


def test_the_bounds_are_said() -> None:
    assert seconds("0s", "--wait", 0) == 0
    with pytest.raises(ConfigurationError, match="--every: found '500ms', wanted 1s at least"):
        seconds("500ms", "--every", 1)
    with pytest.raises(ConfigurationError, match="wanted some years at most"):
        seconds("99999999999w", "--older-than")
