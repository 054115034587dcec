"""Where a cluster's runs are watched from: Prometheus, Grafana, exporters, a Pushgateway.

    observe:
      listen: 0.0.0.0:9464
      prometheus: {url: https://prometheus.example.com, token: {env: PROMETHEUS_TOKEN}}
      grafana: {url: https://grafana.example.com, token: {file: secrets/grafana.txt}}
      exporters:
        - {job: stone, targets: [db1.example.com:9216]}

`docs/dashboards.md` explains every setting.
"""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from brownout.base.secret import Secret
from brownout.base.settings import Address, LocalFile, Name, Settings

__all__ = ["Endpoint", "Exporter", "Grafana", "ObserveSpec"]

_FORM = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?(/[\w./~-]*)?")


def _is_url(url: str) -> str:
    """A user or a query could be a secret, so neither may stand there."""
    if not _FORM.fullmatch(url) or not 0 < (urlsplit(url).port or 443) < 65536:
        raise ValueError("wanted http(s)://host[:port][/path] without a user, as in the documents")
    return url.rstrip("/")


def _is_listening(value: str) -> str:
    host, colon, port = value.rpartition(":")
    if value and not (colon and host and port.isdigit() and int(port) < 65536):
        raise ValueError("wanted host:port (port 0: a free one), or an empty text for none")
    return value


class Endpoint(Settings):
    """A server that is reached over HTTP, and how to log in to it."""

    url: Annotated[str, AfterValidator(_is_url)]
    token: Annotated[Secret | None, Field(description="sent as a bearer token")] = None
    username: str = ""
    password: Secret | None = None
    ca_file: Annotated[
        LocalFile | None, Field(description="authorities to trust instead of the public ones")
    ] = None
    timeout_s: Annotated[float, Field(gt=0, le=60, description="for one answer")] = 5.0

    @model_validator(mode="after")
    def _has_one_login(self) -> "Endpoint":
        if bool(self.username) != (self.password is not None):
            raise ValueError("wanted username and password together, or neither")
        if self.token is not None and self.username:
            raise ValueError("found a token and a username, wanted one way to log in")
        return self


class Grafana(Settings):
    """A Grafana that gets an annotation for each event of a run."""

    url: Annotated[str, AfterValidator(_is_url)]
    token: Annotated[Secret, Field(description="of a service account that may write annotations")]
    ca_file: Annotated[
        LocalFile | None, Field(description="authorities to trust instead of the public ones")
    ] = None
    timeout_s: Annotated[float, Field(gt=0, le=60, description="for one answer")] = 5.0


class Exporter(Settings):
    """What shows the database's own figures, for `brownout observe up` to scrape."""

    job: Annotated[
        Name, Field(description="as the dashboards know it: the database's name, or node")
    ]
    targets: Annotated[tuple[Address, ...], Field(min_length=1)]


class ObserveSpec(Settings):
    """How the runs on one cluster are watched. All of it may be left out."""

    listen: Annotated[
        str,
        AfterValidator(_is_listening),
        Field(description="where a run shows its metrics; port 0 is a free one, empty is nowhere"),
    ] = "127.0.0.1:0"
    prometheus: Annotated[Endpoint | None, Field(description="asked by the Prometheus probes")] = (
        None
    )
    pushgateway: Annotated[
        Endpoint | None, Field(description="gets a run's last metrics when it is judged")
    ] = None
    grafana: Grafana | None = None
    exporters: tuple[Exporter, ...] = ()
