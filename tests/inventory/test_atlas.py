"""The settings of a cluster of Atlas: one login, by reference, and never in the clear."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.atlas.recorded_api import PROJECT
from tests.wording import naming

from brownout.atlas import AtlasSpec

Make = Callable[..., AtlasSpec]
ATLAS: dict[str, Any] = {"project": PROJECT, "cluster": "orders"}
ACCOUNT = {"client_id": {"file": "id.txt"}, "client_secret": {"file": "secret.txt"}}


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://cloud.mongodb.com", "wanted https"),
        ("https://user:pass@cloud.mongodb.com", "and no more"),
        ("https://cloud.mongodb.com?x=1", "and no more"),
        ("https://cloud.mongodb.com/api", "and no more"),
        ("https://cloud mongodb.com", "and no more"),
        ("https://cloud.mongodb.com:99999", "[Pp]ort"),
        ("cloud.mongodb.com", "wanted scheme://"),
        ("ftp://127.0.0.1", "wanted scheme://"),
    ],
)
def test_a_login_goes_nowhere_without_tls(spec_of: Make, url: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        spec_of(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:1"])
def test_a_server_on_this_machine_may_do_without_tls(spec_of: Make, url: str) -> None:
    assert spec_of(url + "/").base_url == url


def test_secrets_are_references_and_a_plain_one_is_refused_unseen(tmp_path: Path) -> None:
    (tmp_path / "id.txt").write_text("the-id\n", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("the-secret\n", encoding="utf-8")
    context = {"base": str(tmp_path)}

    spec = AtlasSpec.model_validate({**ATLAS, "service_account": ACCOUNT}, context=context)
    assert spec.secrets() == ["the-id", "the-secret"]

    plain = {"public_key": "abc", "private_key": "0rders-plain"}
    with pytest.raises(ValidationError, match=naming("api_key.public_key", "api_key.private_key")):
        AtlasSpec.model_validate({**ATLAS, "api_key": plain})


@pytest.mark.parametrize("more", [{}, {"service_account": ACCOUNT, "api_key": {}}])
def test_there_is_exactly_one_login(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AtlasSpec.model_validate({**ATLAS, **more})
