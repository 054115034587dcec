"""Secrets never reach a file."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.base.redact import MASK, redact

SECRET = "hunter2-Zq8"

names = st.sampled_from(
    ["password", "Password", "db_password", "PASSWD", "secret", "client-secret", "token", "apiKey",
     "api_key", "private_key", "accessKey", "credentials", "Authorization", "pwd", "passphrase",
     "tls.keyPassword", "refreshToken"]
)  # fmt: skip
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
keys = st.text(max_size=6)
data = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
schemes = st.sampled_from(["mongodb", "mongodb+srv", "redis", "https", "amqp"])


@given(names, st.just(SECRET) | st.lists(st.just(SECRET), min_size=1), data, data)
def test_a_value_under_a_secret_name_never_shows(
    name: str, secret: Any, left: Any, right: Any
) -> None:
    given_data = [left, {"nodes": [right, {name: secret, "host": "db1"}]}]
    shown = json.dumps(redact(given_data))
    assert SECRET not in shown
    assert '"db1"' in shown


#: After `-U` and `-p` a whole word is a secret.
no_option = st.text(max_size=5).filter(lambda text: not re.search("-[uUpP]$", text))


@given(schemes, st.text("ab1@:/%", max_size=6), no_option)
def test_credentials_in_a_uri_never_show(scheme: str, around: str, before: str) -> None:
    text = f"{before} {scheme}://user:{SECRET}{around}@db1:27017/app?w=majority"
    shown = redact({"uri": text, "args": ["--to", text], text: 1})
    assert SECRET not in json.dumps(shown)
    assert "db1:27017/app?w=majority" in shown["uri"]


@pytest.mark.parametrize(
    "text",
    [
        f"password={SECRET}",
        f"MONGO_PASSWORD={SECRET} brownout run",
        f"https://host/login?user=a&token={SECRET}&x=1",
        f'{{"secret": "{SECRET}"}}',
        f"api_key: {SECRET}",
        f"Authorization: Bearer {SECRET}",
    ],
)
def test_an_assignment_within_a_text_never_shows(text: str) -> None:
    assert SECRET not in redact(text)


@given(data)
def test_a_known_secret_never_shows_wherever_it_is(value: Any) -> None:
    shown = redact({"a": value, "note": f"x{SECRET}y", SECRET: [SECRET]}, secrets=[SECRET, ""])
    assert SECRET not in json.dumps(shown)


@given(data)
def test_what_is_redacted_is_json_and_stays_so(value: Any) -> None:
    once = redact(value)
    assert json.loads(json.dumps(once, allow_nan=False)) == once
    assert redact(once) == once


def test_what_is_no_secret_stays() -> None:
    uri = "mongodb://db1:27017,db2:27017/?replicaSet=rs"
    kept = {"user": "app", "uri": uri, "keys": 20000, "note": "no password", "password": None}
    assert redact(kept) == kept
    assert redact({"path": Path("a/b"), "set": {"b", "a"}}) == {"path": "a/b", "set": ["a", "b"]}


def test_redacting_does_not_change_what_it_was_given() -> None:
    given_data = {"a": {"password": SECRET}}
    assert redact(given_data) == {"a": {"password": MASK}}
    assert given_data == {"a": {"password": SECRET}}
