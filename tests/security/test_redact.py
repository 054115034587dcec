"""Hammer what keeps secrets out of every file of a run: odd passwords, odd keys, odd nesting."""

import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brownout.base.redact import redact

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
        "mongosh -u admin -p {} db1",
        "asadm -U admin -P {}",
        "sshpass -p '{} two words' ssh db1",
        "['mongosh', '-p', '{}']",
        "Command '['tool', '--password', '{}']' returned non-zero exit status 1",
        "tool --pass={} --host db1",
        "tool --pass {}",
        "openssl -passin pass:{}",
        "pass: {}",
        "DB_PASS={}",
        "dbpass: {}",
        '{{"pass": "{}"}}',
        'password="two words {}"',
        "--password a&b;c,{}",
        "curl -u ann:{} https://db1/",
        "curl -uann:{} https://db1/",
        "curl --user 'ann:{} more' https://db1/",
        "curl --proxy-user ann:{}",
        "['curl', '-u', 'ann:{}']",
        "https://host/?X-Amz-Signature={}",
        "Authorization: Digest username=ann, response={}",
        "authorization: token {}",
        '{{"Authorization": "{}"}}',
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\\n{}\\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{}",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    ],
)
def test_a_secret_in_a_text_never_shows(text: str) -> None:
    assert MARK not in shown(text.format(MARK)), text


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "glpat-0123456789abcdefghij",
        "xoxb-0123456789-abcdefghij",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    ],
)
def test_a_token_that_says_what_it_is_never_shows(token: str) -> None:
    assert token not in shown(f"refused for {token}: expired")


@given(passwords)
@pytest.mark.parametrize("option", ["-p", "-P", "--pass", "--password", "-passwd", "--api-key"])
def test_the_password_of_a_command_line_never_shows(option: str, password: str) -> None:
    assert MARK not in shown(["tool", option, f"x{password}", "--host", "db1"])
    assert MARK not in shown({option: password})
    assert MARK not in shown({"arguments": {option: password}})
    plain = "".join(c for c in password if c not in "\"'\\")
    assert MARK not in shown(f"tool {option} x{plain} --host db1")
    assert "--host db1" in shown(f"tool {option} x{plain} --host db1")


@given(passwords)
@pytest.mark.parametrize("option", ["-u", "--user", "--proxy-user"])
def test_the_password_of_a_login_never_shows(option: str, password: str) -> None:
    assert MARK not in shown(["curl", option, f"ann:{password}", "https://db1/"])
    plain = "".join(c for c in password if c not in "\"'\\:")
    assert MARK not in shown(f"curl {option} ann:{plain} https://db1/")


@given(st.text(), st.sampled_from(["password=", "-p ", "pass: ", "-u ann:", "x://", "'", '"']))
def test_what_was_hidden_stays_hidden_and_nothing_comes_to_light(text: str, before: str) -> None:
    once = redact(f"{before}{text}")
    assert redact(once) == once
    kept = str(once).replace("***", "\0").split("\0")
    assert all(part in f"{before}{text}" for part in kept)  # nothing is there that was not before


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "12 passed, 0 failed",
        "verdict: pass",
        "bypass: yes",
        "the key compass=north",
        "a --passive option",
        "ann@example.com",
        "user: ann",
        "--user ann --host db1",
        "mongod --port 27017 --dbpath /data",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
    assert redact([text]) == [text]
    assert redact({"pass": True, "passed": 3, "bypass": "on"})["passed"] == 3
