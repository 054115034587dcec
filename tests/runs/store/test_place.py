"""`BROWNOUT_STORE`: what it may be, and that nothing secret is repeated."""

import pytest

from brownout.base.errors import ConfigurationError
from brownout.runs.store.place import Place, find, wanted


@pytest.mark.parametrize(
    "url", ["s3://bucket/some/prefix", "gs://bucket", "az://container/x", "file:///mnt/runs"]
)
def test_a_store_is_a_bucket_and_a_prefix(url: str) -> None:
    assert find(url) == find(url + "/") == Place(url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/x", "found a URL of the kind 'ftp'"),
        ("bucket/prefix", "found a URL of the kind 'none'"),
        ("s3:///prefix", "found no bucket"),
        ("file://host/x", "without a folder"),
        ("s3://key:hunter2@bucket/x", "found a user or a query"),
        ("az://container/x?sig=hunter2", "found a user or a query"),
    ],
)
def test_what_is_no_store_is_refused_and_not_repeated(url: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        find(url)
    assert "hunter2" not in str(caught.value)


def test_no_store_is_none_until_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWNOUT_STORE", raising=False)
    assert find() is None
    with pytest.raises(ConfigurationError, match="set BROWNOUT_STORE"):
        wanted()


def test_what_a_provider_says_loses_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "tokentoken")
    said = Place("s3://b").clean("no: hunter2hunter2\n and tokentoken\n\nDebug source: more")
    assert said == "no: *** and ***"
