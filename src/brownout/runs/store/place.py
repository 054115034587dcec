"""Which store runs are copied to, from `BROWNOUT_STORE`: a bucket and a prefix, without secrets.

    s3://bucket/prefix    gs://bucket/prefix    az://container/prefix    file:///mnt/runs

Who may write there is found as the provider's own tools find it: by environment variables, a
token that Kubernetes mounts, or the machine's identity.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from brownout.base.errors import ConfigurationError
from brownout.base.redact import redact

__all__ = ["VARIABLE", "Place", "find", "wanted"]

VARIABLE = "BROWNOUT_STORE"
SCHEMES = ("s3", "gs", "az", "file")
#: Variables of the providers that hold what must not be repeated, by a part of their names.
_PROVIDERS = ("AWS_", "AZURE_", "GOOGLE_")
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "SIGNATURE", "SAS")


@dataclass(frozen=True, slots=True)
class Place:
    """A store and a prefix in it; `url` has no trailing slash."""

    url: str

    @property
    def scheme(self) -> str:
        """`s3`, `gs`, `az` or `file`."""
        return self.url.partition(":")[0]

    def clean(self, message: str) -> str:
        """Return the first paragraph of what a driver says, in one line, without secrets."""
        first = message.strip().split("\n\n")[0]
        return str(redact(" ".join(first.split()), _secrets()))


def find(text: str | None = None) -> Place | None:
    """Return the store that `text`, else the environment names; None where neither does.

    Raises `ConfigurationError` for an invalid URL, without repeating it.
    """
    given = (text or os.environ.get(VARIABLE) or "").strip()
    if not given:
        return None
    url = urlsplit(given)
    source = "--store" if text else VARIABLE
    problems = list(_problems(url.scheme, url.netloc, url.path, url.query or url.fragment))
    if problems:
        raise ConfigurationError([f"{source}: {problem}" for problem in problems])
    return Place(given.rstrip("/"))


def wanted(text: str | None = None) -> Place:
    """Return the store that is named; raises `ConfigurationError` where none is."""
    place = find(text)
    if place is None:
        raise ConfigurationError(
            "no store is named", f"set {VARIABLE} or give --store, as in s3://bucket/prefix"
        )
    return place


def _problems(scheme: str, host: str, path: str, more: str) -> Iterator[str]:
    if scheme not in SCHEMES:
        yield (
            f"found a URL of the kind {scheme or 'none'!r}, wanted s3://BUCKET/PREFIX, "
            "gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER"
        )
    elif scheme == "file" and (host or not path.strip("/")):
        yield "found a file URL without a folder, wanted file:///FOLDER"
    elif scheme != "file" and not host:
        yield f"found no bucket, wanted {scheme}://BUCKET/PREFIX"
    if "@" in host or more:
        yield (
            "found a user or a query in the URL; credentials do not belong there, they are found "
            "in the environment"
        )


def _secrets() -> list[str]:
    return [
        value
        for name, value in os.environ.items()
        if name.startswith(_PROVIDERS) and any(word in name for word in _SECRET) and len(value) > 3
    ]
