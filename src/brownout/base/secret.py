"""Secrets by reference: an inventory names where a secret is, never the secret itself.

password: {env: ORDERS_PASSWORD}
password: {file: secrets/orders.txt}     # relative to the inventory
password: {secret: orders.password}      # of the experiment's `secrets`
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, SecretStr, ValidationInfo

__all__ = ["Secret", "SecretOrText", "SecretUri", "environment_without_secrets", "offer_secrets"]
__all__ += ["offered_secrets"]

#: Every variable that an inventory read by this process names as a secret, and that of the
#: history, whose URL may hold a password.
_named: set[str] = {"BROWNOUT_HISTORY"}
#: No secrets, even where an inventory names them: programs need them, and HOME guards a wipe.
_KEPT = frozenset(("HOME", "PATH"))
#: The experiment's `secrets`, as Chaos Toolkit has loaded them.
_offered: dict[str, Any] = {}
#: Shorter texts stand in many other words.
_SHORTEST = 4
_WANTED = "wanted {env: NAME} or {file: path}, or {secret: scope.name}"
#: Up to the last @: a password may have one that should have been encoded.
_PASSWORD = re.compile(r"://[^:@]*:.+@")
#: As tlsCertificateKeyFilePassword, and authMechanismProperties, which may hold a session token.
_SECRET_OPTION = re.compile(r"(?i)[?&][^=&]*(password|properties)=[^&]")


def offer_secrets(secrets: Mapping[str, Any] | None) -> None:
    """Let inventories refer to the secrets of the experiment that this process runs."""
    _offered.clear()
    _offered.update(secrets or {})


def offered_secrets() -> list[str]:
    """Return the values of the experiment's `secrets`, to be masked where others repeat them.

    Those of fewer than 4 characters are left out: they stand in many other words. What brownout
    itself reads again, as events, is not masked by them: one may be the name of a node.
    """
    return [text for text in _texts(_offered) if len(text) >= _SHORTEST]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def environment_without_secrets() -> dict[str, str]:
    """Return our environment for a process that we start, which may outlive us by far.

    Everybody of the same user can read it there; no database needs what logs in to it.
    """
    hidden = _named - _KEPT
    return {name: value for name, value in os.environ.items() if name not in hidden}


def _resolve(value: Any, info: ValidationInfo) -> SecretStr:
    """Return the secret that `value` refers to.

    Messages name the reference and never the value, and a plain value is refused without being
    repeated: it may be a password written into the file by mistake.
    """
    if isinstance(value, SecretStr):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(f"found a plain value (not shown), {_WANTED}")
    ((kind, name),) = value.items()
    if kind == "env":
        return SecretStr(_from_environment(str(name)))
    if kind == "file":
        return SecretStr(_from_file(_base(info) / str(name)))
    if kind == "secret":
        return SecretStr(_from_experiment(str(name)))
    raise ValueError(f"found a reference of the kind {kind!r}, {_WANTED}")


def _resolve_or_text(value: Any, info: ValidationInfo) -> str | SecretStr:
    """Return a text as it is, and anything else as the secret that it refers to."""
    return value if isinstance(value, str) else _resolve(value, info)


def _resolve_uri(value: Any, info: ValidationInfo) -> SecretStr:
    """Return a URI, plain or by reference. A plain one may stand in the file without a secret."""
    if not isinstance(value, str):
        uri = _resolve(value, info)
        _check_form(uri.get_secret_value())
        return uri
    if _PASSWORD.search(value):
        raise ValueError("found a password in it, wanted {env: NAME} or auth.password")
    if _SECRET_OPTION.search(value):
        raise ValueError("found a secret among its options, wanted the URI as {env: NAME}")
    _check_form(value)
    return SecretStr(value)


def _check_form(uri: str) -> None:
    """Raise `ValueError` for a URI that a driver would take apart in another place than we.

    A `/` or `@` of a password that stands there as it is ends the user information early; the
    rest of the password then becomes a host or an option, and appears in a library's error message.
    """
    scheme, _, rest = uri.partition("://")
    if not rest or not scheme.replace("+", "").isalnum():
        raise ValueError("not a URI (not shown), wanted scheme://hosts/…")
    user, at, _ = rest.rpartition("@")
    bare = set(user) & set("/?#[]@ ") or user.count(":") > 1
    if at and (bare or re.search(r"%(?![0-9A-Fa-f]{2})", user)):
        raise ValueError(
            "a character of its user or password must be percent-encoded (`@` as %40, `/` as %2F, "
            "`:` as %3A, `%` as %25), as an `@` among its options must be"
        )


def _from_environment(name: str) -> str:
    _named.add(name)
    value = os.environ.get(name)
    if value is None:
        raise ValueError(f"the environment variable `{name}` is not set; export it")
    if not value:
        raise ValueError(f"the environment variable `{name}` is empty")
    return value


def _from_file(path: Path) -> str:
    try:
        value = path.expanduser().read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ValueError(f"the secret's file `{path}` cannot be read: {reason}") from error
    if not value:
        raise ValueError(f"the secret's file `{path}` is empty")
    return value


def _from_experiment(name: str) -> str:
    """Return a secret of the experiment that is run; healing after a crash has no experiment."""
    value: Any = _offered
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str) and value:
        return value
    variable = f"BROWNOUT_SECRET_{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}"
    if os.environ.get(variable):
        return _from_environment(variable)
    raise ValueError(
        f"the experiment has no secret `{name}`; for a command that runs none, export `{variable}`"
    )


def _base(info: ValidationInfo) -> Path:
    """Return the directory that relative paths of the inventory start from."""
    context = info.context or {}
    return Path(context.get("base", "."))


#: A secret given by reference; its repr and dump never show it.
Secret = Annotated[SecretStr, BeforeValidator(_resolve)]
#: A connection URI, plain or as such a reference; either way it is treated as one secret.
SecretUri = Annotated[SecretStr, BeforeValidator(_resolve_uri)]
#: A text, or a secret given by reference.
SecretOrText = Annotated[str | SecretStr, BeforeValidator(_resolve_or_text)]
