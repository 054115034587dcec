"""Hammer what keeps secrets out of every file of a run: odd passwords, odd keys, odd nesting."""

import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brownout.run.metadata import redact

#: In the middle of every secret: whatever is done to the rest, this must not be left.
MARK = "Zq8hunter2"

#: All that people and generators put into passwords, but white space.
characters = st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=("Z", "C"))
passwords = st.builds(
    lambda before, after: f"{before}{MARK}{after}",
    st.text(characters, max_size=8),
    st.text(characters, max_size=8),
)
schemes = st.sampled_from(["mongodb", "mongodb+srv", "aerospike", "https", "postgresql+psycopg"])
users = st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=5)
separators = st.sampled_from(["", "-", "_", ".", " ", "/", "::"])
words = st.sampled_from(
    [("pass", "word"), ("pass", "phrase"), ("api", "key"), ("access", "key"), ("private", "key"),
     ("client", "secret"), ("id", "token"), ("aws", "credentials"), ("user", "pwd")]
)  # fmt: skip
cases = st.sampled_from([str.lower, str.upper, str.title])
#: Keys that JSON does not have, and that Python's mappings do.
odd_keys = st.none() | st.booleans() | st.integers() | st.tuples(st.text(max_size=2)) | st.text()


def nested(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Put `leaf` anywhere in mappings with odd keys, lists, tuples and sets."""
    return st.recursive(
        leaf,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=2)
            | st.tuples(inner)
            | st.dictionaries(odd_keys, inner, min_size=1, max_size=2)
        ),
        max_leaves=6,
    )


def shown(value: Any, *secrets: str) -> str:
    """Everything that would reach a file."""
    return json.dumps(redact(value, secrets), ensure_ascii=False)


@given(schemes, users, passwords, st.sampled_from([quote, quote_plus, lambda word, safe: word]))
@example("mongodb", "u", f"a'{MARK}", lambda word, safe: word)
@example("mongodb", "u", f'a"{MARK}', lambda word, safe: word)
@example("mongodb", "u", f"<{MARK}>", lambda word, safe: word)
@example("mongodb", "u", f"a@b/c:{MARK}?#", lambda word, safe: word)
def test_the_password_of_a_uri_never_shows_encoded_or_not(
    scheme: str, user: str, password: str, encode: Any
) -> None:
    uri = f"{scheme}://{user}:{encode(password, safe='')}@db1:27017,db2/app?w=majority"
    for text in (uri, f"cannot connect to {uri}: refused", f"'{uri}'", json.dumps({"uri": uri})):
        assert MARK not in shown(text)
        assert "db1:27017" in shown(text)


@given(nested(st.builds(lambda user, word: f"x://{user}:{word}@h/", users, passwords)))
def test_a_uri_is_found_however_deep_it_lies(value: Any) -> None:
    assert MARK not in shown(value)


@given(words, separators, cases, st.text(max_size=3), nested(passwords))
def test_whatever_stands_under_a_secret_name_never_shows(
    parts: tuple[str, str], separator: str, case: Any, before: str, value: Any
) -> None:
    key = case(separator.join(parts))
    assert MARK not in shown({before: [{key: value, "host": "db1"}]})


@given(passwords, nested(st.just(None)), st.booleans())
def test_a_known_secret_never_shows_as_value_or_as_key(
    password: str, value: Any, as_key: bool
) -> None:
    assert MARK not in shown({"a": value, password if as_key else "b": [password]}, password)


@given(passwords)
@example(f"quote'{MARK}\"")
@example(f"back\\slash{MARK}")
@example(f"ö@/{MARK} ")
def test_a_known_secret_never_shows_in_another_form(password: str) -> None:
    forms = [repr(password), json.dumps(password), quote(password, safe=""), quote_plus(password)]
    for form in forms:
        assert MARK not in shown({"said": f"login failed: {form}"}, password)


@given(st.integers(min_value=1000))
def test_a_known_secret_of_digits_never_shows_as_a_number(pin: int) -> None:
    assert str(pin) not in shown({"answer": [pin]}, str(pin))


@pytest.mark.parametrize(
    "text",
    [
        "tlsCertificateKeyFilePassword={}&tls=true",
        "mongodb://db1/?tls=true&tlsCertificateKeyFilePassword={}",
        "mongodb://db1/?authMechanismProperties=AWS_SESSION_TOKEN:{}",
        "--password {}",
        "--password={}",
        "Proxy-Authorization: Basic {}",
        "X-Api-Key: {}",
        "Set-Cookie: session={}; path=/",
        '{{"password": "{}"}}',
        "{{'pwd': '{}'}}",
        '{{\\"password\\": \\"{}\\"}}',
    ],
)
def test_a_secret_in_a_text_never_shows(text: str) -> None:
    assert MARK not in shown(text.format(MARK)), text
