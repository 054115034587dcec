"""The address of metrics: what is said of it, whether of a load or of a server of schedules."""

import pytest
from tests.prometheus import get
from tests.wording import mentions

from brownout.observe.address import metrics_shown
from brownout.observe.server import Server


@pytest.mark.usefixtures("home")
def test_an_address_that_is_taken_is_said_and_the_block_runs() -> None:
    words: list[str] = []
    server = Server("127.0.0.1:0", {})
    try:
        with metrics_shown(server.address, "gamedays", words.append, lambda: ""):
            words.append("ran")
    finally:
        server.close()
    reason, ran = words
    assert ran == "ran"
    assert mentions(reason, "metrics", "not shown", server.address.rpartition(":")[2])
    assert "load" not in reason


@pytest.mark.usefixtures("home")
def test_a_free_address_is_said_and_shows_the_metrics() -> None:
    words: list[str] = []
    with metrics_shown("127.0.0.1:0", "gamedays", words.append, lambda: "up 1\n"):
        assert get(words[0].removeprefix("metrics: ")) == "up 1\n"


@pytest.fixture
def home(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path))
