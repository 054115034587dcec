"""Chaos Mesh by a real HTTP server that answers in the API server's place."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.others.recorded import T0, chaos
from tests.kubernetes_api import api_server

from brownout.base.errors import BrownoutError, NoAnswer
from brownout.faults.others.chaos_mesh import ChaosMesh

Answer = tuple[int, str]


class Api:
    """Gives one answer after the other; the last one stays."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def answer(self, _: str) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def source(api: Api, tmp_path: Path) -> Iterator[ChaosMesh]:
    pytest.importorskip("kubernetes", reason="needs the extra `kubernetes`")
    with (
        api_server(api.answer, tmp_path) as kubeconfig,
        closing(ChaosMesh("PodChaos", "stall-one", "shop", str(kubeconfig))) as made,
    ):
        yield made


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_away_for_a_moment_is_no_answer(
    api: Api, source: ChaosMesh, status: int
) -> None:
    api.answers = [(status, "{}"), (200, json.dumps(chaos({"shop/db-0": T0})))]
    with pytest.raises(NoAnswer, match=f"{status}"):
        source.look()
    account = source.look()
    assert account is not None
    assert account.state == "AllInjected"


def test_a_server_that_denies_it_has_answered(api: Api, source: ChaosMesh) -> None:
    api.answers = [(403, "{}")]
    with pytest.raises(BrownoutError, match="403") as caught:
        source.look()
    assert not isinstance(caught.value, NoAnswer)
