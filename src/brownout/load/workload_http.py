"""The part of a stream that asks an HTTP endpoint of the application (docs/client.md)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from brownout.base.problems import Problem
from brownout.base.secret import SecretOrText
from brownout.load.workload_base import Settings, check

__all__ = ["Endpoint", "Request", "Success"]

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
#: Methods by which nothing is written.
_SAFE = ("GET", "HEAD")
_PLACES = ("{key}", "{sequence}")
_STATUS = re.compile(r"[1-5][0-9]{2}(-[1-5][0-9]{2})?")
_SECRET_HEADER = re.compile(r"(?i)authorization|cookie|token|api-?key|secret|password")
_SECRET_QUERY = re.compile(r"(?i)[?&][^=&]*(password|token|secret|api[_-]?key)=[^&]")


def _is_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right:
        raise ValueError("wanted a URL, as in http://shop.example.com:8000/orders/{key}")
    if "@" in parts.netloc or _SECRET_QUERY.search(value):
        raise ValueError("found a login or a secret in it, wanted a header, as {env: NAME}")
    unknown = [place for place in re.findall(r"\{[^{}]*\}?", value) if place not in _PLACES]
    if unknown:
        raise ValueError(f"found {unknown[0]} in it, wanted {' or '.join(_PLACES)}")
    return value


def _one_line(value: str | SecretStr) -> str | SecretStr:
    text = value if isinstance(value, str) else value.get_secret_value()
    if not text.isprintable():
        raise ValueError("found a line break or control character, wanted one line")
    return value


def _is_status(value: Any) -> str:
    text = str(value) if type(value) is int else value
    if isinstance(text, str) and _STATUS.fullmatch(text):
        first, _, last = text.partition("-")
        if first <= (last or first):
            return text
    raise ValueError(f"found {value!r}, wanted a status, as 204, or a range, as 200-299")


_Url = Annotated[str, AfterValidator(_is_url)]
_Status = Annotated[str, BeforeValidator(_is_status)]
_HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
_Header = Annotated[SecretOrText, AfterValidator(_one_line)]


class Success(Settings):
    """Which answers count."""

    status: Annotated[
        tuple[_Status, ...],
        Field(strict=False, description="codes and ranges of codes that count"),
    ] = ("200-299",)
    body: Annotated[str, Field(description="a text that the answer must contain")] = ""

    @check
    def _some(self) -> Iterator[Problem]:
        if not self.status:
            yield Problem(("status",), "found an empty list, wanted at least one status")

    def ranges(self) -> list[tuple[int, int]]:
        """Return the codes that count, as first and last of each range."""
        parts = (status.partition("-") for status in self.status)
        return [(int(first), int(last or first)) for first, _, last in parts]


class _Asked(Settings):
    method: Annotated[Method, Field(description="the request's method")] = "GET"
    headers: dict[_HeaderName, _Header] = Field(
        default_factory=dict, description="sent with it; secrets as {env: NAME} or {file: path}"
    )
    body: Annotated[str, Field(description="sent with it; may have {key} and {sequence}")] = ""
    success: Annotated[Success, Field(description="which answers count")] = Success()

    @check
    def _secrets(self) -> Iterator[Problem]:
        """A plain value may be a password written into the file by mistake."""
        for name, value in self.headers.items():
            if isinstance(value, str) and _SECRET_HEADER.search(name):
                text = "found a plain value (not shown), wanted {env: NAME} or {file: path}"
                yield Problem(("headers", name), text)


class Request(_Asked):
    """What is sent for one operation."""

    url: Annotated[_Url, Field(description="where to; may have {key} and {sequence}")]


class Endpoint(_Asked):
    """What is asked of the application: one request, or one for each operation."""

    url: Annotated[
        _Url | None, Field(description="where every operation goes to; may have {key}, {sequence}")
    ] = None
    read: Annotated[Request | None, Field(description="the request of a read")] = None
    update: Annotated[Request | None, Field(description="the request of an update")] = None
    keep_alive: Annotated[bool, Field(description="use a connection for several requests")] = True

    @property
    def requests(self) -> Mapping[str, Request]:
        """The request of each operation that has one."""
        if self.url is not None:
            given = {name: getattr(self, name) for name in Request.model_fields}
            return dict.fromkeys(("read", "update"), Request.model_construct(**given))
        parts = {"read": self.read, "update": self.update}
        return {name: request for name, request in parts.items() if request is not None}

    @check
    def _one_way(self) -> Iterator[Problem]:
        """The one request stands in place of those of each operation."""
        several = self.read is not None or self.update is not None
        if not several and self.url is None:
            yield Problem(("url",), "missing, wanted url, or read and update")
        for name, field in sorted(Endpoint.model_fields.items()):
            if name not in Request.model_fields or not several:
                continue
            if getattr(self, name) != field.get_default(call_default_factory=True):
                yield Problem((name,), "found beside read or update, wanted it in each of them")

    def misfits(self, mix: Iterable[str]) -> Iterator[Problem]:
        """Yield what does not fit the operations of a stream."""
        for operation in sorted(mix):
            if operation not in ("read", "update"):
                text = f"found {operation}, wanted read and update: these are asked by http"
                yield Problem(("mix",), text)
                continue
            request = self.requests.get(operation)
            if request is None and self.requests:
                yield Problem(("http", operation), f"missing, the mix has {operation}")
            if request is not None and operation == "update" and request.method in _SAFE:
                place = ("http", "method") if self.url else ("http", "update", "method")
                text = f"found {request.method} for an update, wanted POST, PUT, PATCH or DELETE"
                yield Problem(place, text)

    def to_spec(self) -> dict[str, Any]:
        """Return the part of the generator's specification, with the secrets."""
        return {
            "requests": {name: _sent(request) for name, request in self.requests.items()},
            "keep_alive": self.keep_alive,
        }


def _sent(request: Request) -> dict[str, Any]:
    headers = {
        name: value if isinstance(value, str) else value.get_secret_value()
        for name, value in request.headers.items()
    }
    return {
        "method": request.method,
        "url": request.url,
        "headers": headers,
        "body": request.body,
        "success": {"status": request.success.ranges(), "body": request.success.body},
    }
