"""Keeping secrets out of what is written down: logs, journals, reports, run directories."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

__all__ = ["MASK", "redact"]

#: What stands where a secret stood.
MASK = "***"

#: A key that has one of these in its name, whatever the case and the separators, holds a secret.
_SECRET_WORDS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "credential",
    "apikey", "privatekey", "accesskey", "authorization", "cookie",
)  # fmt: skip
#: Words that end in `pass` and name no secret.
_NO_SECRET = ("bypass", "compass", "overpass", "surpass", "trespass", "underpass")
#: `scheme://user:password@host`: all between the slashes and the last @ of the word, since a
#: password may hold anything.
_USERINFO = re.compile(r"(?<=://)\S*@")
_NAME = (
    r"(?:[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credentials?|api[_-]?key|"
    r"private[_-]?key|access[_-]?key|signature)[\w.-]*"
    r"|(?:[\w.-]*[_.-]|(?<![\w.-])(?:admin|db|mongo|my|pg|redis|root|user)?)pass)"
)
#: Before a secret: `password=…` in a query, `"password": "…"` in JSON, be that a text within JSON.
_NAMED = rf"{_NAME}\\*[\"']?\s*[=:]\s*"
#: The same in a command line: `--password …`, `-p …`, or as Python shows it, `'-p', '…'`.
_OPTION = rf"(?<![\w-])(?:--?{_NAME}|-[pP])(?:\s*=\s*|\s+|\\*[\"'],\s*)"
#: In quotes a secret may hold anything; without, it ends where a value does there.
_QUOTED = re.compile(rf"(?i)({_NAMED}|{_OPTION})(\\*[\"'])(?:(?!\2).)+\2")
_GIVEN = re.compile(rf"(?i)({_OPTION}\\*[\"']?)(?![\\\"'-])[^\s\"'\\]+")
_ASSIGNMENT = re.compile(rf"(?i)({_NAMED}\\*[\"']?)[^\s&,;\"'}}\\]+")
#: `curl -u user:password`.
_LOGIN = re.compile(
    r"(?<![\w-])((?:-[uU]|--(?:proxy-)?(?:user|auth))(?:\s*=\s*|\s+|\\*[\"'],\s*)?\\*[\"']?"
    r"[^\s:\"'\\-][^\s:\"'\\]*:)[^\s\"'\\]+"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----"
    r".*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\Z)",
    re.DOTALL,
)
_HEADER = re.compile(r"(?i)\b((?:proxy-)?authorization\\*[\"']?\s*[:=]\s*\\*[\"']?)[^\r\n\"'\\]+")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_COOKIE = re.compile(r"(?i)\b(cookie\s*:\s*)[^\r\n]+")
#: Tokens that say themselves what they are: of AWS, GitHub, GitLab, Slack, Google; and JWT.
_TOKEN = re.compile(
    r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}"
    r"|xox[abeprs]-[\w-]{10,}|AIza[\w-]{35}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*)"
)
#: An option of a command whose value is the next word of a list.
_IS_OPTION = re.compile(rf"(?i)--?{_NAME}|-p")
#: Longer texts are not remembered.
_SHORT = 64
_IS_LOGIN = re.compile(r"-[uU]|--(?:proxy-)?(?:user|auth)")


def redact(value: Any, secrets: Iterable[str] = ()) -> Any:
    """Return `value` as plain JSON data without secrets; `value` itself is not changed.

    Whatever stands under a key that names a secret becomes `***`; so do the credentials in a URI,
    assignments such as `password=…` and options such as `-p …` within a text or a list, private
    keys, well-known tokens, and each of `secrets` wherever it occurs, also quoted or
    percent-encoded. A number that JSON does not know becomes null, any other object its
    text.
    """
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    return _redact(value, sorted(forms, key=len, reverse=True))


def _forms(secret: str) -> Iterator[str]:
    """Return a secret in every form in which a message may repeat it."""
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield repr(secret)[1:-1]
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]


def _redact(value: Any, secrets: list[str]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return MASK if str(value) in secrets else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            _clean(str(key), secrets): MASK if _is_secret(key, item) else _redact(item, secrets)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        words = zip(("", *value), value, strict=False)
        return [_after(before, item, secrets) for before, item in words]
    if isinstance(value, set | frozenset):
        return [_redact(item, secrets) for item in sorted(value, key=str)]
    return _clean(str(value), secrets)


def _after(before: Any, item: Any, secrets: list[str]) -> Any:
    """Return an item of a list, which may be the words of a command."""
    if isinstance(before, str) and isinstance(item, str | int):
        if _IS_OPTION.fullmatch(before) and not str(item).startswith("-"):
            return MASK
        if _IS_LOGIN.fullmatch(before) and ":" in str(item):
            return f"{_clean(str(item).partition(':')[0], secrets)}:{MASK}"
    return _redact(item, secrets)


def _is_secret(key: Any, item: Any) -> bool:
    """Whether `key` names a secret; where nothing is set, there is nothing to hide."""
    if item is None or item == "":
        return False
    in_text, otherwise = _hides(str(key))
    return in_text if isinstance(item, str) else otherwise


@lru_cache(maxsize=4096)
def _hides(key: str) -> tuple[bool, bool]:
    """Return whether a text under this key is a secret, and whether anything else is."""
    name = re.sub(r"[^a-z0-9]", "", key.lower())
    named = _IS_OPTION.fullmatch(key) is not None or any(word in name for word in _SECRET_WORDS)
    if _IS_OPTION.fullmatch(key) is None and name.endswith("pass"):
        return not name.endswith(_NO_SECRET), named
    return named, named


def _clean(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return _masked_short(text) if len(text) <= _SHORT else _masked(text)


def _masked(text: str) -> str:
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _USERINFO.sub(f"{MASK}@", text)
    text = _QUOTED.sub(rf"\g<1>\g<2>{MASK}\g<2>", text)
    for pattern in (_GIVEN, _ASSIGNMENT, _LOGIN, _HEADER, _COOKIE):
        text = pattern.sub(rf"\g<1>{MASK}", text)
    text = _BEARER.sub(rf"\g<1> {MASK}", text)
    return _TOKEN.sub(MASK, text)


#: The same keys and words stand in each of a file's hundred thousand lines.
_masked_short = lru_cache(maxsize=4096)(_masked)
